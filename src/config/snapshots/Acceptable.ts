/**
 * Decides whether a valid document may replace the current one: an empty one, or one that would remove every trigger, is more likely
 * truncated than intended. `allow_empty: true` confirms it. Pure.
 */
import type { ConfigIssue } from "../ConfigIssue.ts"
import type { RefusalReason } from "../ConfigStore.ts"
import type { Snapshot } from "../Snapshot.ts"
import type { Reading } from "./Snapshots.ts"
import type { Reason } from "../../domain/Reason.ts"

export type Judged =
  | { readonly _tag: "Accepted"; readonly snapshot: Snapshot }
  | { readonly _tag: "Refused"; readonly reason: RefusalReason; readonly issues: ReadonlyArray<ConfigIssue> }

export const isEmpty = ({ given }: Pick<Snapshot, "given">): boolean => Object.keys(given).length === 0

/** Returns the error of an empty document, whether it allows itself to be empty or not. */
export const emptyProblems = (snapshot: Snapshot): ReadonlyArray<ConfigIssue> =>
  isEmpty(snapshot)
    ? [
        {
          severity: "error",
          path: "",
          reason: { _tag: "DocumentEmpty" }
        }
      ]
    : []

/** Judges a document. `inForce` is undefined at start. */
export const judge = (reading: Reading, file: string, inForce: Snapshot | undefined): Judged => {
  const { snapshot, issues } = reading
  const refused = (code: RefusalReason, reason: Reason): Judged => ({
    _tag: "Refused",
    reason: code,
    issues: [{ severity: "error", path: "", reason, file }]
  })
  if (snapshot === undefined) {
    const errors = issues.filter(({ severity }) => severity === "error")
    return { _tag: "Refused", reason: reading.unreadable === true ? "unreadable" : "invalid", issues: errors }
  }
  if (snapshot.document.allow_empty) return { _tag: "Accepted", snapshot }
  if (isEmpty(snapshot)) {
    return refused("empty", { _tag: inForce === undefined ? "EmptyAtStart" : "EmptyInForce" })
  }
  const before = inForce?.triggers.size ?? 0
  if (before > 0 && snapshot.triggers.size === 0) {
    return refused("no_triggers", { _tag: "NoTriggersLeft", count: before })
  }
  return { _tag: "Accepted", snapshot }
}
