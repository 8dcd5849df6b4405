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
  #taken: Effect.Success<ReturnType<Outbox["Service"]["takeOver"]>> | undefined
  /** Consecutive publishers that crashed; 0 when this one has completed a row. Undefined before it handles one. */
  #starts: number | undefined
  #isDoubtful = false
  #deferrals = 0
  /** Comments that the last run wrote through a channel. */
  #written = { key: "", count: 0 }

  constructor(outbox: Outbox["Service"], targetKey: TargetKey) {
    this.#outbox = outbox
    this.#targetKey = targetKey
  }

  /** The first use takes the target over. */
  readonly #held = Effect.suspend(() => {
    if (this.#taken !== undefined) return Effect.succeed(this.#taken)
    return Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.tap(this.#outbox.takeOver(this.#targetKey, now), (taken) =>
        Effect.sync(() => {
          this.#taken = taken
        })
      )
    )
  })

  readonly isHeld: Effect.Effect<boolean, StoreError> = Effect.flatMap(this.#held, ({ token }) =>
    this.#outbox.isOwner(this.#targetKey, token)
  )

  /** Fails if another publisher owns the target. */
  readonly fence: Effect.Effect<void, ForgeError> = Effect.flatMap(
    Effect.mapError(this.isHeld, storeFailed),
    (isHeld) => (isHeld ? Effect.void : takenOver)
  )

  /** Takes the target over if necessary and returns the number of consecutive publishers that crashed on a row, including this one. */
  readonly start: Effect.Effect<number, StoreError> = Effect.map(
    this.#held,
    ({ starts }) => (this.#starts = this.#starts ?? starts)
  )

  /** Resets the count of starts; undefined if the records have it so. */
  get #reset(): Effect.Effect<void, StoreError> | undefined {
    return this.#taken === undefined || this.#starts === undefined || this.#starts === 0
      ? undefined
      : this.#outbox.progressed(this.#targetKey, this.#taken.token)
  }

  /** Records that the publisher stops in an orderly way. */
  readonly ended: Effect.Effect<void, StoreError> = Effect.suspend(() =>
    Effect.map(this.#reset ?? Effect.void, () => this.#noteReset())
  )

  #noteReset(): void {
    if (this.#starts !== undefined) this.#starts = 0
  }

  /** Changes the records with the token, which the store checks. Returns false if the ownership is lost, and makes `isDoubtful` true. */
  readonly withToken = Effect.fnUntraced(
    { self: this },
    function* (write: (token: PublisherToken) => Effect.Effect<boolean, StoreError>) {
      const isDone = yield* write((yield* this.#held).token)
      this.#isDoubtful = this.#isDoubtful || !isDone
      return isDone
    }
  )

  /** Compares and sets a row. Returns false if the row was not in `from` or the ownership is lost, and makes `isDoubtful` true. */
  move(row: Publication, from: PublicationStatus, update: PublicationUpdate): Effect.Effect<boolean, StoreError> {
    return this.moveWith(row, from, update, undefined)
  }

  /** Compares and sets a row like `move`, and records what follows from that in the same transaction. */
  moveWith<R = never>(
    row: Publication,
    from: PublicationStatus,
    update: PublicationUpdate,
    following: Effect.Effect<void, StoreError, R> | undefined
  ): Effect.Effect<boolean, StoreError, R> {
    return Effect.gen({ self: this }, function* () {
      const now = yield* Clock.currentTimeMillis
      const { token } = yield* this.#held
      // Neither the start of a write nor the discovery of an unfinished one completes a row.
      const isEnd = update.status !== "sending" && (from !== "sending" || update.status !== "unknown")
      const reset = isEnd ? this.#reset : undefined
      const others = [reset, following].filter((one) => one !== undefined)
      const moving = this.#outbox.move(row.id, from, update, token, now)
      const moved = yield* others.length === 0
        ? moving
        : this.#outbox.together(
            Effect.tap(moving, (isMoved) => (isMoved ? Effect.all(others, { discard: true }) : Effect.void))
          )
      this.#isDoubtful = this.#isDoubtful || !moved
      if (moved && reset !== undefined) this.#noteReset()
      return moved
    })
  }

  /** Moves a commit status to `sending`, unless another publisher writes one of the same commit. Makes `isDoubtful` true like `move`. */
  readonly startStatus = Effect.fnUntraced({ self: this }, function* (row: Publication, from: PublicationStatus) {
    const now = yield* Clock.currentTimeMillis
    const start = yield* this.#outbox.startStatus(row, from, (yield* this.#held).token, now)
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
    this.#taken = undefined
    this.#starts = undefined
  }
}

export const holdTarget = (targetKey: TargetKey): Effect.Effect<TargetHold, never, Outbox> =>
  Effect.map(Outbox, (outbox) => new TargetHold(outbox, targetKey))
