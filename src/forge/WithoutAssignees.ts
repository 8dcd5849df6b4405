/** Hosts refuse a whole issue for one assignee they do not take; an issue without assignees is better than none. */
import { Effect } from "effect"
import type { ForgeError, NewIssue } from "./Forge.ts"

export const orWithoutAssignees = <A, R>(
  issue: NewIssue,
  create: (issue: NewIssue) => Effect.Effect<A, ForgeError, R>
): Effect.Effect<A, ForgeError, R> =>
  Effect.catchIf(
    create(issue),
    (error) => error.reason === "invalid" && issue.assignees.length > 0,
    () => create({ ...issue, assignees: [] })
  )
