import type { Reason } from "../domain/Reason.ts"
import { inEnglish } from "../text/en.ts"

/** An error or a warning about a configuration document: its location, what is wrong, and the next step. */
export interface ConfigIssue {
  readonly severity: "error" | "warning"
  /** Path in the document as the user wrote it, e.g. `triggers[0].webhook_secret_env`. */
  readonly path: string
  readonly reason: Reason
  readonly file?: string | undefined
  /** 1-based position in the file. */
  readonly line?: number | undefined
  readonly column?: number | undefined
}

/** Returns the reason of an issue with its place: `file:line:column path:`, without missing parts. */
export const placedReason = ({ column, file, line, path, reason }: ConfigIssue): Reason => {
  const at = [file, line, column].filter((part) => part !== undefined).join(":")
  const where = [at, path].filter((part) => part !== "").join(" ")
  if (where === "") return reason
  return { _tag: "PlacedProblem", place: path === "" && line !== undefined ? where : `${where}:`, reason }
}

/** Formats an issue as `file:line:column path: text`, without missing parts. */
export const formatIssue = (issue: ConfigIssue): string => inEnglish(placedReason(issue))
