/**
 * Relation of a person to a change that this person decided about. A maintainer may write to the repository and did not open the change; where
 * every account may dismiss findings, no person counts as one. Pure.
 */
import { Schema } from "effect"
import { hasUsername } from "./Change.ts"
import type { Person } from "./Change.ts"

export const DecidedBy = Schema.Literals(["maintainer", "author", "other"])
export type DecidedBy = typeof DecidedBy.Type

/** Returns the relation of a person who had the permission to dismiss a finding. `dismissal`: `review.dismissal`. */
export const relationToChange = (
  dismissal: "maintainers" | "anyone",
  author: Person | undefined,
  username: string | undefined
): DecidedBy => {
  if (dismissal === "maintainers") return "maintainer"
  return username !== undefined && hasUsername(author, username) ? "author" : "other"
}
