/** Queues the newest head of a pull request, which joins the entry that its webhook created. */
import { Effect } from "effect"
import type { Change } from "../../src/domain/Change.ts"
import { Priority } from "../../src/domain/Entry.ts"
import { enqueue } from "../../src/queue/Enqueue.ts"
import { WorkspaceScheduler } from "../scheduling/WorkspaceScheduler.ts"

interface QueuedHead {
  readonly eventId: string
  readonly change: Change
  readonly configHash: string
  /** Workspace whose scheduler is woken. */
  readonly workspace: string
  readonly now: number
  readonly dueAt: number
}

/** Returns how the queue admitted it. */
export const queueHead = Effect.fnUntraced(function* ({ workspace, ...queued }: QueuedHead) {
  const { change, configHash, dueAt, eventId, now } = queued
  const reason = dueAt > now ? ({ _tag: "AwaitsSchedule" } as const) : undefined
  const [admitted] = yield* enqueue([
    { eventId, change, configHash, priority: Priority.pullRequest, admittedAt: now, dueAt, reason }
  ])
  const schedulerOf = yield* WorkspaceScheduler.client
  yield* schedulerOf(workspace).Wake(undefined, { discard: true })
  return admitted
})
