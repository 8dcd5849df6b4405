/** Cancels the entry of a run or of a batch on behalf of an administrator. */
import { Effect } from "effect"
import { Operations } from "../../queue/operator/Operations.ts"
import { conflict } from "../api/Problems.ts"
import { CurrentUser } from "../api/Rules.ts"

/** `id` is that of the run or batch in the response. */
export const cancelReview = Effect.fnUntraced(function* (entryId: string, id: string) {
  const { username } = yield* CurrentUser
  const result = yield* (yield* Operations).cancel(entryId, { _tag: "CancelledBy", name: username })
  return result === "cancelled" || result === "stopping"
    ? { id, status: result }
    : yield* conflict("already_ended", { _tag: "EndedAlready" })
})
