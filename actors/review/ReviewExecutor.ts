/**
 * Runs the reviews of a node, and its replies to comments, which have slots of their own. Each takes a slot (ReviewSlots.ts) and a ticket, claims the entry it names, and renews the lease. A lost
 * lease ends the review immediately, and the fencing token rejects its later writes. A cancelled review is interrupted with everything it
 * started, and its entry ends as cancelled. ReviewRun.ts implements the review; this file decides when it runs and how its entry ends.
 *
 * A drained node (NodeDrain.ts) finishes running reviews and takes no more tickets.
 *
 * On stop the node takes no more tickets. Running reviews get `grace` to finish; then they are interrupted and their leases released, which
 * costs the entry no attempt.
 */
import {
  Cause,
  Clock,
  DateTime,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Metric,
  Random,
  Scope,
  Semaphore
} from "effect"
import type { Latch } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { isReply } from "../../src/domain/Entry.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import { withEventSpan } from "../../src/domain/EventTrace.ts"
import { NodeIdentity } from "../../src/domain/NodeIdentity.ts"
import * as Metrics from "../../src/observability/Metrics.ts"
import { backoffMillis } from "../../src/domain/Backoff.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { Cancellations } from "../../src/queue/dispatch/Cancellations.ts"
import { Queue } from "../../src/queue/Queue.ts"
import type { Finish, Lease } from "../../src/queue/Queue.ts"
import { Tickets, workKinds } from "../../src/queue/dispatch/Tickets.ts"
import type { TakenTicket, WorkKind } from "../../src/queue/dispatch/Tickets.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { EntryClaims } from "./ClaimEntry.ts"
import { followStream } from "../scheduling/FollowBatch.ts"
import { watchDrain } from "./NodeDrain.ts"
import { replyEntry } from "../conversation/ReplyRun.ts"
import { reviewEntry } from "./ReviewRun.ts"
import { makeSlots, once } from "./ReviewSlots.ts"
import type { ReviewSlots } from "./ReviewSlots.ts"
import { eventOutcome } from "./RunOutcome.ts"
import type { RunOutcome } from "./RunOutcome.ts"
import { WorkspaceScheduler } from "../scheduling/WorkspaceScheduler.ts"

/** Time that running reviews get to finish when the process stops. The whole stop takes less than 15 seconds. */
const grace = Duration.seconds(8)
const finishAgainAfter = 1000

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* ConfigStore
    const { queue } = config.current().document
    const slots = yield* makeSlots(queue)
    const total = slots.review.total + slots.reply.total
    const stopping = yield* Deferred.make<void>()
    const running = yield* Semaphore.make(total)
    const open = yield* watchDrain
    const claims = new EntryClaims((yield* NodeIdentity).owner)
    const workers = yield* Effect.forEach(
      workKinds.flatMap((kind) => Array.from({ length: slots[kind].total }, () => kind)),
      (kind) => Effect.forkScoped(workRepeatedly(kind, slots[kind], stopping, running, open, claims))
    )
    // The scope would interrupt one review after the other, and each takes time to clean up.
    yield* Effect.addFinalizer(() =>
      Deferred.succeed(stopping, undefined).pipe(
        Effect.andThen(running.withPermits(total)(Effect.void)),
        Effect.timeoutOption(grace),
        Effect.andThen(Fiber.interruptAll(workers))
      )
    )
    yield* Effect.logInfo("executor ready", { slots: queue.workers.concurrency, replies: queue.workers.replies })
  })
)

/** Takes tickets until the node stops. Holds a permit of `running` while a review runs. */
const workRepeatedly = Effect.fnUntraced(function* (
  kind: WorkKind,
  slots: ReviewSlots,
  stopping: Deferred.Deferred<void>,
  running: Semaphore.Semaphore,
  open: Latch.Latch,
  claims: EntryClaims
) {
  const tickets = yield* Tickets
  const take: Effect.Effect<TakenTicket> = Effect.gen(function* () {
    while (true) {
      yield* open.await
      const ticket = yield* tickets.take(kind)
      if (open.isOpen()) return ticket
      yield* ticket.again
    }
  })
  const next = Effect.raceFirst(take, Effect.as(Deferred.await(stopping), undefined))
  const free = Effect.raceFirst(slots.take, Effect.as(Deferred.await(stopping), undefined))
  // Between claiming an entry and releasing its lease only the review itself can be interrupted.
  yield* Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      while (true) {
        const leaveSlot = yield* restore(free)
        if (leaveSlot === undefined) return
        const ticket = yield* restore(next).pipe(Effect.onInterrupt(() => leaveSlot))
        if (ticket === undefined) return
        yield* running
          .withPermits(1)(work(ticket, claims, leaveSlot, restore))
          .pipe(
            Effect.catchCause((cause) =>
              Effect.logError(
                "outcome of a queue entry not recorded, it is retried when its lease expires",
                { entry_id: ticket.entryId },
                cause
              )
            ),
            Effect.ensuring(leaveSlot)
          )
      }
    })
  )
})

/** Records that the review waits for its model, then leaves its slot. Unless that is recorded, it counts for all limits. */
const awaitModel = (
  queue: Queue["Service"],
  entry: Entry,
  lease: Lease,
  leaveSlot: Effect.Effect<unknown, unknown>
): Effect.Effect<void> =>
  queue.awaitModel(lease).pipe(
    Effect.flatMap((isHeld) => (isHeld ? Effect.ignore(leaveSlot) : Effect.void)),
    Effect.catch(({ message }) =>
      Effect.logWarning("state of a review that waits for its model not recorded, it keeps its slot", {
        entry_id: entry.id,
        error: message
      })
    )
  )

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Returns undefined if this node has nothing to do for the ticket. */
const claimTicket = Effect.fnUntraced(function* (
  ticket: TakenTicket,
  claims: EntryClaims,
  ttl: number,
  restore: Restore
) {
  const claim = yield* Effect.result(claims.claim(ticket.entryId, ttl))
  if (claim._tag === "Success") {
    if (claim.success === undefined) yield* ticket.claimed
    return claim.success
  }
  yield* restore(claims.releaseUnconfirmed(ticket.entryId, ttl, claim.failure))
  yield* (yield* WorkspaceScheduler.client)(ticket.workspace).Wake(undefined, { discard: true })
  return undefined
})

/** A reply keeps its slot until it ends; a review leaves it when it waits for its model. */
const executeEntry = Effect.fnUntraced(function* (
  entry: Entry,
  lease: Lease,
  cancelled: Deferred.Deferred<Reason>,
  awaitingModel: Effect.Effect<void>
) {
  if (isReply(entry)) return yield* replyEntry(entry, lease, cancelled)
  return yield* reviewEntry(entry, lease, cancelled, once(awaitingModel))
})

const work = Effect.fnUntraced(function* (
  ticket: TakenTicket,
  claims: EntryClaims,
  leaveSlot: Effect.Effect<void>,
  restore: Restore
) {
  const config = yield* ConfigStore
  const queue = yield* Queue
  const receipts = yield* Receipts
  const schedulerOf = yield* WorkspaceScheduler.client

  const ttl = config.current().document.queue.sqlite.lock_ttl_seconds * 1000
  // Registered before claiming, so that no request to cancel is missed.
  const cancelled = yield* (yield* Cancellations).listen(ticket.entryId)
  const claimed = yield* claimTicket(ticket, claims, ttl, restore)
  if (claimed === undefined) return
  // The entry is claimed, so the review does not wait for the acknowledgement of the ticket.
  yield* Effect.forkScoped(ticket.claimed)
  const { entry, lease } = claimed

  const wake = schedulerOf(entry.workspace).Wake(undefined, { discard: true })
  const awaitingModel = awaitModel(queue, entry, lease, Effect.andThen(leaveSlot, wake)).pipe(
    Effect.forkIn(yield* Scope.Scope),
    Effect.asVoid
  )
  const executing = executeEntry(entry, lease, cancelled, awaitingModel)
  const exit = yield* restore(Effect.raceFirst(executing, keepLease(lease, ttl, cancelled))).pipe(
    Effect.annotateLogs({
      workspace: entry.workspace,
      target: entry.targetKey,
      entry_id: entry.id,
      event_id: entry.events
    }),
    withEventSpan("review", entry.events, { workspace: entry.workspace, entry: entry.id }),
    Effect.exit
  )
  const now = yield* Clock.currentTimeMillis
  const outcome: RunOutcome | "lease-lost" = Exit.isSuccess(exit)
    ? exit.value
    : Cause.hasInterruptsOnly(exit.cause)
      ? { _tag: "Released" }
      : { _tag: "Failed", runId: undefined, reason: internal(exit.cause), retryable: false }
  if (outcome === "lease-lost") {
    yield* Metric.update(Metrics.leaseLosses, 1)
    yield* Effect.logWarning("lease lost, another executor continues the review", { entry_id: entry.id })
    return
  }
  const { retry } = (yield* config.pinned(entry.configHash)).document.queue
  const finish = finishOf(
    outcome,
    entry,
    retry.attempts,
    now + backoffMillis(retry.backoff, entry.attempts + 1, yield* Random.next)
  )
  yield* logUnfinished(entry, outcome, finish, retry.attempts)
  const end = queue.finish(lease, finish)
  // While the queue is unavailable this retries for as long as the lease may last; then the entry may have another owner. A stop does not
  // wait.
  const later = Effect.sleep(finishAgainAfter).pipe(
    Effect.andThen(end),
    Effect.retry({ times: Math.ceil(ttl / finishAgainAfter) }),
    restore
  )
  const isEnded = yield* Effect.catch(end, () => later)
  const settle = Effect.gen(function* () {
    // Deliveries of the same head may have joined while the review ran, and it may have been cancelled.
    const over = (yield* queue.get(entry.id)) ?? entry
    const settled = settlementOf(outcome, over)
    const unsettled = over.events.filter((id) => !isSettled(outcome, id))
    if (settled !== undefined) yield* receipts.settle(unsettled, settled, now)
    if (settled !== undefined && over.change.target.kind === "push") yield* followStream(over.targetKey)
    const ended = finish._tag === "Retry" && finish.counted ? "retried" : attemptOutcome[outcome._tag]
    yield* Metric.update(Metric.withAttributes(Metrics.runAttempts, { outcome: ended }), 1)
  })
  // The next review does not wait for these records.
  yield* Effect.all([wake, isEnded ? settle : Effect.void], { concurrency: "unbounded", discard: true })
}, Effect.scoped)

const internal = (cause: Cause.Cause<unknown>): Reason => ({ _tag: "InternalError", cause: Cause.pretty(cause) })

/** Milliseconds of a process freeze after which the lease may be lost and is renewed immediately. */
const sleptMillis = 5000

/** Runs until the lease is lost. Renews after a third of the lease time, so that two renewals may fail before it ends. */
export const keepLease = Effect.fnUntraced(function* (lease: Lease, ttl: number, cancelled: Deferred.Deferred<Reason>) {
  const queue = yield* Queue
  let until = (yield* Clock.currentTimeMillis) + ttl
  let now = until - ttl
  let renewAt = now + ttl / 3
  while (true) {
    const step = Math.min(1000, ttl / 3)
    yield* Effect.sleep(step)
    const before = now
    now = yield* Clock.currentTimeMillis
    if (now < renewAt && now - before < step + sleptMillis) continue
    renewAt = now + ttl / 3
    const renewed = yield* Effect.result(queue.renew(lease, now + ttl))
    if (renewed._tag === "Failure") {
      if (now >= until) return "lease-lost" as const
      continue
    }
    if (renewed.success._tag === "Lost") return "lease-lost" as const
    if (renewed.success._tag === "Cancelled") yield* Deferred.succeed(cancelled, renewed.success.reason)
    until = now + ttl
  }
})

/** Outcomes of attempts in metrics. */
const attemptOutcome = {
  Reviewed: "reviewed",
  Skipped: "skipped",
  Failed: "failed",
  Waiting: "waiting",
  Cancelled: "cancelled",
  Released: "released"
} as const satisfies Record<RunOutcome["_tag"], string>

const finishOf = (outcome: RunOutcome, entry: Entry, attempts: number, retryAt: number): Finish => {
  switch (outcome._tag) {
    case "Reviewed":
      return { _tag: "Done" }
    case "Skipped":
      return { _tag: "Done", reason: outcome.reason }
    case "Cancelled":
      return { _tag: "Cancelled", reason: outcome.reason }
    case "Released":
      return { _tag: "Retry", dueAt: 0, reason: { _tag: "NodeStopped" }, counted: false }
    case "Waiting":
      return {
        _tag: "Retry",
        dueAt: outcome.until,
        reason: outcome.reason,
        counted: false,
        priority: outcome.priority
      }
    case "Failed":
      return outcome.retryable && entry.attempts + 1 < attempts
        ? {
            _tag: "Retry",
            dueAt: Math.max(retryAt, outcome.notBefore ?? 0),
            reason: outcome.reason,
            counted: true
          }
        : { _tag: "Dead", reason: outcome.reason }
  }
}

/** Logs a failed or interrupted attempt with what follows. The end of a run is logged with the run (RunLog.ts). */
const logUnfinished = (entry: Entry, outcome: RunOutcome, finish: Finish, attempts: number) => {
  const about = { workspace: entry.workspace, target: entry.targetKey, entry_id: entry.id, event_id: entry.events }
  if (outcome._tag === "Released")
    return Effect.logWarning("review interrupted by the stop of the node, another attempt continues it", about)
  if (outcome._tag !== "Failed") return Effect.void
  const fields = { ...about, attempt: entry.attempts + 1, attempts, reason: outcome.reason }
  if (finish._tag !== "Retry")
    return outcome.runId === undefined ? Effect.logError("review failed before its run started", fields) : Effect.void
  return Effect.logWarning("review attempt failed, retry scheduled", {
    ...fields,
    ...(outcome.runId === undefined ? {} : { run_id: outcome.runId }),
    retry_at: DateTime.formatIso(DateTime.makeUnsafe(finish.dueAt))
  })
}

/** Returns whether the outcome of a delivery was recorded together with the analysis. */
const isSettled = (outcome: RunOutcome, eventId: string): boolean =>
  (outcome._tag === "Reviewed" || outcome._tag === "Skipped") && outcome.settled?.includes(eventId) === true

/** Returns the outcome for the receipts of an entry, or undefined while the entry has not ended. */
const settlementOf = (outcome: RunOutcome, ended: Entry) => {
  if (ended.status === "cancelled") return { outcome: "cancelled", reason: ended.reason } as const
  if (ended.status === "waiting" || ended.status === "ready" || ended.status === "superseded") return undefined
  switch (outcome._tag) {
    case "Reviewed":
    case "Skipped":
    case "Failed":
      return eventOutcome(outcome)
    case "Cancelled":
    case "Released":
    case "Waiting":
      return undefined
  }
}
