/**
 * The queue of several nodes over a journal. A transaction decides on the node's table as of the last message and appends what it changed
 * right behind that message: when another node was first, it is rolled back, the table follows, and it decides again. So every transition
 * is as whole as in one process, and what was returned is in the journal.
 *
 * Reads request the last position and wait until the table is there. While the store of the journal is disconnected every call fails as
 * `unavailable`; a transaction whose response was lost is looked for in the journal first, and if that fails too, it may have happened.
 */
import { Effect, Layer, Result, Clock, Random } from "effect"
import type { Scope } from "effect"
import * as GroupCommit from "../../database/sql/GroupCommit.ts"
import type { EntryTable } from "../core/EntryTable.ts"
import { QueueError } from "../Queue.ts"
import type { Queue } from "../Queue.ts"
import type { QueueControl } from "../operator/QueueControl.ts"
import type { QueueLimits } from "../core/QueueLimits.ts"
import type { TableAccess } from "../core/TableQueue.ts"
import * as TableQueue from "../core/TableQueue.ts"
import { withDetails } from "./Details.ts"
import { JournalFollower } from "./JournalFollower.ts"
import { toQueueError, JournalError, newMessageId } from "./Journal.ts"
import type { Journal, JournalChanges } from "./Journal.ts"
import { Replica } from "../core/Replica.ts"
import { emptyText } from "../core/RowText.ts"
import type { Reason } from "../../domain/Reason.ts"

/**
 * One append to the journal for the operations that come together: decides, appends, and decides again when another node was first.
 */
type TableOperation = (table: EntryTable) => void

/** Milliseconds after which a transaction is not tried again. */
const timeoutMillis = 5000

const unavailable = (why: Reason): JournalError =>
  new JournalError({ reason: "unavailable", why: { _tag: "QueueFails", why } })

/** Changes nothing, but conflicts with whatever else has this scope. */
const fenceOf = (scope: ReadonlyArray<string>): JournalChanges => ({
  rows: emptyText,
  details: new Map(),
  scope,
  isStrict: true
})

/** Commits operations as one transaction, or as several if one would be larger than a message may be. Returns a result for each. */
const commitAll = Effect.fnUntraced(function* (
  journal: Journal,
  follower: JournalFollower,
  operations: ReadonlyArray<TableOperation>
): Effect.fn.Return<ReadonlyArray<Result.Result<void, JournalError>>> {
  const result = yield* commit(journal, follower, operations)
  const isTooLarge = Result.isFailure(result) && result.failure.reason === "too_large"
  if (!isTooLarge || operations.length === 1) return operations.map(() => result)
  const half = operations.length >> 1
  const first = yield* commitAll(journal, follower, operations.slice(0, half))
  return [...first, ...(yield* commitAll(journal, follower, operations.slice(half)))]
})

/** All or nothing. */
const commit = Effect.fnUntraced(function* (
  journal: Journal,
  follower: JournalFollower,
  operations: ReadonlyArray<TableOperation>
): Effect.fn.Return<Result.Result<void, JournalError>> {
  const deadline = (yield* Clock.currentTimeMillis) + timeoutMillis
  let conflicts = 0
  while (true) {
    const outcome = yield* Effect.result(attempt(journal, follower, operations))
    if (Result.isFailure(outcome)) return Result.fail(outcome.failure)
    if (outcome.success === "done") {
      follower.trimIfLong()
      return Result.void
    }
    if ((yield* Clock.currentTimeMillis) > deadline) return Result.fail(unavailable({ _tag: "QueueWritesConflict" }))
    conflicts += 1
    if (conflicts > 1) yield* Effect.sleep(Math.floor((yield* Random.next) * Math.min(conflicts, 8)))
  }
})

/** `behind`: another node was first, and the table follows it now. */
type Outcome = "done" | "behind"

const attempt = Effect.fnUntraced(function* (
  journal: Journal,
  follower: JournalFollower,
  operations: ReadonlyArray<TableOperation>
): Effect.fn.Return<Outcome, JournalError> {
  const { replica } = follower
  yield* follower.whenIdle(() => follower.beginAppend())
  const endAppend = Effect.sync(() => follower.endAppend())
  const decided = yield* Effect.sync(() => decide(follower, operations)).pipe(Effect.onError(() => endAppend))
  if (decided === undefined) {
    const { applied } = replica
    replica.rollback()
    follower.endAppend()
    // What changes nothing here may change something in a table that has more.
    yield* follower.catchUp
    return replica.applied.id === applied.id ? "done" : "behind"
  }
  return yield* append(journal, follower, decided)
})

/** Runs operations on the table; returns what they changed. When one throws nothing has changed. */
const decide = (
  { replica }: JournalFollower,
  operations: ReadonlyArray<TableOperation>
): JournalChanges | undefined => {
  replica.begin()
  try {
    for (const operation of operations) operation(replica.table)
    return replica.changes()
  } catch (cause) {
    replica.rollback()
    throw cause
  }
}

/** The table holds these changes already, and the transaction has not landed. */
const append = Effect.fnUntraced(function* (
  journal: Journal,
  follower: JournalFollower,
  changes: JournalChanges
): Effect.fn.Return<Outcome, JournalError> {
  const { replica } = follower
  const id = newMessageId()
  const back = () => {
    replica.rollback()
    follower.endAppend()
  }
  const appending = Effect.onError(journal.append(id, changes, replica.applied), () => Effect.sync(back))
  const appended = yield* Effect.result(appending)
  if (Result.isFailure(appended)) {
    if (appended.failure.reason !== "unavailable") return yield* appended.failure
    const isThere = yield* isInJournal(journal, follower, id, changes.scope).pipe(
      Effect.timeoutOrElse({ duration: timeoutMillis, orElse: () => Effect.fail(appended.failure) })
    )
    if (!isThere) return yield* appended.failure
    return "done"
  }
  switch (appended.success._tag) {
    case "Appended": {
      const { missed, position } = appended.success
      const failure = follower.commit(position, missed)
      if (failure !== undefined) return yield* failure
      return "done"
    }
    case "Conflict": {
      back()
      // What does not follow is read from the newest snapshot on.
      const { missed } = appended.success
      if (missed.length === 0 || !follower.apply(missed)) yield* follower.catchUp
      return "behind"
    }
  }
})

/** Whether the transaction whose response was lost is in the journal. It cannot come later: it would conflict with the fence. */
const isInJournal = Effect.fnUntraced(function* (
  journal: Journal,
  follower: JournalFollower,
  id: string,
  scope: ReadonlyArray<string>
): Effect.fn.Return<boolean, JournalError> {
  const expected = follower.trackAppend(id)
  while (true) {
    yield* follower.catchUp
    if (expected.outcome === "found") return true
    if (expected.outcome === "unknown") return yield* unavailable({ _tag: "QueueChangeUnclear" })
    const fence = yield* journal.append(newMessageId(), fenceOf(scope), follower.replica.applied)
    if (fence._tag === "Appended") return false
  }
})

/** Milliseconds between attempts to write a snapshot while another node writes one, and number of attempts. */
const retrimMillis = 500
const maxTrims = 120

/** Writes two snapshots: the second one removes the messages up to the first, which has what entries are now. */
const compact = Effect.fnUntraced(function* (journal: Journal, follower: JournalFollower) {
  for (const _ of ["first", "second"]) {
    yield* advance(journal, follower)
    yield* trimNow(follower)
  }
})

/** Appends a message that changes nothing, because a snapshot of the same position would be the one that exists. */
const advance = Effect.fnUntraced(function* (journal: Journal, follower: JournalFollower) {
  while (true) {
    yield* follower.catchUp
    const fence = yield* journal.append(newMessageId(), fenceOf([]), follower.replica.applied)
    if (fence._tag === "Appended") return yield* follower.catchUp
  }
})

const trimNow = Effect.fnUntraced(function* (follower: JournalFollower) {
  for (let attempts = 0; attempts < maxTrims; attempts++) {
    if (yield* follower.trim()) return
    yield* Effect.sleep(retrimMillis)
  }
  return yield* unavailable({ _tag: "QueueSnapshotBusy" })
})

const maxBatch = 256
const maxWaiting = 10_000
/**
 * Milliseconds between two reads of what other nodes appended. Each call reads it first, so this only shows pauses to those who watch them, and
 * keeps a node without calls from having much to apply at the next one.
 */
const pollMillis = 1000

export const layerJournal = <R>(
  journal: Effect.Effect<Journal, QueueError, R>,
  limits: QueueLimits
): Layer.Layer<Queue | QueueControl, QueueError, Exclude<R, Scope.Scope>> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const opened = yield* journal
      const access = yield* Effect.mapError(makeAccess(opened), toQueueError)
      return withDetails(opened.details, TableQueue.make(access, limits))
    })
  )

const makeAccess = Effect.fnUntraced(function* (
  journal: Journal
): Effect.fn.Return<TableAccess, JournalError, Scope.Scope> {
  const follower = new JournalFollower(journal, new Replica(), Effect.runForkWith(yield* Effect.context<never>()))
  yield* follower.catchUp
  yield* Effect.ignore(follower.catchUp).pipe(
    Effect.andThen(Effect.sleep(pollMillis)),
    Effect.forever,
    Effect.forkScoped
  )
  const commits = yield* GroupCommit.make({
    commit: (operations: ReadonlyArray<TableOperation>) => commitAll(journal, follower, operations),
    maxBatch,
    maxWaiting,
    refuse: (why) =>
      new QueueError({
        reason: "unavailable",
        why:
          why === "full"
            ? { _tag: "QueueFails", why: { _tag: "QueueOperationsWait", count: maxWaiting } }
            : { _tag: "ServiceStopping" }
      })
  })
  return {
    onPause: (listener) => follower.replica.onPause(listener),
    compact: Effect.mapError(compact(journal, follower), toQueueError),
    read: (use) => Effect.andThen(Effect.mapError(follower.barrier, toQueueError), follower.whenIdle(use)),
    write: <A>(use: (table: EntryTable) => A) =>
      Effect.suspend(() => {
        let computed: { readonly value: A } | undefined
        const operation: TableOperation = (table) => {
          computed = { value: use(table) }
        }
        return Effect.flatMap(commits.submit(operation), (result) => {
          if (Result.isFailure(result)) return Effect.fail(toQueueError(result.failure))
          return computed === undefined
            ? Effect.die(new Error("A commit left an operation out"))
            : Effect.succeed(computed.value)
        })
      })
  }
})
