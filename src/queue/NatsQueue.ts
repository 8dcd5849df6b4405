/**
 * Implements the queue over JetStream (queue.kind nats) for several nodes. Every node holds all entries in memory; a log of changes with
 * compare-and-set (nats/NatsLog.ts) keeps them equal. A transaction decides on the table as of the last message and appends its changes
 * right behind that message. If another node appended first, the transaction is rolled back, the table catches up, and it decides again. So
 * every transition is atomic as in one process, tokens only increase, and every result is in the log.
 *
 * Reads query the position of the log and wait until the table has reached it. While NATS is disconnected every call fails as `unavailable`
 * within seconds. A transaction whose response was lost is searched for in the log first; if that is not possible, it may have happened.
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
  /** Name of the log; queues that share a server and a prefix have one each. `queue` by default. */
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
/** Timeout of a transaction, and maximum delay of a table. */
const patienceMillis = 5000
const catchUpMillis = 3000
/** Number of messages removed from the beginning of the log per call. */
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
  /** Messages of other nodes are held while a transaction is being appended. */
  let flight: Deferred.Deferred<void> | undefined
  let held: Array<Delivered> = []
  /** A transaction whose response was lost, and whether it is in the log. */
  let doubt: { readonly id: string; found: boolean } | undefined
  let unreadable: QueueError | undefined
  let waiters: Array<{ readonly sequence: number; readonly done: Deferred.Deferred<void> }> = []

  const arrived = () => {
    for (const { sequence, done } of waiters) {
      if (sequence <= replica.applied) Deferred.doneUnsafe(done, Effect.void)
    }
    waiters = waiters.filter(({ sequence }) => sequence > replica.applied)
  }
  /** Start of the last read of the log, and unexpected gaps by sequence. */
  let begin = 0
  const breaks = new Map<number, string>()
  /** Last damaged message that was logged. */
  let logged = 0
  const logDamage = (sequence: number, entry: Effect.Effect<void>) => {
    if (sequence <= logged) return
    logged = sequence
    tell(entry.pipe(Effect.annotateLogs({ log: name, sequence })))
  }
  /**
   * Returns whether a message follows the previous one. If not, the log lost messages that the table does not have, and is read from its
   * beginning. A gap that remains then is in the log itself, on every node, and is skipped.
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
  /** Returns false if the log has to be read from its beginning. */
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

  /** Waits until the table has reached the current end of the log. */
  const catchUp: Effect.Effect<void, QueueError> = Effect.gen(function* () {
    const before = replica.applied
    const last = yield* Effect.mapError(log.last, ({ message }) => unavailable(message))
    if (last < before) {
      // Receipts without an outcome are requeued.
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

  /** Reads of the same event loop iteration share one query. */
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

  /**
   * Returns whether the transaction whose response was lost is in the log. It cannot appear later, because another message has taken its
   * position.
   */
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

  /** Appends changes that the table already contains, while a flight is open. */
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
          // An operation without changes here may have changes on another state.
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
            return operations.map(() => Result.fail(unavailable("other nodes write continuously")))
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
            ? Effect.die(new Error("A commit returned no result for an operation"))
            : Effect.succeed(answer.value)
        })
      })
  }
})

/** Runs operations on the table; returns the changed rows. One that throws rolls all of them back. */
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
