/**
 * The queue of several nodes over a journal. A transaction decides on the node's table as of the last message and appends what it changed
 * right behind that message: when another node was first, it is rolled back, the table follows, and it decides again. So every transition
 * is as whole as in one process, and what was returned is in the journal.
 *
 * Reads request the last position and wait until the table is there. While the store of the journal is disconnected every call fails as
 * `unavailable`; a transaction whose response was lost is looked for in the journal first, and if that fails too, it may have happened.
 */
import { Effect, Layer, Result } from "effect"
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
import { toQueueError } from "./Journal.ts"
import type { Journal, JournalError } from "./Journal.ts"
import { Replica } from "../core/Replica.ts"
import { commitAll } from "./Transaction.ts"
import type { TableOperation } from "./Transaction.ts"

const maxBatch = 256
const maxWaiting = 10_000
/**
 * Milliseconds between two reads of what other nodes appended. Each call reads it first, so this only keeps a node without calls from having much to
 * apply at the next one.
 */
const pollMillis = 2000

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
