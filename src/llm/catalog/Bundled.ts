/**
 * The snapshot that comes with the program (`bundled.json`, in the form of the catalog document): well-known models, for the time
 * before the first fetch and for installations without a network. Prices and limits of October 2025. Read on first use.
 */
import { parseEntries } from "./CatalogSource.ts"

let models: Promise<ReadonlyMap<string, string>> | undefined

const load = async (): Promise<ReadonlyMap<string, string>> => {
  const { default: document } = await import("./bundled.json", { with: { type: "json" } })
  return new Map(Array.from(parseEntries(document) ?? [], ({ id, record }) => [id, record]))
}

/** Returns the JSON of the first of these models in the snapshot. */
export const findBundled = async (ids: ReadonlyArray<string>): Promise<string | undefined> => {
  models ??= load()
  const known = await models
  return ids.map((id) => known.get(id)).find((record) => record !== undefined)
}
