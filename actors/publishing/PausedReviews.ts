/**
 * Executes `pause` and `resume`. While a change is paused its automatic reviews are skipped with the reason; a person may request one all the
 * same. The pause is on record, so that it applies on every node and after a restart. After `resume` the newest head is queued: a head that was
 * reviewed is not reviewed again.
 */
import { Clock, Effect } from "effect"
import { pullRequestDue } from "../../src/admission/Windows.ts"
import { targetKey } from "../../src/domain/Change.ts"
import { Runs } from "../../src/store/Runs.ts"
import { executed } from "./CommandedChange.ts"
import type { CommandedChange } from "./CommandedChange.ts"
import { queueHead } from "./QueueHead.ts"

export const pauseReviews = Effect.fnUntraced(function* ({ change, person }: CommandedChange) {
  yield* (yield* Runs).pause(targetKey(change), person, yield* Clock.currentTimeMillis)
  return executed({ _tag: "ReviewsPaused" })
})

export const resumeReviews = Effect.fnUntraced(function* (
  { change, client, eventId, number, workspace }: CommandedChange,
  configHash: string
) {
  yield* (yield* Runs).resume(targetKey(change))
  const { head, state } = yield* client.pull(change.repo, number)
  if (state === "open") {
    const now = yield* Clock.currentTimeMillis
    const { requestedBy: _person, baseRef: _base, ...automatic } = change
    yield* queueHead({
      eventId: `resume:${eventId}`,
      change: { ...automatic, head },
      configHash,
      workspace: workspace.id,
      now,
      dueAt: pullRequestDue(workspace.review, now)
    })
  }
  return executed({ _tag: "ReviewsResumed" })
})
