/** Tests damage in Redis: records that the service did not write, or that are missing, are skipped with a reason and fail no other work. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Option, Redacted } from "effect"
import { Redis } from "ioredis"
import { Replica } from "../../../src/queue/core/Replica.ts"
import { layerJournal } from "../../../src/queue/journal/JournalQueue.ts"
import { makeRedisJournal } from "../../../src/queue/journal/RedisJournal.ts"
import { QueueControl } from "../../../src/queue/operator/QueueControl.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { RedisServer } from "../../harness/Redis.ts"
import { admission, before } from "../Admissions.ts"
import { manyEntries } from "../Stores.ts"
import { inEnglish } from "../../../src/text/en.ts"

const key = (name: string) => `{aicr}:queue:${name}`
const log = key("log")

/** The entries of the workspace `app` before the damage, each admitted by a message of its own: these are the messages 1 to 4. */
interface World {
  readonly raw: Redis
  readonly ids: Readonly<Record<"running" | "ready" | "due" | "later", string>>
  /** Positions of the messages. */
  readonly positions: ReadonlyArray<string>
}
type Name = keyof World["ids"]

interface Damage {
  readonly what: string
  readonly damage: (world: World) => Promise<unknown>
  /** Whether a snapshot has the first messages. */
  readonly hasSnapshot?: boolean
  /** Entries that a node that starts then does not find. */
  readonly lost?: ReadonlyArray<Name>
  /** Number of quarantined entries. */
  readonly quarantined?: number
  readonly reason?: RegExp
}

const all: ReadonlyArray<Name> = ["running", "ready", "due", "later"]
const missing = /journal are missing/
const damaged = /damage in the queue's journal quarantined/
const lastOf = ({ positions }: World): string => positions.at(-1) ?? ""
/** Appends a message with these rows behind the last one. */
const append =
  (rows: (world: World) => string): Damage["damage"] =>
  (world) => {
    const position = `${positionsOf(world) + 1}-1`
    const appended = world.raw.multi().xadd(log, position, "after", lastOf(world), "scope", "x", "rows", rows(world))
    return appended.set(key("last"), position).exec()
  }
const positionsOf = (world: World): number => Number.parseInt(lastOf(world), 10)
const shapes = ["", "not JSON", "7", "null", "[]", '{"a":1}', '["1",[],[]]', "[1,[]]", "[1,[],[7]]", "[1,[],[[7]]]"]

const damages: ReadonlyArray<Damage> = [
  ...shapes.map((rows) => ({
    what: `a message with the rows ${rows}`,
    damage: append(() => rows),
    quarantined: 1,
    reason: damaged
  })),
  {
    what: "a message without its fields",
    damage: (world) => world.raw.xadd(log, `${positionsOf(world) + 1}-1`, "junk", "bytes"),
    quarantined: 1,
    reason: damaged
  },
  {
    what: "a message with a position of its own",
    damage: ({ raw }) => raw.xadd(log, "*", "junk", "bytes"),
    quarantined: 1,
    reason: missing
  },
  {
    what: "a second message with the sequence of the last",
    damage: (world) => world.raw.xadd(log, `${positionsOf(world)}-18446744073709551615`, "junk", "bytes")
  },
  {
    what: "a row of an entry that is known",
    damage: append(({ ids }) => JSON.stringify([1, [], [[ids.ready, 99]]])),
    quarantined: 1,
    reason: damaged
  },
  { what: "no first message", damage: ({ positions, raw }) => raw.xdel(log, positions[0] ?? ""), reason: missing },
  {
    what: "no message in the middle",
    damage: ({ positions, raw }) => raw.xdel(log, positions[2] ?? ""),
    lost: ["due"],
    reason: missing
  },
  { what: "no messages", damage: ({ raw }) => raw.xtrim(log, "MAXLEN", 0), lost: all, reason: missing },
  { what: "no log", damage: ({ raw }) => raw.del(log), lost: all, reason: /it lost messages/ },
  { what: "no log behind a snapshot", damage: ({ raw }) => raw.del(log), hasSnapshot: true, lost: ["later"] },
  {
    what: "a snapshot that is no position",
    damage: ({ raw }) => raw.set(key("snapshot"), "junk"),
    hasSnapshot: true,
    lost: ["running", "ready"],
    reason: /snapshot of the queue's journal is lost/
  },
  {
    what: "no pages of the snapshot",
    damage: async ({ raw }) => raw.del(...(await raw.keys(key("pages:*")))),
    hasSnapshot: true,
    lost: ["running", "ready"],
    reason: /snapshot of the queue's journal is lost/
  },
  {
    what: "a damaged page of the snapshot",
    damage: async ({ raw }) => {
      for (const pages of await raw.keys(key("pages:*"))) await raw.lset(pages, 0, "junk")
    },
    hasSnapshot: true,
    lost: ["running", "ready", "due"],
    quarantined: 1,
    reason: /damage in the queue's snapshot quarantined/
  }
]

const server = Effect.acquireRelease(
  Effect.promise(() => RedisServer.start()),
  (running) => Effect.promise(() => running[Symbol.asyncDispose]())
)
const journalAt = (url: string) => makeRedisJournal(Redacted.make(url), "aicr")
const node = Effect.fnUntraced(function* (url: string) {
  const context = yield* Layer.build(Layer.fresh(layerJournal(journalAt(url), manyEntries)))
  return { queue: Context.get(context, Queue), control: Context.get(context, QueueControl) }
})

/** Writes a snapshot of the first messages, and one of some more, which removes those of the first. */
const writeSnapshots = Effect.fnUntraced(function* (url: string) {
  const journal = yield* journalAt(url)
  const replica = new Replica()
  const messages = yield* journal.follow(0)
  for (const count of [2, 3]) {
    for (const message of messages.filter(({ sequence }) => sequence > replica.applied.sequence && sequence <= count))
      replica.apply(message)
    const pages = replica.pages()
    const nextPage = Effect.sync(() => Option.fromUndefinedOr(pages.next().value ?? undefined))
    assert.isTrue(yield* journal.trim(replica.applied, nextPage))
  }
})

describe("damage in Redis", () => {
  it.live.each(damages)("$what: blocks no operation", ({ damage, hasSnapshot, lost = [], quarantined = 0, reason }) =>
    Effect.gen(function* () {
      const { url } = yield* server
      const raw = new Redis(url)
      yield* Effect.addFinalizer(() => Effect.sync(() => raw.disconnect()))
      const lines: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void lines.push(JSON.stringify(message)))])
      const one = yield* Effect.provide(node(url), logger)
      const admit = ({ queue }: typeof one, number: number, over: object = {}) =>
        Effect.map(queue.admit([admission({ number, head: "a", ...over })]), ([first]) => first?.entryId ?? "")
      const [running, ready] = [yield* admit(one, 1), yield* admit(one, 2)]
      const due = yield* admit(one, 3, { expires: true, eventId: "event-due" })
      const later = yield* admit(one, 4, { dueAt: 150 })
      const ids = { running, ready, due, later }
      if (hasSnapshot === true) yield* writeSnapshots(url)
      else {
        yield* one.queue.promote([running, ready], 100)
        assert.isDefined(yield* one.queue.claim(running, "node/1", 100, 60_000))
      }
      const positions = (yield* Effect.promise(() => raw.xrange(log, "-", "+"))).map(([position]) => position)
      yield* Effect.promise(() => damage({ raw, ids, positions }))

      // A node that has the table, and one that starts.
      yield* one.queue.stats
      const late = yield* Effect.provide(node(url), logger)
      const found = (yield* late.control.list({ limit: 100 })).entries
      assert.sameMembers(
        found.filter(({ id }) => Object.values(ids).includes(id)).map(({ id }) => id),
        all.filter((name) => !lost.includes(name)).map((name) => ids[name])
      )
      const isDead = ({ status }: (typeof found)[number]) => status === "dead"
      for (const { reason: why } of found.filter(isDead)) assert.strictEqual(why?._tag, "Quarantined")
      assert.lengthOf(found.filter(isDead), quarantined)

      // Each operation, and each node sees what the other one does.
      const [mine, other] = [yield* admit(one, 50), yield* admit(late, 51)]
      for (const { queue } of [one, late]) {
        assert.isDefined(yield* queue.get(mine))
        assert.deepStrictEqual(yield* queue.promote([mine, other], 100), [mine, other])
        assert.includeMembers(
          (yield* queue.loadSnapshot("app", 200, 9)).inFlight.map(({ id }) => id),
          [mine, other]
        )
        yield* queue.demote([mine, other])
      }
      yield* late.queue.promote([mine, other], 100)
      const claimed = yield* one.queue.claim(other, "node/1", 100, 50)
      assert.isTrue(claimed !== undefined && (yield* late.queue.finish(claimed.lease, { _tag: "Done" })))
      assert.isDefined(yield* late.queue.claim(mine, "node/1", 100, 50))
      assert.includeMembers(
        (yield* one.queue.reclaim(1000, () => false)).map(({ id }) => id),
        [mine]
      )
      const again = yield* late.queue.admit([admission({ number: 3, head: "a", eventId: "event-due" })])
      assert.isDefined(yield* one.queue.get(again[0]?.entryId ?? ""))
      yield* late.queue.expire(before(5000), { _tag: "QueuedTimeout" })
      for (const { control, queue } of [one, late])
        for (const { id } of yield* queue.load("app")) yield* control.cancelEntry(id, verbatimReason("over"))
      yield* late.queue.reclaim(100_000, () => true)
      for (const { queue } of [one, late]) yield* queue.prune({ maxCount: 0, before: 0 })
      for (const { queue } of [one, late])
        assert.deepStrictEqual(
          Object.entries((yield* queue.stats).byStatus).filter(([, count]) => count > 0),
          []
        )
      if (reason !== undefined) assert.match(lines.join("\n"), reason)
    }).pipe(Effect.scoped)
  )

  it.live(
    "keeps what is known of an entry whose row is damaged: its target is free, and its event is a duplicate",
    () =>
      Effect.gen(function* () {
        const { url } = yield* server
        const raw = new Redis(url)
        yield* Effect.addFinalizer(() => Effect.sync(() => raw.disconnect()))
        const { queue } = yield* node(url)
        const item = admission({ number: 1, head: "a", admittedAt: 3 })
        const [admitted] = yield* queue.admit([item])
        const id = admitted?.entryId ?? ""
        yield* queue.promote([id], 100)
        const claimed = yield* queue.claim(id, "node/1", 100, 50)
        const positions = (yield* Effect.promise(() => raw.xrange(log, "-", "+"))).map(([position]) => position)
        const damage = append(() => JSON.stringify([1, [], [[id, "junk"]]]))
        yield* Effect.promise(() => damage({ raw, ids: { running: id, ready: "", due: "", later: "" }, positions }))
        const entry = yield* queue.get(id)
        assert.deepInclude(entry, { status: "dead", admittedAt: 3, events: [item.eventId], workspace: "app" })
        assert.match(
          entry?.reason === undefined ? "" : inEnglish(entry.reason),
          /^quarantined: message 4 of the queue's journal cannot be read/
        )
        assert.deepInclude(entry?.change, item.change)
        assert.isTrue(claimed !== undefined && !(yield* queue.finish(claimed.lease, { _tag: "Done" })))
        const again = yield* queue.admit([item, admission({ number: 1, head: "a" })])
        assert.deepStrictEqual(
          again.map(({ status }) => status),
          ["duplicate", "queued"]
        )
      }).pipe(Effect.scoped)
  )
})
