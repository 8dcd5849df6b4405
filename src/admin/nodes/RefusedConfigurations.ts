/** Configurations that a node refuses while it works with an earlier one, for the list of nodes. Their messages are in its log: they may quote values. */
import { Option, Schema } from "effect"
import type { ConfigStore } from "../../config/ConfigStore.ts"

export const RefusedConfiguration = Schema.Struct({
  source: Schema.Literals(["file", "revision"]),
  name: Schema.String.annotate({ description: "Path of the file, or number of the revision of the database" }),
  errors: Schema.Int.annotate({ description: "Number of errors" }),
  line: Schema.optionalKey(Schema.Int).annotateKey({ description: "Line of the first error of a file" })
}).annotate({ identifier: "RefusedConfiguration", description: "A configuration that the node refuses" })
export type RefusedConfiguration = typeof RefusedConfiguration.Type

export const listRefused = (
  config: Pick<ConfigStore["Service"], "refused" | "refusedRevision">
): ReadonlyArray<RefusedConfiguration> => {
  const [document, revision] = [config.refused(), config.refusedRevision()]
  const refused: Array<RefusedConfiguration> = []
  if (document !== undefined) {
    const { errors, file, line } = document
    refused.push({ source: "file", name: file, errors, ...(line === undefined ? {} : { line }) })
  }
  if (revision !== undefined)
    refused.push({ source: "revision", name: String(revision.head.number), errors: revision.errors })
  return refused
}

const decode = Schema.decodeUnknownOption(Schema.Array(RefusedConfiguration))

/** Reads what a node published; nothing if it is of another release. */
export const readRefused = (value: unknown): ReadonlyArray<RefusedConfiguration> =>
  Option.getOrElse(decode(value), () => [])
