import { Schema } from "effect"
import { Reason } from "../domain/Reason.ts"
import { inEnglish } from "../text/en.ts"

/** An error or a warning about a configuration document: its location, what is wrong, and the next step. */
export const ConfigIssue = Schema.Struct({
  severity: Schema.Literals(["error", "warning"]),
  /** Path in the document as the user wrote it, e.g. `triggers[0].webhook_secret_env`. */
  path: Schema.String,
  reason: Reason,
  file: Schema.optional(Schema.String),
  /** 1-based position in the file. */
  line: Schema.optional(Schema.Int),
  column: Schema.optional(Schema.Int)
})
export type ConfigIssue = typeof ConfigIssue.Type

/** Returns the reason of an issue with its place: `file:line:column path:`, without missing parts. */
export const placedReason = ({ column, file, line, path, reason }: ConfigIssue): Reason => {
  const at = [file, line, column].filter((part) => part !== undefined).join(":")
  const where = [at, path].filter((part) => part !== "").join(" ")
  if (where === "") return reason
  return { _tag: "PlacedProblem", place: path === "" && line !== undefined ? where : `${where}:`, reason }
}

/** Formats an issue as `file:line:column path: text`, without missing parts. */
export const formatIssue = (issue: ConfigIssue): string => inEnglish(placedReason(issue))
