/**
 * Executes `pause` and `resume`. While a change is paused its automatic reviews are skipped with the reason; a person may request one all the
 * same. The pause is on record, so that it applies on every node and after a restart. After `resume` the newest head is queued: a head that was
 * reviewed is not reviewed again.
 */
import { Clock, Effect } from "effect"
import { pullRequestDue } from "../../src/admission/Due.ts"
import { targetKey } from "../../src/domain/Change.ts"
import { Priority } from "../../src/domain/Entry.ts"
import { enqueue } from "../../src/queue/Enqueue.ts"
import { Runs } from "../../src/store/Runs.ts"
import { WorkspaceScheduler } from "../scheduling/WorkspaceScheduler.ts"
import { executed } from "./CommandedChange.ts"
import type { CommandedChange } from "./CommandedChange.ts"

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
    const due = pullRequestDue(workspace.review, now)
    const { requestedBy: _person, baseRef: _base, ...automatic } = change
    yield* enqueue([
      {
        eventId: `resume:${eventId}`,
        change: { ...automatic, head },
        configHash,
        priority: Priority.pullRequest,
        admittedAt: now,
        dueAt: due,
        reason: due > now ? { _tag: "AwaitsSchedule" } : undefined
      }
    ])
    const schedulerOf = yield* WorkspaceScheduler.client
    yield* schedulerOf(workspace.id).Wake(undefined, { discard: true })
  }
  return executed({ _tag: "ReviewsResumed" })
})
