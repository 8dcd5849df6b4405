/** Ends runs whose process died, and verdicts that are late, and sets a final status on commits whose review ended without a result. */
import { Effect, Metric } from "effect"
import { isTerminal } from "../../src/domain/Entry.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import { afterEveryLease } from "../../src/domain/FencingToken.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { expiredVerdict, lateVerdict } from "../../src/domain/HeadVerdict.ts"
import type { RunVerdict } from "../../src/domain/HeadVerdict.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { RunStatus } from "../../src/domain/Run.ts"
import { lateVerdicts } from "../../src/observability/Metrics.ts"
import { statusEnd, statusLate } from "../../src/outputs/StatusEnd.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import { logEnded, withStory } from "../review/RunLog.ts"
import { each, page } from "./SweepStep.ts"

/** Runs after a lost one among which the next attempt of its entry is searched. */
const attempts = 20

/** Ends runs whose process died and whose entry the queue no longer has. Another run replaces them. Those of other entries are in time, or named. */
export const abandon = Effect.fnUntraced(function* (now: number) {
  const queue = yield* Queue
  const runs = yield* Runs
  const abandonOne = Effect.fnUntraced(function* (run: Run) {
    const entry = yield* queue.get(run.entryId)
    if (entry !== undefined && !isTerminal(entry.status)) return yield* endPending(run, entry, now)
    const following = yield* runs.list({
      targetKey: run.targetKey,
      after: run.id,
      oldestFirst: true,
      limit: attempts
    })
    const [to, reason, verdict] = abandonedAs(run, entry, following)
    if (yield* runs.move(run.id, afterEveryLease, to, now, reason, verdict))
      yield* withStory(logEnded(run, to, reason), run)
  })
  const statuses = ["queued", "preparing", "analyzing"] as const
  yield* each(yield* runs.list({ statuses, limit: statuses.length * page }), ({ id }) => ({ run_id: id }), abandonOne)
})

/**
 * Ends a verdict that is pending for longer than `review.verdict_timeout` since the review began, or since its change was queued, so that a
 * required status does not wait without an end. The verdict of the review takes the place of this one.
 */
const endPending = Effect.fnUntraced(function* (run: Run, { admittedAt }: Entry, now: number) {
  const { configHash, id, startedAt = admittedAt, verdict, workspace } = run
  if (verdict?.state !== "pending") return
  const snapshot = yield* (yield* ConfigStore).pinned(configHash)
  const minutes = snapshot.workspaces.get(workspace)?.review.verdict_timeout ?? 0
  if (minutes === 0 || now - startedAt < minutes * 60_000) return
  const late = lateVerdict(verdict, minutes)
  const shown = statusLate(run, yield* (yield* Outbox).ofRun(id), late)
  if (shown === undefined || !(yield* (yield* Runs).replacePending(id, verdict, late, shown, now))) return
  yield* Metric.update(lateVerdicts, 1)
  yield* withStory(Effect.logWarning("verdict is late, the review follows", { run_id: id, minutes }), run)
})

/** Returns the final status of a run whose entry ended while the run waited or was in progress, its reason, and a verdict of its own. */
const abandonedAs = (
  run: Run,
  entry: Entry | undefined,
  following: ReadonlyArray<Run>
): readonly [RunStatus, Reason | undefined, RunVerdict | undefined] => {
  // A later attempt of the entry reviewed the head that the host had by then.
  if (entry?.status === "done" && following.some(({ entryId, head }) => entryId === entry.id && head !== run.head))
    return ["skipped", { _tag: "SupersededRun" }, undefined]
  switch (entry?.status) {
    case "cancelled":
      return ["cancelled", entry.reason, undefined]
    case "superseded":
      return ["skipped", { _tag: "SupersededRun" }, undefined]
    case "expired":
      return ["skipped", entry.reason, expiredVerdict(run.verdict)]
    default:
      return ["failed", { _tag: "ProcessLost" }, undefined]
  }
}

/** Sets a final status on commits whose review started and ended without a result, because its process may have died before that. */
export const endStatuses = Effect.fnUntraced(function* (now: number, endedSince: number) {
  const runs = yield* Runs
  const outbox = yield* Outbox
  const endOne = Effect.fnUntraced(function* (run: Run) {
    if (run.finishedAt === undefined || run.finishedAt < endedSince) return
    const [newest] = yield* runs.list({ targetKey: run.targetKey, limit: 1 })
    const row = statusEnd(run, yield* outbox.ofRun(run.id), newest)
    if (row !== undefined) yield* outbox.add([row], now)
  })
  const statuses = ["failed", "timeout", "cancelled", "skipped"] as const
  const ended = yield* runs.list({ statuses, limit: statuses.length * page, limitOfEach: page })
  yield* each(ended, ({ id }) => ({ run_id: id }), endOne)
})
