/**
 * Makes admitted work durable: the receipt first, then the queue entry. Concurrent deliveries are batched: one commit for their receipts,
 * one for their entries. If the queue fails, the receipt stays and recovery queues it, so the delivery counts as accepted; if the receipt
 * fails, nothing was accepted. A workspace whose queue is full takes no receipts for a while, so that the work of recovery is limited too.
 */
import { Clock, Context, Effect } from "effect"
import { haveSameBase, targetKey } from "../domain/Change.ts"
import { admit } from "../queue/AutomaticCommits.ts"
import type { EventDecision } from "../domain/Decision.ts"
import { selectUnreviewed } from "../queue/UnreviewedHeads.ts"
import type { Queue } from "../queue/Queue.ts"
import type { QueueAdmission, QueueAdmitted, QueueError } from "../queue/Queue.ts"
import { isInPush } from "../domain/Batch.ts"
import type { Change } from "../domain/Change.ts"
import type { Reason } from "../domain/Reason.ts"
import { Batches } from "../store/Batches.ts"
import type { PlacedMember } from "../store/Batches.ts"
import { PullBases } from "../store/PullBases.ts"
import type { PullBase } from "../store/PullBases.ts"
import { Receipts } from "../store/Receipts.ts"
import { Runs } from "../store/Runs.ts"
import type { ReviewedChange } from "../store/Runs.ts"
import type { EventRecord, Receipt } from "../store/Receipts.ts"
import type { StoreError } from "../database/StoreError.ts"
import { limitWarning } from "../observability/LimitedWarnings.ts"
import { DeferredNotes } from "./DeferredNotes.ts"
import { MicroBatch } from "./MicroBatch.ts"
import type { StoredFacts } from "./StoredFacts.ts"

/** Time in milliseconds for which a full queue gets no work. */
const fullForMillis = 5000
/** Time in milliseconds for which a store is reported as not ready after a failed write. Deliveries may try it again afterwards. */
const failedForMillis = 15_000

/** Result of storing a delivery. */
type IntakeResult =
  /** Nothing was stored or accepted. */
  | { readonly _tag: "Refused" }
  | Extract<Receipt, { readonly _tag: "Duplicate" }>
  /** Stored, and starts nothing: a run has reviewed its head on the same base, or a batch contains its push. */
  | { readonly _tag: "Reviewed" }
  /** Stored. `queued` is set if the delivery has work; `later`: recovery will queue it. */
  | { readonly _tag: "Stored"; readonly queued?: QueueAdmitted | "later" }

interface Waiting extends Taken {
  readonly done: (taken: IntakeResult) => void
}

/** A delivery to be stored. */
interface Taken {
  readonly record: EventRecord
  /** Absent: it starts nothing, or a command that is not queued. */
  readonly work?: QueueAdmission | undefined
  readonly pull?: PullBase | undefined
  /** Whether its work is dropped if a run has reviewed its head on the same base: its sender may repeat it under another id. */
  readonly once?: boolean
}

interface Work {
  readonly item: QueueAdmission
  /** Decision of the stored record. */
  readonly decision: EventDecision
  readonly done: (taken: IntakeResult) => void
}

const byWorkspace = (works: ReadonlyArray<Work>): ReadonlyArray<ReadonlyArray<Work>> => [
  ...Map.groupBy(works, ({ item }) => item.change.workspace).values()
]

const refused: IntakeResult = { _tag: "Refused" }
const stored: IntakeResult = { _tag: "Stored" }

/** Stores that deliveries are written to. */
export type IntakeStores = Queue | Receipts | Runs | PullBases | Batches

export class Intake {
  readonly #context: Context.Context<IntakeStores>
  readonly #facts: StoredFacts["Service"]
  readonly #notes: DeferredNotes
  readonly #fullUntil = new Map<string, number>()
  readonly #failedUntil = { store: 0, queue: 0 }
  readonly #arrivals = new MicroBatch<Waiting>((waiting) => {
    Effect.runForkWith(this.#context)(this.#takeAll(waiting))
  })

  constructor(context: Context.Context<IntakeStores>, facts: StoredFacts["Service"]) {
    this.#context = context
    this.#facts = facts
    this.#notes = new DeferredNotes(context)
  }

  /** Writes pending notes on stop. */
  get close(): Effect.Effect<void> {
    return this.#notes.flush
  }

  isFull(workspace: string, now: number): boolean {
    const until = this.#fullUntil.get(workspace)
    if (until === undefined) return false
    if (now < until) return true
    this.#fullUntil.delete(workspace)
    return false
  }

  /** Returns whether the last write to the records or to the queue failed recently. Reads may succeed all the same. */
  failed(what: "store" | "queue", now: number): boolean {
    return now < this.#failedUntil[what]
  }

  /** Ends the report of a failed write, after another write succeeded. */
  recovered(what: "store" | "queue"): void {
    this.#failedUntil[what] = 0
  }

  /** Stores the record and the base branch of its pull request, then queues its work, if any. Never rejects. */
  take(taken: Taken): Promise<IntakeResult> {
    return new Promise((done) => {
      this.#arrivals.add({ ...taken, done })
    })
  }

  #takeAll(waiting: ReadonlyArray<Waiting>): Effect.Effect<void> {
    return Effect.flatMap(this.#withoutReviewed(waiting), (remaining) => this.#storeAll(remaining))
  }

  /** Removes the work of deliveries whose head was reviewed. If that cannot be read, the run of their entry finds it. */
  #withoutReviewed(waiting: ReadonlyArray<Waiting>): Effect.Effect<ReadonlyArray<Waiting>> {
    const changes = waiting.flatMap(({ once, work }) => {
      const head = work?.change.head
      return once !== true || work === undefined || head === undefined
        ? []
        : [{ targetKey: targetKey(work.change), head, isPush: work.change.target.kind === "push" }]
    })
    if (changes.length === 0) return Effect.succeed(waiting)
    const pushes = changes.filter(({ isPush }) => isPush)
    return Effect.all([
      Context.get(this.#context, Runs).reviewed(changes),
      pushes.length === 0
        ? Effect.succeed([])
        : Context.get(this.#context, Batches).placed(
            pushes.map((push) => push.targetKey),
            pushes.map(({ head }) => head)
          )
    ]).pipe(
      Effect.map(([reviewed, placed]) =>
        reviewed.length + placed.length === 0
          ? waiting
          : waiting.map((one) => withoutReviewedWork(one, reviewed, placed))
      ),
      Effect.catchCause((cause) =>
        limitWarning("reviewed heads", (suppressed) =>
          Effect.logWarning("earlier reviews of delivered heads not read", { suppressed }, cause)
        ).pipe(Effect.as(waiting))
      )
    )
  }

  #storeAll(waiting: ReadonlyArray<Waiting>): Effect.Effect<void> {
    return Context.get(this.#context, Receipts)
      .storeAll(waiting.map(({ record }) => record))
      .pipe(
        Effect.tap((receipts) => this.#storeBases(waiting, receipts)),
        Effect.matchCauseEffect({
          onSuccess: (receipts) => {
            this.#failedUntil.store = 0
            const works: Array<Work> = []
            for (const [index, { done, record, work }] of waiting.entries()) {
              const receipt = receipts[index]
              if (receipt?._tag === "Duplicate") {
                this.#notes.duplicate({ id: receipt.first.id, at: record.receivedAt })
                done(receipt)
              } else if (work === undefined) done(stored)
              else works.push({ item: work, decision: record.decision, done })
            }
            return works.length === 0 ? Effect.void : this.#queue(works, byWorkspace)
          },
          onFailure: (cause) => {
            for (const { done } of waiting) done(refused)
            this.#failedUntil.store = Math.max(...waiting.map(({ record }) => record.receivedAt)) + failedForMillis
            return limitWarning("events", (suppressed) =>
              Effect.logError("events of deliveries not stored", { deliveries: waiting.length, suppressed }, cause)
            )
          }
        })
      )
  }

  /** Stores base branches from new deliveries; a repeated delivery may be out of date. A failure only costs a request to the host. */
  #storeBases(waiting: ReadonlyArray<Waiting>, receipts: ReadonlyArray<Receipt>): Effect.Effect<void> {
    const pulls = waiting.flatMap(({ pull }, index) =>
      pull === undefined || receipts[index]?._tag === "Duplicate" ? [] : [pull]
    )
    if (pulls.length === 0) return Effect.void
    return Effect.catchCause(Context.get(this.#context, PullBases).store(pulls), (cause) =>
      limitWarning("base branches", (suppressed) =>
        Effect.logWarning("base branches of pull requests not stored", { pulls: pulls.length, suppressed }, cause)
      )
    )
  }

  /** Notifies the publishers of changes whose head may be green without a review of them. Housekeeping repeats what fails. */
  #notifyUnreviewed(works: ReadonlyArray<Work>, admitted: ReadonlyArray<QueueAdmitted>): Effect.Effect<void> {
    return selectUnreviewed(listAdmitted(works, admitted)).pipe(
      Effect.provideContext(this.#context),
      Effect.map((unreviewed) => {
        for (const { change, entryId } of unreviewed)
          this.#facts.publish({ _tag: "UnreviewedQueued", targetKey: targetKey(change), entryId })
      }),
      Effect.catchCause((cause) =>
        limitWarning("unreviewed commits", (suppressed) =>
          Effect.logWarning("verdicts of queued commits not read, housekeeping retries", { suppressed }, cause)
        )
      )
    )
  }

  /** Queues all works together; if the queue is full, per workspace, so that a full workspace does not block others. */
  #queue(
    works: ReadonlyArray<Work>,
    parts: ((works: ReadonlyArray<Work>) => ReadonlyArray<ReadonlyArray<Work>>) | undefined
  ): Effect.Effect<void> {
    return admit(works.map(({ item }) => item)).pipe(
      Effect.provideContext(this.#context),
      Effect.matchCauseEffect({
        onSuccess: (admitted) =>
          Effect.suspend(() => {
            this.#failedUntil.queue = 0
            for (const [index, { decision, done, item }] of works.entries()) {
              const queued = admitted[index]
              if (queued !== undefined) {
                this.#notes.superseded(queued.superseded)
                if (queued.status !== decision) this.#notes.decided({ id: item.eventId, decision: queued.status })
              }
              done({ _tag: "Stored", queued: queued ?? "later" })
            }
            return this.#notifyUnreviewed(works, admitted)
          }),
        onFailure: (cause) => {
          const failure = cause.reasons.find((reason) => reason._tag === "Fail")?.error
          if (isFull(failure) && parts !== undefined) {
            return Effect.forEach(parts(works), (part) => this.#queue(part, undefined), { discard: true })
          }
          return limitWarning("queueing", (suppressed) =>
            Effect.logWarning(
              "stored deliveries not queued, recovery will queue them",
              { deliveries: works.length, suppressed },
              cause
            )
          ).pipe(
            Effect.andThen(Clock.currentTimeMillis),
            Effect.map((now) => {
              if (!isFull(failure)) this.#failedUntil.queue = now + failedForMillis
              for (const { done, item } of works) {
                if (isFull(failure)) this.#fullUntil.set(item.change.workspace, now + fullForMillis)
                done({ _tag: "Stored", queued: "later" })
              }
            })
          )
        }
      })
    )
  }
}

/** Returns what has reviewed the head of a change, or is going to. */
const findReviewed = (
  change: Change,
  reviewed: ReadonlyArray<ReviewedChange>,
  placed: ReadonlyArray<PlacedMember>
): Reason | undefined => {
  const key = targetKey(change)
  const { base: before, head: after = "" } = change
  const run = reviewed.find(
    (earlier) => earlier.targetKey === key && earlier.head === after && haveSameBase(earlier, change)
  )?.id
  if (run !== undefined) return { _tag: "HeadReviewed", run }
  const batch = placed.find((member) => member.stream === key && isInPush({ before, after }, member))?.batchId
  return batch === undefined ? undefined : { _tag: "PushBatched", batch }
}

const withoutReviewedWork = (
  one: Waiting,
  reviewed: ReadonlyArray<ReviewedChange>,
  placed: ReadonlyArray<PlacedMember>
): Waiting => {
  const { done, once, record, work } = one
  if (once !== true || work === undefined) return one
  const rule = findReviewed(work.change, reviewed, placed)
  if (rule === undefined) return one
  return {
    record: {
      ...record,
      decision: "ignored",
      reason: "already_reviewed",
      rule,
      work: undefined
    },
    pull: one.pull,
    done: (taken) => {
      done(taken._tag === "Stored" ? { _tag: "Reviewed" } : taken)
    }
  }
}

/** Returns the queued changes. A repeated admission changed nothing. */
const listAdmitted = (works: ReadonlyArray<Work>, admitted: ReadonlyArray<QueueAdmitted>) =>
  works.flatMap(({ item: { change } }, index) => {
    const queued = admitted[index]
    return queued === undefined || queued.status === "duplicate" ? [] : [{ entryId: queued.entryId, change }]
  })

const isFull = (error: QueueError | StoreError | undefined): boolean =>
  error?._tag === "QueueError" && error.reason === "full"
