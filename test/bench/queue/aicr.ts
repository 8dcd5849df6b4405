/** The queue of aicr: `aicr.ts memory`, `aicr.ts sqlite FOLDER`, `aicr.ts redis URL [NODE]` or `aicr.ts nats URL`. */
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { Cause, Effect, Exit, Layer, ManagedRuntime, Redacted, Result } from "effect"
import { NatsConnection } from "../../../nats/NatsConnection.ts"
import { natsSettings } from "../../../nats/NatsSettings.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { MicroBatch } from "../../../src/ingress/MicroBatch.ts"
import { layerJournal } from "../../../src/queue/journal/JournalQueue.ts"
import { makeRedisJournal } from "../../../src/queue/journal/RedisJournal.ts"
import { layerMemory } from "../../../src/queue/journal/MemoryQueue.ts"
import { makeNatsJournal } from "../../../src/queue/journal/NatsJournal.ts"
import { plan } from "../../../src/queue/Plan.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import type { QueueAdmission } from "../../../src/queue/Queue.ts"
import { makeSqliteJournal } from "../../../src/queue/journal/SqliteJournal.ts"
import { inBulk, nextChange, node, serve, slots, spread, workspaces } from "./Contender.ts"
import type { Order } from "./Contender.ts"

const [, , kind = "memory", place = ""] = process.argv
const limits = { perWorkspace: 1_000_000, total: 10_000_000 }
const bus = (url: string) => {
  const settings = Result.getOrThrow(natsSettings({ SVC_NATS_URL: url }))
  if (settings === undefined) throw new Error(`${url} is no address of NATS`)
  return NatsConnection.layer({ settings, name: "bench" })
}
const store =
  kind === "sqlite"
    ? layerJournal(makeSqliteJournal(join(place, "queue.db")), limits)
    : kind === "redis"
      ? layerJournal(makeRedisJournal(Redacted.make(place)), limits)
      : kind === "nats"
        ? layerJournal(makeNatsJournal(), limits).pipe(Layer.provide(bus(place)))
        : layerMemory(limits)
const queue = await ManagedRuntime.make(store).runPromise(Queue)
const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)

/** Workspaces of entries that are only added and never done: no scheduler scans them. Each process has its own. */
const admission = (what: Order["what"]): QueueAdmission => {
  const now = Date.now()
  const change = nextChange()
  return {
    eventId: newId(),
    change: { ...change, workspace: `${what === "cycles" ? "cycles" : "adds"}-${node}-${change.workspace}` },
    configHash: "c".repeat(64),
    priority: 10,
    admittedAt: now,
    dueAt: now
  }
}

interface Arrival {
  readonly item: QueueAdmission
  readonly done: () => void
  readonly failed: (error: unknown) => void
}

/** One admission, as the ingress makes it: together with other deliveries of the same iterations of the event loop. */
const arrivals = new MicroBatch<Arrival>((arrived) => {
  run(queue.admit(arrived.map(({ item }) => item))).then(
    () => arrived.forEach(({ done }) => done()),
    (error: unknown) => arrived.forEach(({ failed }) => failed(error))
  )
})
const add = (item: QueueAdmission): Promise<void> =>
  new Promise((done, failed) => {
    arrivals.add({ item, done, failed })
  })

/**
 * One cycle as a scheduler and its executors do it: a decision, tickets, and per ticket a claim and an end, which wakes the
 * scheduler.
 */
const scheduler = (workspace: string, places: number, ended: (how: Exit.Exit<void, unknown>) => void) => {
  const turns = new Map<string, number>()
  let looking = false
  let again = false
  const decide = async (): Promise<void> => {
    while (again) {
      // Wakes of one iteration of the event loop are one, as they are to the WorkspaceScheduler.
      await setImmediate()
      again = false
      const now = Date.now()
      const { promote } = plan(
        await run(queue.loadSnapshot(workspace, now, places)),
        { computing: places, awaiting: 0, replies: 0 },
        turns
      )
      if (promote.length === 0) continue
      const ids = promote.map(({ id }) => id)
      for (const id of await run(queue.promote(ids, now))) Effect.runCallback(review(id), { onExit: ended })
    }
    looking = false
  }
  const wake = (): void => {
    again = true
    if (looking) return
    looking = true
    decide().catch((error: unknown) => ended(Exit.die(error)))
  }
  // One fiber per review, as executors have it.
  const review = Effect.fnUntraced(function* (id: string) {
    const claimed = yield* queue.claim(id, `node-${node}/1`, Date.now(), 60_000)
    const done = claimed !== undefined && (yield* queue.finish(claimed.lease, { _tag: "Done" }))
    if (!done) return yield* Effect.die(new Error(`entry ${id} was lost`))
    wake()
  })
  return wake
}

const cycles = async (items: ReadonlyArray<QueueAdmission>): Promise<void> => {
  const done = Promise.withResolvers<void>()
  let left = items.length
  const ended = (how: Exit.Exit<void, unknown>) => {
    if (Exit.isFailure(how)) done.reject(Cause.squash(how.cause))
    if (--left === 0) done.resolve()
  }
  const wake = new Map(
    Array.from({ length: workspaces }, (_, index) => `cycles-${node}-workspace-${index}`).map((name) => [
      name,
      scheduler(name, slots / workspaces, ended)
    ])
  )
  const added = spread(items, async (item) => {
    await add(item)
    wake.get(item.change.workspace)?.()
  })
  await Promise.all([added, done.promise])
}

serve(admission, {
  adds: (items) => spread(items, add),
  bulk: (items) => inBulk(items, (some) => run(queue.admit(some))),
  cycles
})
