/**
 * Claims queue entries for the workers of a node. A claim whose response is lost may be recorded all the same: the entry would then belong to
 * a node that runs, and that does not work on it, until its lease ends. It is released as soon as the queue responds.
 */
import { Clock, Effect } from "effect"
import type { Scope } from "effect"
import { logFailure } from "../../src/observability/LimitedWarnings.ts"
import { Queue } from "../../src/queue/Queue.ts"
import type { QueueError } from "../../src/queue/Queue.ts"
import type { Reason } from "../../src/domain/Reason.ts"

/** Time before each attempt, in which a write that is still on its way arrives. */
const releaseAfter = "1 second"

export class EntryClaims {
  readonly #owner: string
  /** Number of workers of this node that claim or review an entry. */
  readonly #workers = new Map<string, number>()

  constructor(owner: string) {
    this.#owner = owner
  }

  /** Claims an entry like `Queue.claim`. Until the scope closes, it counts as an entry of this worker. */
  readonly claim = (
    entryId: string,
    ttlMillis: number
  ): Effect.Effect<Effect.Success<ReturnType<Queue["Service"]["claim"]>>, QueueError, Queue | Scope.Scope> =>
    Effect.andThen(
      Effect.acquireRelease(
        Effect.sync(() => this.#count(entryId, 1)),
        () => Effect.sync(() => this.#count(entryId, -1))
      ),
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Queue.use((queue) => queue.claim(entryId, this.#owner, now, ttlMillis))
      )
    )

  /** Releases an entry whose claim failed and was recorded. Waits for the queue for as long as the lease may last. */
  readonly releaseUnconfirmed = (entryId: string, ttlMillis: number, error: QueueError) =>
    Effect.andThen(
      logFailure("claim of a queue entry not confirmed, its entry is released", { entry_id: entryId })(error),
      this.#release(entryId).pipe(
        Effect.delay(releaseAfter),
        Effect.retry({ times: Math.ceil(ttlMillis / 1000) }),
        // The lease has ended, and housekeeping releases it.
        Effect.ignore
      )
    )

  #count(entryId: string, more: number): void {
    const workers = (this.#workers.get(entryId) ?? 0) + more
    if (workers === 0) this.#workers.delete(entryId)
    else this.#workers.set(entryId, workers)
  }

  readonly #release = Effect.fnUntraced(function* (this: EntryClaims, entryId: string) {
    const queue = yield* Queue
    const entry = yield* queue.get(entryId)
    // Another worker of this node may have claimed it.
    if (entry?.status !== "running" || entry.owner !== this.#owner || (this.#workers.get(entryId) ?? 0) > 1) return
    const reason: Reason = { _tag: "ClaimUnconfirmed" }
    yield* queue.finish({ entryId, token: entry.token }, { _tag: "Retry", dueAt: 0, reason, counted: false })
  })
}
