/** Implements the queue over a table of entries. One write is one transaction. */
import { Context, Effect } from "effect"
import type { Entry } from "../../domain/Entry.ts"
import type { EntryTable } from "./EntryTable.ts"
import { Queue, QueueError } from "../Queue.ts"
import { QueueControl } from "../operator/QueueControl.ts"
import type { QueueLimits } from "./QueueLimits.ts"
import { storable } from "./Storable.ts"
import * as Steps from "./TableSteps.ts"

/** Entries ended or removed in one transaction, so that none takes long. */
const maxPerTransaction = 1000

export interface TableAccess {
  /** Runs `use` in a transaction, possibly shared; succeeds when its writes are durable. */
  readonly write: <A>(use: (table: EntryTable) => A) => Effect.Effect<A, QueueError>
  readonly read: <A>(use: (table: EntryTable) => A) => Effect.Effect<A, QueueError>
}

export const make = (access: TableAccess, limits: QueueLimits): Context.Context<Queue | QueueControl> =>
  Context.make(Queue, queue(access, limits)).pipe(Context.add(QueueControl, control(access)))

const queue = ({ write, read }: TableAccess, limits: QueueLimits): Queue["Service"] =>
  Queue.of({
    admit: (given) => {
      const items = given.map(storable)
      return Effect.flatMap(
        write((table) => Steps.admit(table, items, limits)),
        (result) => (result instanceof QueueError ? Effect.fail(result) : Effect.succeed(result))
      )
    },
    load: (workspace) => read((table) => table.active(workspace)),
    loadSnapshot: (workspace, now, places) => read((table) => table.snapshot(workspace, now, places)),
    workspaces: read((table) => table.workspaces()),
    get: (entryId) => read((table) => table.get(entryId)),
    withHead: (head) => read((table) => table.withHead(head)),
    promote: (entryIds, now) => write((table) => Steps.release(table, entryIds, now)),
    demote: (entryIds) => write((table) => Steps.withdraw(table, entryIds)),
    claim: (entryId, owner, now, ttlMillis) =>
      write((table) => Steps.claim(table, entryId, { owner, until: now + ttlMillis })),
    renew: (lease, until) => write((table) => Steps.renew(table, lease, until)),
    awaitModel: (lease) => write((table) => Steps.awaitModel(table, lease)),
    finish: (lease, how) => write((table) => Steps.finish(table, lease, how)),
    cancel: (target, reason) => write((table) => Steps.cancelTarget(table, target, reason)),
    reclaim: (now, lost) => write((table) => Steps.reclaim(table, now, lost)),

    expire: Effect.fnUntraced(function* (before, reason) {
      const all: Array<Entry> = []
      while (true) {
        const some = yield* write((table) => Steps.expire(table, before, reason, maxPerTransaction))
        all.push(...some)
        if (some.length < maxPerTransaction) return all
      }
    }),

    prune: Effect.fnUntraced(function* (keep) {
      let removed = 0
      while (true) {
        const some = yield* write((table) => table.prune(keep, maxPerTransaction))
        removed += some
        if (some < maxPerTransaction) return removed
        yield* Effect.yieldNow
      }
    }),
    stats: read((table) => ({ byStatus: table.byStatus(), oldestWaiting: table.oldestWaiting() }))
  })

const control = ({ write, read }: TableAccess): QueueControl["Service"] =>
  QueueControl.of({
    list: (filter) => read((table) => table.list(filter)),
    cancelEntry: (entryId, reason) => write((table) => Steps.cancelEntry(table, entryId, reason)),
    retry: (entryId, now) => write((table) => Steps.retry(table, entryId, now)),
    pause: (pause) => write((table) => table.setPause(pause.scope, pause.name, pause)),
    resume: (scope, name) => write((table) => table.setPause(scope, name, undefined)),
    pauses: read((table) => table.pauses())
  })
