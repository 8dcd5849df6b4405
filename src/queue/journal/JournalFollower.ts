/**
 * Keeps a node's table as far as the journal is. While a transaction waits for its position, nothing else changes the table. What the
 * journal has damaged or lost is logged and skipped, so that it fails no other work; a message of a newer release stops the node.
 */
import { Deferred, Effect, Option } from "effect"
import type { Fiber } from "effect"
import type { EntryTable } from "../core/EntryTable.ts"
import type { Replica } from "../core/Replica.ts"
import { NewerFormat } from "../core/RowText.ts"
import { shareWait } from "./SharedWait.ts"
import { JournalError } from "./Journal.ts"
import type { Journal, JournalRecord, JournalPosition } from "./Journal.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import { withoutPeriod } from "../../domain/Text.ts"

/** Rows since the newest snapshot after which a new one is written, at least; and no less than half of what the table has. */
const snapshotFrom = 20_000

type Fork = (effect: Effect.Effect<void>) => Fiber.Fiber<void>

interface PendingAppend {
  readonly outcome: "missing" | "found" | "unknown"
}

export class JournalFollower {
  readonly #journal: Journal
  readonly replica: Replica
  readonly #fork: Fork
  #pending: Deferred.Deferred<void> | undefined
  #pulling: Deferred.Deferred<void, JournalError> | undefined
  #isTrimming = false
  #expected: { readonly id: string; outcome: PendingAppend["outcome"] } | undefined

  constructor(journal: Journal, replica: Replica, fork: Fork) {
    this.#journal = journal
    this.replica = replica
    this.#fork = fork
    this.barrier = shareWait(
      Effect.suspend(() => this.catchUp),
      fork
    )
  }

  #log(entry: Effect.Effect<void>): void {
    this.#fork(entry)
  }

  /** The table belongs to a transaction until it ends. */
  beginAppend(): void {
    this.#pending = Deferred.makeUnsafe()
  }

  endAppend(): void {
    const pending = this.#pending
    this.#pending = undefined
    if (pending !== undefined) Deferred.doneUnsafe(pending, Effect.void)
  }

  /** The transaction ends at its position. Returns why the table cannot follow; then it is read again before it is used. */
  commit(position: JournalPosition, missed: ReadonlyArray<JournalRecord>): JournalError | undefined {
    try {
      this.#logDamage(position.sequence, this.replica.commit(position, missed))
      return undefined
    } catch (cause) {
      this.replica.reset()
      return unreadable(cause)
    } finally {
      this.endAppend()
    }
  }

  /** Uses the table when no transaction is under way. */
  readonly whenIdle = <A>(use: (table: EntryTable) => A): Effect.Effect<A> =>
    Effect.suspend(() =>
      this.#pending === undefined
        ? Effect.sync(() => use(this.replica.table))
        : Effect.andThen(Deferred.await(this.#pending), this.whenIdle(use))
    )

  /** Looks for a message among those that are applied from now on; `unknown` once the table was read from a snapshot. */
  trackAppend(id: string): PendingAppend {
    this.#expected = { id, outcome: "missing" }
    return this.#expected
  }

  /** The table is as far as the journal was when this was called. */
  readonly catchUp: Effect.Effect<void, JournalError> = Effect.gen({ self: this }, function* () {
    const before = this.replica.applied.sequence
    const last = yield* this.#journal.last
    if (last.sequence < before) yield* this.#reload("it lost messages")
    while (true) {
      const { id, sequence } = yield* this.whenIdle(() => this.replica.applied)
      if (sequence > last.sequence || (sequence === last.sequence && id === last.id)) return
      if (sequence === last.sequence) yield* this.#reload("it has other messages than before")
      else yield* this.#pull()
    }
  })

  /** The same; calls of one event loop iteration share one. */
  readonly barrier: Effect.Effect<void, JournalError>

  /** Applies what comes next, as far as it follows from what the table has. False: messages before these are missing. */
  apply(messages: ReadonlyArray<JournalRecord>, isTolerant = false): boolean {
    for (const message of messages) {
      const { sequence } = message
      if (sequence <= this.replica.applied.sequence) continue
      if (!this.replica.continues(message)) {
        if (!isTolerant) return false
        if (sequence === this.replica.applied.sequence + 1) {
          this.replica.skip(message)
          this.#log(
            Effect.logError("message of the queue's journal does not follow the one before it, quarantined", {
              sequence
            })
          )
          continue
        }
        this.#log(Effect.logError("messages of the queue's journal are missing, the next one is applied", { sequence }))
      }
      this.#logDamage(sequence, this.replica.apply(message))
      if (this.#expected?.id === message.id) this.#expected.outcome = "found"
    }
    return true
  }

  #logDamage(sequence: number, reasons: ReadonlyArray<string>): void {
    if (reasons.length > 0)
      this.#log(Effect.logError("damage in the queue's journal quarantined", { sequence, reasons }))
  }

  /** Reads the next messages for all callers, so that the interruption of one of them does not reach the others. */
  #pull(): Effect.Effect<void, JournalError> {
    return Effect.suspend(() => {
      if (this.#pulling !== undefined) return Deferred.await(this.#pulling)
      const pulling = Deferred.makeUnsafe<void, JournalError>()
      this.#pulling = pulling
      this.#fork(
        Effect.flatMap(Effect.exit(this.#next), (exit) => {
          this.#pulling = undefined
          return Effect.asVoid(Deferred.done(pulling, exit))
        })
      )
      return Deferred.await(pulling)
    })
  }

  readonly #next: Effect.Effect<void, JournalError> = Effect.gen({ self: this }, function* () {
    const { sequence } = this.replica.applied
    const isEmpty = sequence === 0
    const messages = isEmpty ? [] : yield* this.#journal.follow(sequence)
    const isWhole = messages.length > 0 && (yield* this.#applied(messages))
    if (!isWhole) yield* this.#reload(isEmpty ? undefined : "messages are missing")
    this.trimIfLong()
  })

  #applied(messages: ReadonlyArray<JournalRecord>): Effect.Effect<boolean, JournalError> {
    return Effect.flatMap(
      this.whenIdle(() => {
        try {
          return this.apply(messages)
        } catch (cause) {
          return unreadable(cause)
        }
      }),
      (applied) => (typeof applied === "boolean" ? Effect.succeed(applied) : Effect.fail(applied))
    )
  }

  /** Reads the newest snapshot and the messages behind it. `why` is undefined for the first time. */
  readonly #reload = Effect.fnUntraced(
    { self: this },
    function* (this: JournalFollower, why: string | undefined): Effect.fn.Return<void, JournalError> {
      if (why !== undefined) yield* Effect.logWarning("journal of the queue is read from its start", { reason: why })
      // A newer snapshot may replace the one that was read, and the messages behind that one are removed then. What is missing each
      // time is lost.
      const reading = Effect.retry(this.#read(false), { times: 1, while: isLost }).pipe(
        Effect.catchIf(isLost, () => this.#read(true)),
        // A table of which a part is missing is not used.
        Effect.onError(() => Effect.sync(() => this.replica.reset()))
      )
      yield* Effect.acquireUseRelease(
        this.whenIdle(() => this.beginAppend()),
        () => reading,
        () => Effect.sync(() => this.endAppend())
      )
    }
  )

  readonly #read = Effect.fnUntraced(
    { self: this },
    function* (this: JournalFollower, isTolerant: boolean): Effect.fn.Return<void, JournalError> {
      this.replica.reset()
      if (this.#expected?.outcome === "missing") this.#expected.outcome = "unknown"
      const last = yield* this.#journal.last
      const position = yield* Effect.catchIf(
        this.#loadSnapshot,
        (error) => isTolerant && isLost(error),
        ({ message }) =>
          Effect.as(Effect.logError("snapshot of the queue's journal is lost", { error: message }), undefined)
      )
      this.replica.sinceSnapshot = 0
      if (position !== undefined) this.replica.applied = position
      while (true) {
        const messages = yield* this.#journal.follow(this.replica.applied.sequence)
        if (messages.length === 0) break
        const isWhole = yield* Effect.try({ try: () => this.apply(messages, isTolerant), catch: unreadable })
        if (!isWhole) return yield* missing
      }
      const { applied } = this.replica
      if (applied.sequence > last.sequence || (applied.sequence === last.sequence && applied.id === last.id)) return
      if (!isTolerant) return yield* missing
      const { sequence } = last
      yield* Effect.logError("the last messages of the queue's journal are missing", { sequence })
      this.replica.applied = last
    }
  )

  /** Returns its position. */
  readonly #loadSnapshot: Effect.Effect<JournalPosition | undefined, JournalError> = Effect.suspend(() => {
    let page = 0
    return this.#journal.load((text) => {
      page += 1
      const reasons = this.replica.applyPage(text, page)
      if (reasons.length > 0)
        this.#log(Effect.logError("damage in the queue's snapshot quarantined", { page, reasons }))
    })
  })

  /** Writes a snapshot when the journal is long for what it holds. */
  trimIfLong(): void {
    const { replica } = this
    if (replica.sinceSnapshot < Math.max(snapshotFrom, replica.size / 2)) return
    const trim = this.trim().pipe(
      Effect.catchCause((cause) => Effect.logWarning("journal of the queue not trimmed", { error: String(cause) }))
    )
    this.#fork(Effect.asVoid(trim))
  }

  /** Writes a snapshot. Returns false while one is written, here or by another node. */
  trim(): Effect.Effect<boolean, JournalError> {
    return Effect.suspend(() => {
      if (this.#isTrimming) return Effect.succeed(false)
      this.#isTrimming = true
      const { replica } = this
      const { applied } = replica
      replica.sinceSnapshot = 0
      const pages = replica.pages()
      const nextPage = this.whenIdle(() => {
        const { done, value } = pages.next()
        return done === true ? Option.none() : Option.some(value)
      })
      return Effect.ensuring(
        this.#journal.trim(applied, nextPage),
        Effect.sync(() => (this.#isTrimming = false))
      )
    })
  }
}

const missing = new JournalError({
  reason: "lost",
  why: { _tag: "QueueFails", why: { _tag: "JournalMessagesMissing" } }
})

const isLost = ({ reason }: JournalError): boolean => reason === "lost"

const unreadable = (cause: unknown): JournalError =>
  cause instanceof NewerFormat
    ? new JournalError({
        reason: "newer",
        why: { _tag: "QueueFails", why: { _tag: "JournalOfNewerRelease", why: cause.message } }
      })
    : new JournalError({
        reason: "unavailable",
        why: { _tag: "QueueFails", why: verbatimReason(withoutPeriod(String(cause).slice(0, 200))) }
      })
