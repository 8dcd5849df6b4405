/**
 * The snapshot that comes with the program (`bundled.json`, in the form of the catalog document): well-known models, for the time
 * before the first fetch and for installations without a network. Read when it is first needed.
 */
import { entriesOf } from "./CatalogSource.ts"

/** What the prices and limits of the snapshot are those of. */
export const bundledAsOf = "2025-10"

let models: Promise<ReadonlyMap<string, string>> | undefined

const load = async (): Promise<ReadonlyMap<string, string>> => {
  const { default: document } = await import("./bundled.json", { with: { type: "json" } })
  return new Map(Array.from(entriesOf(document) ?? [], ({ id, record }) => [id, record]))
}

/** JSON of the first of these models that the snapshot has. */
export const findBundled = async (ids: ReadonlyArray<string>): Promise<string | undefined> => {
  models ??= load()
  const known = await models
  return ids.map((id) => known.get(id)).find((record) => record !== undefined)
}
