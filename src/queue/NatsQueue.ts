/**
 * The queue over JetStream (queue.kind nats), for several nodes. Every node holds all entries in memory; what makes them one queue is a
 * log of changes with compare-and-set (nats/NatsLog.ts). A transaction decides on the table as of the last message and appends what
 * it changed right behind that message: when somebody else was first, it is taken back, the table follows, and it decides anew. So
 * every transition is as whole as in one process, tokens only grow, and what was answered is in the log.
 *
 * Reads ask the log how far it is and wait until the table is there. While NATS is away every call fails as `unavailable` within
 * seconds; a transaction whose answer was lost is looked for in the log first, and if nobody can say, it may have happened.
 */
import { Clock, Deferred, Effect, Layer, Random, Result } from "effect"
import type { Scope } from "effect"
import type { NatsConnection } from "../../nats/NatsConnection.ts"
import type { NatsError } from "../../nats/NatsError.ts"
import { makeLog } from "../../nats/NatsLog.ts"
import type { Delivered } from "../../nats/NatsLog.ts"
import { newId } from "../domain/Ids.ts"
import * as GroupCommit from "../database/GroupCommit.ts"
import type { EntryTable } from "./EntryTable.ts"
import { encode, NatsReplica, read } from "./NatsReplica.ts"
import type { JournalMessage, Row } from "./NatsReplica.ts"
import { QueueError } from "./Queue.ts"
import type { Queue } from "./Queue.ts"
import type { QueueControl } from "./QueueControl.ts"
import type { QueueLimits } from "./TableQueue.ts"
import * as TableQueue from "./TableQueue.ts"

export interface NatsQueueOptions extends QueueLimits {
  /** Of the log; queues that share a server and a prefix have one each. `queue` when left out. */
  readonly name?: string | undefined
}

export const layerNats = (options: NatsQueueOptions): Layer.Layer<Queue | QueueControl, QueueError, NatsConnection> =>
  Layer.effectContext(
    Effect.map(
      Effect.mapError(makeAccess(options.name ?? "queue"), (error) =>
        "_tag" in error && error._tag === "QueueError" ? error : unavailable(error.message)
      ),
      (access) => TableQueue.make(access, options)
    )
  )

type Operation = (table: EntryTable) => void

const maxBatch = 256
const maxWaiting = 10_000
/** How long a transaction tries, and a table may be behind. */
const patienceMillis = 5000
const catchUpMillis = 3000
/** Messages removed from the beginning of the log at once. */
const removeFrom = 256

const unavailable = (why: string): QueueError =>
  new QueueError({ reason: "unavailable", message: `Queue over NATS: ${why}. It is tried again.` })

const newerRelease = (sequence: number, why: string): QueueError =>
  new QueueError({
    reason: "unavailable",
    message: `Queue over NATS: message ${sequence} of its log has a shape that only a newer release knows (${why.slice(0, 200)}). Upgrade this node.`
  })

const makeAccess = Effect.fnUntraced(function* (
  name: string
): Effect.fn.Return<TableQueue.TableAccess, QueueError | NatsError, NatsConnection | Scope.Scope> {
  const replica = new NatsReplica()
  const tell = Effect.runForkWith(yield* Effect.context<never>())
  /** While a transaction waits for its place in the log, what others append waits too. */
  let flight: Deferred.Deferred<void> | undefined
  let held: Array<Delivered> = []
  /** Whose answer was lost, and whether it is in the log. */
  let doubt: { readonly id: string; found: boolean } | undefined
  let unreadable: QueueError | undefined
  let waiters: Array<{ readonly sequence: number; readonly done: Deferred.Deferred<void> }> = []

  const arrived = () => {
    for (const { sequence, done } of waiters) {
      if (sequence <= replica.applied) Deferred.doneUnsafe(done, Effect.void)
    }
    waiters = waiters.filter(({ sequence }) => sequence > replica.applied)
  }
  /** Where the log was read from last; and by sequence, what did not follow from what was before it. */
  let begin = 0
  const breaks = new Map<number, string>()
  /** The last of the damaged messages that were logged. */
  let logged = 0
  const logDamage = (sequence: number, entry: Effect.Effect<void>) => {
    if (sequence <= logged) return
    logged = sequence
    tell(entry.pipe(Effect.annotateLogs({ log: name, sequence })))
  }
  /**
   * Whether a message follows from the one before it. If not, the log lost messages that the table does not have, and is read from its
   * beginning; where it breaks there too, messages are missing in the log itself, on every node, and it goes on behind them.
   */
  const follows = (sequence: number, message: Pick<JournalMessage, "after">): boolean => {
    if (replica.continues(sequence, message)) {
      breaks.delete(sequence)
      return true
    }
    const place = `${begin} ${replica.applied}`
    if (breaks.get(sequence) !== place) {
      breaks.set(sequence, place)
      return false
    }
    logDamage(
      sequence,
      Effect.logError("messages of the queue's log are missing, the next one is applied", { after: replica.applied })
    )
    return true
  }
  /** False when the log is to be read from its beginning. */
  const take = (delivered: Delivered): boolean => {
    const { payload, sequence, time } = delivered
    if (flight !== undefined) {
      held.push(delivered)
      return true
    }
    if (sequence <= replica.applied || unreadable !== undefined) return true
    if (replica.applied === 0) begin = sequence
    const reading = read(payload)
    if (reading._tag === "Unknown") {
      unreadable = newerRelease(sequence, reading.why)
      tell(Effect.logError("message of the queue's log is from a newer release", { error: unreadable.message }))
      return true
    }
    const { after } = reading._tag === "Message" ? reading.message : { after: replica.last ?? "" }
    if (!follows(sequence, { after })) {
      replica.reset()
      return false
    }
    if (reading._tag === "Message") {
      if (doubt?.id === reading.message.id) doubt.found = true
      replica.apply(sequence, reading.message)
    } else {
      logDamage(
        sequence,
        Effect.logError("damaged message of the queue's log skipped").pipe(Effect.annotateLogs({ error: reading.why }))
      )
      replica.skip(sequence, time, reading.why)
    }
    arrived()
    return true
  }
  const log = yield* makeLog(name, { from: () => replica.applied + 1, take })

  const land = () => {
    const landing = flight
    flight = undefined
    const messages = held
    held = []
    if (!messages.every(take)) tell(log.restart)
    arrived()
    if (landing !== undefined) Deferred.doneUnsafe(landing, Effect.void)
  }

  const landed: Effect.Effect<void> = Effect.suspend(() =>
    flight === undefined ? Effect.void : Effect.andThen(Deferred.await(flight), landed)
  )

  /** The table is as far as the log was when this was asked. */
  const catchUp: Effect.Effect<void, QueueError> = Effect.gen(function* () {
    const before = replica.applied
    const last = yield* Effect.mapError(log.last, ({ message }) => unavailable(message))
    if (last < before) {
      // Receipts without an outcome are queued again.
      yield* Effect.logWarning("NATS lost messages of the queue, the log is read from its start")
      yield* landed
      replica.reset()
      yield* log.restart
    }
    if (unreadable !== undefined) return yield* unreadable
    if (last <= replica.applied) return
    const done = yield* Deferred.make<void>()
    waiters.push({ sequence: last, done })
    yield* Deferred.await(done).pipe(
      Effect.timeoutOrElse({
        duration: catchUpMillis,
        orElse: () => Effect.fail(unreadable ?? unavailable(`this node is ${last - replica.applied} messages behind`))
      })
    )
  })

  /** Reads that come in the same turn of the event loop ask once. */
  let asking: Deferred.Deferred<void, QueueError> | undefined
  const barrier: Effect.Effect<void, QueueError> = Effect.suspend(() => {
    if (asking !== undefined) return Deferred.await(asking)
    const asked = Deferred.makeUnsafe<void, QueueError>()
    asking = asked
    setImmediate(() => {
      asking = undefined
      tell(Effect.flatMap(Effect.exit(catchUp), (exit) => Deferred.done(asked, exit)))
    })
    return Deferred.await(asked)
  })

  const messageOf = (rows: ReadonlyArray<Row>): JournalMessage => ({ id: newId(), after: replica.last ?? "", rows })

  /** Whether the transaction whose answer was lost is in the log. It cannot come later: something else stands in its place then. */
  const isInLog = Effect.fnUntraced(function* (id: string) {
    const wanted = { id, found: false }
    doubt = wanted
    while (true) {
      yield* catchUp
      if (wanted.found) return true
      const fence = yield* Effect.result(log.append(encode(messageOf([])), replica.applied))
      if (Result.isSuccess(fence)) return false
      if (fence.failure.reason !== "conflict") return yield* unavailable(fence.failure.message)
    }
  })

  /** The table holds these changes already, and a flight is open. */
  const append = Effect.fnUntraced(function* (rows: ReadonlyArray<Row>) {
    const message = messageOf(rows)
    const answer = yield* Effect.result(log.append(encode(message), replica.applied))
    if (Result.isSuccess(answer)) {
      replica.commit(answer.success, message)
      land()
      return "done" as const
    }
    replica.rollback()
    land()
    const { message: why, reason } = answer.failure
    if (reason === "conflict") return "again" as const
    if (reason === "too_large") return "too_large" as const
    if (reason !== "unavailable") return yield* unavailable(why)
    return (yield* isInLog(message.id).pipe(
      Effect.timeoutOrElse({ duration: patienceMillis, orElse: () => Effect.fail(unavailable(why)) })
    ))
      ? ("done" as const)
      : ("again" as const)
  })

  const commit = Effect.fnUntraced(function* (
    operations: ReadonlyArray<Operation>
  ): Effect.fn.Return<ReadonlyArray<Result.Result<void, QueueError>>> {
    const deadline = (yield* Clock.currentTimeMillis) + patienceMillis
    let sure = false
    while (true) {
      const attempt = Effect.gen(function* () {
        const behind = replica.applied
        flight = Deferred.makeUnsafe()
        const rows = decide(replica, operations)
        if (rows.length === 0) {
          land()
          // What changes nothing here may change something there.
          if (sure) return "done" as const
          yield* catchUp
          sure = true
          return replica.applied === behind ? ("done" as const) : ("again" as const)
        }
        return yield* append([...rows, ...replica.carried()])
      }).pipe(Effect.onError(() => Effect.sync(land)))
      const outcome = yield* Effect.result(attempt)
      if (Result.isFailure(outcome)) return operations.map(() => Result.fail(outcome.failure))
      switch (outcome.success) {
        case "done":
          yield* trim
          return operations.map(() => Result.void)
        case "too_large": {
          if (operations.length === 1) {
            return [Result.fail(unavailable("a change is larger than the server's max_payload; raise it"))]
          }
          const half = operations.length >> 1
          return [...(yield* commit(operations.slice(0, half))), ...(yield* commit(operations.slice(half)))]
        }
        case "again": {
          const caught = yield* Effect.result(catchUp)
          if (Result.isFailure(caught)) return operations.map(() => Result.fail(caught.failure))
          if ((yield* Clock.currentTimeMillis) > deadline) {
            return operations.map(() => Result.fail(unavailable("other nodes write all the time")))
          }
          sure = false
          yield* Effect.sleep(Math.floor((yield* Random.next) * 4))
        }
      }
    }
  })

  let removed = 0
  const trim = Effect.suspend(() => {
    const { first } = replica
    if (first - removed < removeFrom) return Effect.void
    removed = first
    tell(
      Effect.catch(log.removeBefore(first), (error) =>
        Effect.logDebug("queue log not trimmed", { error: error.message })
      )
    )
    return Effect.void
  })

  yield* catchUp
  const commits = yield* GroupCommit.make({
    commit,
    maxBatch,
    maxWaiting,
    refuse: (why) => unavailable(why === "full" ? `${maxWaiting} operations wait` : "the service is stopping")
  })
  return {
    read: (use) => {
      const now: Effect.Effect<ReturnType<typeof use>> = Effect.suspend(() =>
        flight === undefined ? Effect.succeed(use(replica.table)) : Effect.andThen(Deferred.await(flight), now)
      )
      return Effect.andThen(barrier, now)
    },
    write: <A>(use: (table: EntryTable) => A) =>
      Effect.suspend(() => {
        let answer: { readonly value: A } | undefined
        const operation: Operation = (table) => {
          answer = { value: use(table) }
        }
        return Effect.flatMap(commits.submit(operation), (result) => {
          if (Result.isFailure(result)) return Effect.fail(result.failure)
          return answer === undefined
            ? Effect.die(new Error("A commit left an operation out"))
            : Effect.succeed(answer.value)
        })
      })
  }
})

/** Runs operations on the table; answers what they changed. One that throws takes all of it back. */
const decide = (replica: NatsReplica, operations: ReadonlyArray<Operation>): ReadonlyArray<Row> => {
  replica.begin()
  try {
    for (const operation of operations) operation(replica.table)
  } catch (cause) {
    replica.rollback()
    throw cause
  }
  return replica.changes()
}
