/**
 * Decides whether a valid document may replace the current one: an empty one, or one that would remove every trigger, is more likely
 * truncated than intended. `allow_empty: true` confirms it. Pure.
 */
import type { ConfigIssue } from "./ConfigIssue.ts"
import type { RefusalReason } from "./ConfigStore.ts"
import type { Snapshot } from "./Snapshot.ts"
import type { Reading } from "./Snapshots.ts"

export type Judged =
  | { readonly _tag: "Accepted"; readonly snapshot: Snapshot }
  | { readonly _tag: "Refused"; readonly reason: RefusalReason; readonly issues: ReadonlyArray<ConfigIssue> }

const orMeant = "restore its content, or write allow_empty: true at the top level if this is meant"

export const isEmpty = ({ given }: Pick<Snapshot, "given">): boolean => Object.keys(given).length === 0

/** Returns the error of an empty document, whether it allows itself to be empty or not. */
export const emptyProblems = (snapshot: Snapshot): ReadonlyArray<ConfigIssue> =>
  isEmpty(snapshot)
    ? [
        {
          severity: "error",
          path: "",
          message: "the document is empty; begin with config.example.yaml, or write allow_empty: true at the top level"
        }
      ]
    : []

/** Judges a document. `inForce` is undefined at start. */
export const judge = (reading: Reading, file: string, inForce: Snapshot | undefined): Judged => {
  const { snapshot, issues } = reading
  const refused = (reason: RefusalReason, message: string): Judged => ({
    _tag: "Refused",
    reason,
    issues: [{ severity: "error", path: "", message, file }]
  })
  if (snapshot === undefined) {
    const errors = issues.filter(({ severity }) => severity === "error")
    return { _tag: "Refused", reason: reading.unreadable === true ? "unreadable" : "invalid", issues: errors }
  }
  if (snapshot.document.allow_empty) return { _tag: "Accepted", snapshot }
  if (isEmpty(snapshot)) {
    return inForce === undefined
      ? refused(
          "empty",
          "the document is empty, so nothing would be reviewed; begin with config.example.yaml, or write allow_empty: true at the top level"
        )
      : refused("empty", `the document is empty; ${orMeant}`)
  }
  const before = inForce?.triggers.size ?? 0
  if (before > 0 && snapshot.triggers.size === 0) {
    const all = before === 1 ? "the one trigger" : `all ${before} triggers`
    return refused("no_triggers", `the document has no triggers and would remove ${all} in force; ${orMeant}`)
  }
  return { _tag: "Accepted", snapshot }
}
