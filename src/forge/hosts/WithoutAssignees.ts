/** Retries the creation of an issue without assignees: hosts refuse a whole issue because of one invalid assignee. */
import { Effect } from "effect"
import type { NewIssue } from "../Forge.ts"
import type { ForgeError } from "../ForgeError.ts"

export const orWithoutAssignees = <A, R>(
  issue: NewIssue,
  create: (issue: NewIssue) => Effect.Effect<A, ForgeError, R>
): Effect.Effect<A, ForgeError, R> =>
  Effect.catchIf(
    create(issue),
    (error) => error.reason === "invalid" && issue.assignees.length > 0,
    () => create({ ...issue, assignees: [] })
  )
