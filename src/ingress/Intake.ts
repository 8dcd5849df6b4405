/**
 * From decision to durable work: the receipt first, then the queue. Deliveries whose receipts become durable together are
 * queued together. If the queue fails the receipt stays and recovery queues it, so the delivery counts as accepted; if the
 * receipt fails nothing was accepted. A workspace whose queue is full takes no receipts for a while, so that what recovery has to
 * hold stays bounded too.
 */
import { Context, Effect } from "effect"
import { admit } from "../queue/AutomaticCommits.ts"
import type { Queue } from "../queue/Queue.ts"
import type { Admission, Admitted, QueueError } from "../queue/Queue.ts"
import type { Batches } from "../store/Batches.ts"
import { Receipts } from "../store/Receipts.ts"
import type { EventRecord, Receipt } from "../store/Receipts.ts"
import type { StoreError } from "../store/StoreError.ts"
import { Superseded } from "./Superseded.ts"

/** How long a full queue is left alone. */
const fullForMillis = 5000

type Outcome = Admitted | "later"

interface Waiting {
  readonly item: Admission
  readonly done: (outcome: Outcome) => void
}

const byWorkspace = (waiting: ReadonlyArray<Waiting>): ReadonlyArray<ReadonlyArray<Waiting>> => [
  ...Map.groupBy(waiting, ({ item }) => item.change.workspace).values()
]

export class Intake {
  readonly #context: Context.Context<Queue | Receipts | Batches>
  readonly #superseded: Superseded
  readonly #fullUntil = new Map<string, number>()
  #waiting: Array<Waiting> = []

  constructor(context: Context.Context<Queue | Receipts | Batches>) {
    this.#context = context
    this.#superseded = new Superseded(context)
  }

  /** At stop: what is still to be noted. */
  get close(): Effect.Effect<void> {
    return this.#superseded.flush
  }

  /** Makes the record durable. Undefined: it could not be stored. */
  async store(record: EventRecord): Promise<Receipt | undefined> {
    const receipts = Context.get(this.#context, Receipts)
    return Effect.runPromiseWith(this.#context)(
      receipts
        .store(record)
        .pipe(
          Effect.catch((error) =>
            Effect.as(
              Effect.logError(`Event record of a ${record.provider} delivery not stored: ${error.message}`),
              undefined
            )
          )
        )
    )
  }

  isFull(workspace: string, now: number): boolean {
    const until = this.#fullUntil.get(workspace)
    if (until === undefined) return false
    if (now < until) return true
    this.#fullUntil.delete(workspace)
    return false
  }

  /** Queues work whose receipt is stored. `later`: the queue did not take it now, recovery will. */
  enqueue(item: Admission): Promise<Outcome> {
    return new Promise((done) => {
      this.#waiting.push({ item, done })
      if (this.#waiting.length === 1) setImmediate(() => this.#flush())
    })
  }

  #flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    Effect.runForkWith(this.#context)(this.#admit(waiting, byWorkspace))
  }

  /** All at once; when that fails for want of room, in parts, so that one full workspace holds up nobody else. */
  #admit(
    waiting: ReadonlyArray<Waiting>,
    parts: ((waiting: ReadonlyArray<Waiting>) => ReadonlyArray<ReadonlyArray<Waiting>>) | undefined
  ): Effect.Effect<void> {
    return admit(waiting.map(({ item }) => item)).pipe(
      Effect.provideContext(this.#context),
      Effect.matchCauseEffect({
        onSuccess: (admitted) =>
          Effect.sync(() => {
            for (const [index, { done }] of waiting.entries()) {
              const answer = admitted[index]
              if (answer !== undefined) this.#superseded.add(answer.superseded)
              done(answer ?? "later")
            }
          }),
        onFailure: (cause) => {
          const failure = cause.reasons.find((reason) => reason._tag === "Fail")?.error
          if (isFull(failure) && parts !== undefined) {
            return Effect.forEach(parts(waiting), (part) => this.#admit(part, undefined), { discard: true })
          }
          return Effect.logWarning(`${waiting.length} stored deliveries not queued yet; recovery will`, cause).pipe(
            Effect.tap(() =>
              Effect.clockWith((clock) =>
                Effect.sync(() => {
                  const until = clock.currentTimeMillisUnsafe() + fullForMillis
                  for (const { done, item } of waiting) {
                    if (isFull(failure)) this.#fullUntil.set(item.change.workspace, until)
                    done("later")
                  }
                })
              )
            )
          )
        }
      })
    )
  }
}

const isFull = (error: QueueError | StoreError | undefined): boolean =>
  error?._tag === "QueueError" && error.reason === "full"
