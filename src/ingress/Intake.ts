/**
 * From decision to durable work: the receipt first, then the queue. Deliveries that come together go together: one commit for
 * their receipts, one for their entries. If the queue fails the receipt stays and recovery queues it, so the delivery
 * counts as accepted; if the receipt fails nothing was accepted. A workspace whose queue is full takes no receipts for a while, so
 * that what recovery has to hold stays bounded too.
 */
import { Clock, Context, Effect } from "effect"
import { admit } from "../queue/AutomaticCommits.ts"
import type { Queue } from "../queue/Queue.ts"
import type { QueueAdmission, QueueAdmitted, QueueError } from "../queue/Queue.ts"
import type { Batches } from "../store/Batches.ts"
import { Receipts } from "../store/Receipts.ts"
import type { EventRecord, Receipt } from "../store/Receipts.ts"
import type { StoreError } from "../database/StoreError.ts"
import { Gather } from "./Gather.ts"
import { Superseded } from "./Superseded.ts"

/** How long a full queue is left alone. */
const fullForMillis = 5000
/** How long a store whose last write failed is reported as not ready; then deliveries may try it again. */
const failedForMillis = 15_000

/** What became of a delivery. */
export type IntakeResult =
  /** Not stored: nothing was accepted. */
  | { readonly _tag: "Refused" }
  | Extract<Receipt, { readonly _tag: "Duplicate" }>
  /** Stored. `queued` is there when work was given; `later`: the queue did not take it now, recovery will. */
  | { readonly _tag: "Stored"; readonly queued?: QueueAdmitted | "later" }

interface Waiting {
  readonly record: EventRecord
  readonly work: QueueAdmission | undefined
  readonly done: (taken: IntakeResult) => void
}

interface Work {
  readonly item: QueueAdmission
  readonly done: (taken: IntakeResult) => void
}

const byWorkspace = (works: ReadonlyArray<Work>): ReadonlyArray<ReadonlyArray<Work>> => [
  ...Map.groupBy(works, ({ item }) => item.change.workspace).values()
]

const refused: IntakeResult = { _tag: "Refused" }
const stored: IntakeResult = { _tag: "Stored" }

export class Intake {
  readonly #context: Context.Context<Queue | Receipts | Batches>
  readonly #superseded: Superseded
  readonly #fullUntil = new Map<string, number>()
  readonly #failedUntil = { store: 0, queue: 0 }
  readonly #arrivals = new Gather<Waiting>((waiting) => {
    Effect.runForkWith(this.#context)(this.#takeAll(waiting))
  })

  constructor(context: Context.Context<Queue | Receipts | Batches>) {
    this.#context = context
    this.#superseded = new Superseded(context)
  }

  /** At stop: what is still to be noted. */
  get close(): Effect.Effect<void> {
    return this.#superseded.flush
  }

  isFull(workspace: string, now: number): boolean {
    const until = this.#fullUntil.get(workspace)
    if (until === undefined) return false
    if (now < until) return true
    this.#fullUntil.delete(workspace)
    return false
  }

  /** Whether the last write to the records or to the queue failed, a short while ago: reading may work where writing does not. */
  failed(what: "store" | "queue", now: number): boolean {
    return now < this.#failedUntil[what]
  }

  /** Makes the record durable and then queues its work, if there is any. Never rejects. */
  take(record: EventRecord, work?: QueueAdmission): Promise<IntakeResult> {
    return new Promise((done) => {
      this.#arrivals.add({ record, work, done })
    })
  }

  #takeAll(waiting: ReadonlyArray<Waiting>): Effect.Effect<void> {
    return Context.get(this.#context, Receipts)
      .storeAll(waiting.map(({ record }) => record))
      .pipe(
        Effect.matchCauseEffect({
          onSuccess: (receipts) => {
            this.#failedUntil.store = 0
            const works: Array<Work> = []
            for (const [index, { done, work }] of waiting.entries()) {
              const receipt = receipts[index]
              if (receipt?._tag === "Duplicate") done(receipt)
              else if (work === undefined) done(stored)
              else works.push({ item: work, done })
            }
            return works.length === 0 ? Effect.void : this.#queue(works, byWorkspace)
          },
          onFailure: (cause) => {
            for (const { done } of waiting) done(refused)
            this.#failedUntil.store = Math.max(...waiting.map(({ record }) => record.receivedAt)) + failedForMillis
            return Effect.logError("events of deliveries not stored", { deliveries: waiting.length }, cause)
          }
        })
      )
  }

  /** All at once; when that fails for want of room, in parts, so that one full workspace holds up nobody else. */
  #queue(
    works: ReadonlyArray<Work>,
    parts: ((works: ReadonlyArray<Work>) => ReadonlyArray<ReadonlyArray<Work>>) | undefined
  ): Effect.Effect<void> {
    return admit(works.map(({ item }) => item)).pipe(
      Effect.provideContext(this.#context),
      Effect.matchCauseEffect({
        onSuccess: (admitted) =>
          Effect.sync(() => {
            this.#failedUntil.queue = 0
            for (const [index, { done }] of works.entries()) {
              const queued = admitted[index]
              if (queued !== undefined) this.#superseded.add(queued.superseded)
              done({ _tag: "Stored", queued: queued ?? "later" })
            }
          }),
        onFailure: (cause) => {
          const failure = cause.reasons.find((reason) => reason._tag === "Fail")?.error
          if (isFull(failure) && parts !== undefined) {
            return Effect.forEach(parts(works), (part) => this.#queue(part, undefined), { discard: true })
          }
          return Effect.logWarning(
            "stored deliveries not queued, recovery will queue them",
            { deliveries: works.length },
            cause
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

const isFull = (error: QueueError | StoreError | undefined): boolean =>
  error?._tag === "QueueError" && error.reason === "full"
