/**
 * Holds the publisher's ownership of its target. Taking the target over in the outbox yields a fencing token. Every change of a row carries
 * it, and `fence` rejects a write to the host after another publisher has taken over.
 */
import { Clock, Effect } from "effect"
import type { PublisherToken } from "../../src/domain/FencingToken.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import type { Publication, PublicationStatus } from "../../src/domain/Publication.ts"
import { errorReason } from "../../src/domain/Reason.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import type { WrittenRecords } from "../../src/forge/WriteOwner.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import type { PublicationUpdate } from "../../src/store/Outbox.ts"
import type { StoreError } from "../../src/database/StoreError.ts"

export const takenOver = Effect.fail(
  new ForgeError({ reason: "unavailable", operation: "publish", why: { _tag: "OtherNodePublishes" } })
)

export const storeFailed = (error: Parameters<typeof errorReason>[0]): ForgeError =>
  new ForgeError({ reason: "unavailable", operation: "publish", why: errorReason(error) })

const writerOf = ({ channel, runId }: Publication): string => `${runId} ${channel}`

export class TargetHold {
  readonly #outbox: Outbox["Service"]
  readonly #targetKey: TargetKey
  readonly #late = new Map<string, string>()
  #token: PublisherToken | undefined
  /** Consecutive publishers that crashed; 0 when this one has completed a row. */
  #starts: number | undefined
  #isDoubtful = false
  #deferrals = 0
  /** Comments that the last run wrote through a channel. */
  #written = { key: "", count: 0 }

  constructor(outbox: Outbox["Service"], targetKey: TargetKey) {
    this.#outbox = outbox
    this.#targetKey = targetKey
  }

  /** The token. The first use takes the target over. */
  readonly #held: Effect.Effect<PublisherToken, StoreError> = Effect.suspend(() => {
    if (this.#token !== undefined) return Effect.succeed(this.#token)
    return Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.tap(this.#outbox.takeOver(this.#targetKey, now), (token) =>
        Effect.sync(() => {
          this.#token = token
        })
      )
    )
  })

  readonly isHeld: Effect.Effect<boolean, StoreError> = Effect.flatMap(this.#held, (token) =>
    this.#outbox.isOwner(this.#targetKey, token)
  )

  /** Fails if another publisher owns the target. */
  readonly fence: Effect.Effect<void, ForgeError> = Effect.flatMap(
    Effect.mapError(this.isHeld, storeFailed),
    (isHeld) => (isHeld ? Effect.void : takenOver)
  )

  /** Takes the target over if necessary and returns the number of consecutive publishers that crashed on a row, including this one. */
  readonly start: Effect.Effect<number, StoreError> = Effect.flatMap(this.#held, () =>
    this.#starts === undefined
      ? Effect.map(this.#outbox.starts(this.#targetKey), (starts) => (this.#starts = starts))
      : Effect.succeed(this.#starts)
  )

  /** Records that the row was completed, or that the publisher stops in an orderly way. */
  readonly ended: Effect.Effect<void, StoreError> = Effect.suspend(() => {
    if (this.#token === undefined || this.#starts === undefined || this.#starts === 0) return Effect.void
    return Effect.map(this.#outbox.progressed(this.#targetKey, this.#token), () => {
      this.#starts = 0
    })
  })

  /** Changes the records with the token, which the store checks. Returns false if the ownership is lost, and makes `isDoubtful` true. */
  readonly withToken = Effect.fnUntraced(
    { self: this },
    function* (write: (token: PublisherToken) => Effect.Effect<boolean, StoreError>) {
      const isDone = yield* write(yield* this.#held)
      this.#isDoubtful = this.#isDoubtful || !isDone
      return isDone
    }
  )

  /** Compares and sets a row. Returns false if the row was not in `from` or the ownership is lost, and makes `isDoubtful` true. */
  readonly move = Effect.fnUntraced(
    { self: this },
    function* (row: Publication, from: PublicationStatus, update: PublicationUpdate) {
      const now = yield* Clock.currentTimeMillis
      const moved = yield* this.#outbox.move(row.id, from, update, yield* this.#held, now)
      this.#isDoubtful = this.#isDoubtful || !moved
      // Neither the start of a write nor the discovery of an unfinished one completes a row.
      if (moved && update.status !== "sending" && (from !== "sending" || update.status !== "unknown")) yield* this.ended
      return moved
    }
  )

  /** Moves a commit status to `sending`, unless another publisher writes one of the same commit. Makes `isDoubtful` true like `move`. */
  readonly startStatus = Effect.fnUntraced({ self: this }, function* (row: Publication, from: PublicationStatus) {
    const now = yield* Clock.currentTimeMillis
    const start = yield* this.#outbox.startStatus(row, from, yield* this.#held, now)
    this.#isDoubtful = this.#isDoubtful || start === "lost"
    return start
  })

  writtenStatus(row: Publication, head: string): Effect.Effect<WrittenRecords, StoreError> {
    return this.#outbox.writtenStatus(row, head)
  }

  drop(row: Publication, reason: Reason): Effect.Effect<void, StoreError> {
    return Effect.asVoid(this.move(row, row.status, { status: "dropped", error: reason }))
  }

  /** Returns whether a row had another status than this activation wrote. */
  isDoubtful(): boolean {
    return this.#isDoubtful
  }

  trust(): void {
    this.#isDoubtful = false
  }

  /** Publishes the run on its own commit with this note although a newer head exists. */
  publishLate(runId: string, note: string): void {
    this.#late.set(runId, note)
  }

  lateNote(runId: string): string | undefined {
    return this.#late.get(runId)
  }

  /** Counts a failure before a write. Returns the number of consecutive failures. */
  deferred(): number {
    this.#deferrals += 1
    return this.#deferrals
  }

  progressed(row: Publication): void {
    this.#deferrals = 0
    if (row.operation._tag !== "Summary") return
    this.#written = { key: writerOf(row), count: this.written(row) + 1 }
  }

  /** Returns the number of comments that the run of the row wrote through its channel, as counted by this activation. */
  written(row: Publication): number {
    return this.#written.key === writerOf(row) ? this.#written.count : 0
  }

  /** Gives up the token. The next use takes the target over again. */
  release(): void {
    this.#token = undefined
    this.#starts = undefined
  }
}

export const holdTarget = (targetKey: TargetKey): Effect.Effect<TargetHold, never, Outbox> =>
  Effect.map(Outbox, (outbox) => new TargetHold(outbox, targetKey))
