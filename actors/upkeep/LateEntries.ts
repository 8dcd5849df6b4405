/**
 * Finds pull requests that wait for their review for longer than `review.verdict_timeout` without a status on their head: their publisher sets
 * one, which the next sweep ends as late (AbandonedRuns.ts).
 */
import { Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { setsStatus } from "../../src/outputs/StatusEnd.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { publishers } from "../publishing/ChangePublisher.ts"
import { entryFields } from "./ReclaimLeases.ts"
import { each } from "./SweepStep.ts"

/** `lookBack`: milliseconds for which an entry has been late at most, so that each is found by few sweeps. */
export const noteLate = Effect.fnUntraced(function* (now: number, lookBack: number) {
  const queue = yield* Queue
  const { oldestWaiting = now } = yield* queue.stats
  const { workspaces } = (yield* ConfigStore).current()
  const publisherOf = yield* publishers
  for (const name of yield* queue.workspaces) {
    const workspace = workspaces.get(name)
    const minutes = workspace?.review.verdict_timeout ?? 0
    const latest = now - minutes * 60_000
    if (workspace === undefined || minutes === 0 || oldestWaiting > latest) continue
    const late = (yield* queue.load(name)).filter(
      ({ admittedAt, change, status }) =>
        (status === "waiting" || status === "ready") &&
        admittedAt <= latest &&
        admittedAt > latest - lookBack &&
        setsStatus(workspace, change)
    )
    yield* each(late, entryFields, ({ id, targetKey }) =>
      publisherOf(targetKey).Unreviewed({ entryId: id }, { discard: true })
    )
  }
})
