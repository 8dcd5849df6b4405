/** Tests faults of the queue over a journal in Redis: nodes that write concurrently, a journal that grows, is trimmed, hangs or is lost. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted, Result } from "effect"
import { Redis } from "ioredis"
import { layerJournal } from "../../../src/queue/journal/JournalQueue.ts"
import { journalStart } from "../../../src/queue/journal/Journal.ts"
import type { JournalChanges } from "../../../src/queue/journal/Journal.ts"
import { makeRedisJournal } from "../../../src/queue/journal/RedisJournal.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { QueueControl } from "../../../src/queue/operator/QueueControl.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { RedisServer } from "../../harness/Redis.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { admission } from "../Admissions.ts"
import { manyEntries } from "../Stores.ts"

const server = Effect.acquireRelease(
  Effect.promise(() => RedisServer.start()),
  (running) => Effect.promise(() => running[Symbol.asyncDispose]())
)
const journalAt = (url: string) => makeRedisJournal(Redacted.make(url), "aicr")
/** A node of its own, with its own connection. */
const node = Effect.fnUntraced(function* (url: string) {
  const context = yield* Layer.build(Layer.fresh(layerJournal(journalAt(url), manyEntries)))
  return { queue: Context.get(context, Queue), control: Context.get(context, QueueControl) }
})
const onServer = <A>(url: string, use: (redis: Redis) => Promise<A>) =>
  Effect.promise(async () => {
    const redis = new Redis(url)
    try {
      return await use(redis)
    } finally {
      redis.disconnect()
    }
  })
const eventually = <E>(condition: Effect.Effect<boolean, E>, what: string) =>
  Effect.promise(() =>
    waitUntil(() => Effect.runPromise(Effect.catch(condition, () => Effect.succeed(false))), { describe: () => what })
  )

const changes = (rows: string, scope: ReadonlyArray<string>, over: Partial<JournalChanges> = {}): JournalChanges => ({
  rows,
  scope,
  details: new Map(),
  isStrict: false,
  ...over
})

describe("RedisJournal", () => {
  it.live("appends what depends on nothing that its writer missed, and hands that over; the rest conflicts", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const journal = yield* journalAt(url)
      assert.deepStrictEqual(yield* journal.last, journalStart)
      const first = yield* journal.append("11", changes("1", ["a", "b"]), journalStart)
      assert.deepStrictEqual(first, { _tag: "Appended", position: { sequence: 1, id: "11" }, missed: [] })
      const one = { sequence: 1, id: "11", after: "0", rows: "1" }
      const other = yield* journal.append("22", changes("2", ["c"]), journalStart)
      assert.deepStrictEqual(other, { _tag: "Appended", position: { sequence: 2, id: "22" }, missed: [one] })
      const two = { sequence: 2, id: "22", after: "11", rows: "2" }
      const conflict = { _tag: "Conflict", missed: [one, two] } as const
      assert.deepStrictEqual(yield* journal.append("99", changes("3", ["x", "b"]), journalStart), conflict)
      const strict = changes("3", ["x"], { isStrict: true })
      assert.deepStrictEqual(yield* journal.append("99", strict, journalStart), conflict)
      assert.strictEqual((yield* journal.append("33", strict, { sequence: 2, id: "22" }))._tag, "Appended")
      // A position of another history.
      assert.strictEqual((yield* journal.append("99", changes("3", ["x"]), { sequence: 1, id: "1" }))._tag, "Conflict")
      assert.deepStrictEqual(
        (yield* journal.follow(1)).map(({ id }) => id),
        ["22", "33"]
      )
      assert.deepStrictEqual(yield* journal.last, { sequence: 3, id: "33" })
    }).pipe(Effect.scoped)
  )

  it.live("writes the details of entries with a message or not at all", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const journal = yield* journalAt(url)
      const details = new Map(Array.from({ length: 5000 }, (_, number) => [`entry-${number}`, `details of ${number}`]))
      assert.strictEqual((yield* journal.append("11", changes("1", ["a"], { details }), journalStart))._tag, "Appended")
      const position = yield* journal.last
      const other = changes("2", ["a"], { details: new Map([["entry-7", "other"]]) })
      assert.strictEqual((yield* journal.append("22", other, journalStart))._tag, "Conflict")
      assert.deepStrictEqual(yield* journal.details(["entry-7", "none"]), ["details of 7", undefined])
      const removal = changes("2", ["b"], { details: new Map([["entry-7", undefined]]) })
      assert.strictEqual((yield* journal.append("22", removal, position))._tag, "Appended")
      assert.deepStrictEqual(yield* journal.details(["entry-7", "entry-8"]), [undefined, "details of 8"])
    }).pipe(Effect.scoped)
  )

  it.live("keeps the newest snapshot and the messages behind the one before it", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const journal = yield* journalAt(url)
      for (let count = 1; count <= 9; count++)
        yield* journal.append(`${100 + count}`, changes(String(count), ["a"]), yield* journal.last)
      const snapshot = (sequence: number, texts: ReadonlyArray<string>) => {
        const pages = texts.values()
        const nextPage = Effect.sync(() => Option.fromUndefinedOr(pages.next().value))
        return journal.trim({ sequence, id: `${100 + sequence}` }, nextPage)
      }
      const loaded: Array<string> = []
      const load = Effect.suspend(() => journal.load((page) => loaded.splice(loaded.length, 0, page)))
      assert.isUndefined(yield* load)
      assert.isTrue(yield* snapshot(3, ["p1", "p2"]))
      assert.deepStrictEqual(yield* load, { sequence: 3, id: "103" })
      assert.strictEqual((yield* journal.follow(0)).length, 9)
      const long = Array.from({ length: 11 }, (_, page) => `page ${page}`)
      assert.isTrue(yield* snapshot(6, long))
      // An older one changes nothing.
      assert.isTrue(yield* snapshot(5, ["other"]))
      loaded.length = 0
      assert.deepStrictEqual(yield* load, { sequence: 6, id: "106" })
      assert.deepStrictEqual(loaded, long)
      assert.strictEqual((yield* journal.follow(0))[0]?.sequence, 4)
      yield* onServer(url, (redis) => redis.set("{aicr}:queue:writer", "another node"))
      assert.isFalse(yield* snapshot(9, ["p"]))
    }).pipe(Effect.scoped)
  )
})

describe("queue over a journal in Redis", () => {
  it.live("three nodes work on the same entries: each is done once, and all nodes say the same", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const nodes = yield* Effect.all([node(url), node(url), node(url)])
      const items = Array.from({ length: 200 }, (_, number) =>
        admission({ eventId: `event-${number}`, number, head: "a" })
      )
      // Each delivery reaches all three.
      const answers = yield* Effect.forEach(
        items.flatMap((item) => nodes.map(({ queue }) => queue.admit([item]))),
        (admitted) => admitted,
        { concurrency: "unbounded" }
      )
      const ids = [...new Set(answers.flat().map(({ entryId }) => entryId))]
      assert.strictEqual(ids.length, 200)
      assert.strictEqual(answers.flat().filter(({ status }) => status === "queued").length, 200)

      const finished: Array<string> = []
      const tokens = new Map<string, number>()
      const work = Effect.fnUntraced(function* ({ queue }: (typeof nodes)[number], name: string, id: string) {
        yield* queue.promote([id], 100)
        const claimed = yield* queue.claim(id, name, 100, 60_000)
        if (claimed === undefined) return
        assert.isAbove(claimed.lease.token, tokens.get(id) ?? 0)
        tokens.set(id, claimed.lease.token)
        // Some are requeued once, so that another node claims them with a higher token.
        const again = claimed.lease.token === 1 && ids.indexOf(id) % 5 === 0
        const how = again
          ? ({ _tag: "Retry", dueAt: 100, reason: verbatimReason("again"), counted: false } as const)
          : ({ _tag: "Done" } as const)
        assert.isTrue(yield* queue.finish(claimed.lease, how))
        if (!again) finished.push(id)
      })
      for (let round = 0; round < 2; round++) {
        yield* Effect.forEach(
          ids.flatMap((id) => nodes.map((one, index) => work(one, `node-${index}/1`, id))),
          (working) => working,
          { concurrency: "unbounded", discard: true }
        )
      }
      assert.sameMembers(finished, ids)
      const [first, ...others] = yield* Effect.forEach(nodes, ({ queue }) => queue.stats)
      assert.deepInclude(first?.byStatus, { done: 200, waiting: 0, ready: 0, running: 0 })
      for (const other of others) assert.deepStrictEqual(other, first)
    }).pipe(Effect.scoped)
  )

  it.live("what one node writes another reads immediately, pauses included", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const [one, two] = yield* Effect.all([node(url), node(url)])
      for (let number = 0; number < 50; number++) {
        const [admitted] = yield* one.queue.admit([admission({ number, head: "a" })])
        const entryId = admitted?.entryId ?? ""
        assert.strictEqual((yield* two.queue.get(entryId))?.status, "waiting")
        assert.deepStrictEqual(yield* two.queue.promote([entryId], 100), [entryId])
        assert.isDefined(yield* one.queue.claim(entryId, "one/1", 100, 60_000))
      }
      yield* one.control.pause({ scope: "workspace", name: "app", reason: verbatimReason("deploy"), since: 1 })
      assert.isTrue((yield* two.queue.loadSnapshot("app", 100, 1)).paused)
      yield* two.control.resume("workspace", "app")
      assert.deepStrictEqual(yield* one.control.pauses, [])
    }).pipe(Effect.scoped)
  )

  it.live("an event that two nodes admit in the same moment counts once, also for other targets", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const nodes = yield* Effect.all([node(url), node(url)])
      for (let number = 0; number < 50; number++) {
        const eventId = `event-${number}`
        const answers = yield* Effect.forEach(
          nodes,
          ({ queue }, index) => queue.admit([admission({ eventId, number: 100 * index + number, head: "a" })]),
          { concurrency: "unbounded" }
        )
        assert.sameMembers(
          answers.flat().map(({ status }) => status),
          ["queued", "duplicate"]
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("a node finds an entry that another one has just added, also next to work that it does by itself", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const [one, two] = yield* Effect.all([node(url), node(url)])
      for (let number = 0; number < 10; number++) {
        const [admitted] = yield* one.queue.admit([admission({ number, head: "a" })])
        const entryId = admitted?.entryId ?? ""
        // One transaction, which changes something in any case.
        const [released] = yield* Effect.all(
          [two.queue.promote([entryId], 100), two.queue.admit([admission({ number: 100 + number, head: "a" })])],
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(released, [entryId])
      }
    }).pipe(Effect.scoped)
  )

  it.live(
    "hangs in the middle of a transaction: calls end, and what is repeated happens once",
    () =>
      Effect.gen(function* () {
        const redis = yield* server
        const { queue } = yield* node(redis.url)
        yield* queue.admit([admission({ number: 1, head: "a" })])
        redis.freeze()
        const items = Array.from({ length: 20 }, (_, index) =>
          admission({ eventId: `event-${index}`, number: 100 + index, head: "a" })
        )
        const began = performance.now()
        const results = yield* Effect.forEach(items, (item) => Effect.result(queue.admit([item])), {
          concurrency: "unbounded"
        })
        assert.isTrue(results.every(Result.isFailure))
        assert.isBelow(performance.now() - began, 15_000)
        redis.thaw()
        yield* eventually(Effect.isSuccess(queue.stats), "it answers again")
        const again = (yield* Effect.forEach(items, (item) => queue.admit([item]))).flat()
        assert.strictEqual(new Set(again.map(({ entryId }) => entryId)).size, 20)
        const other = yield* Effect.scoped(Effect.flatMap(node(redis.url), (one) => one.queue.load("app")))
        assert.strictEqual(other.length, 21)
        assert.deepStrictEqual(yield* queue.load("app"), other)
      }).pipe(Effect.scoped),
    60_000
  )

  it.live("a node that starts reads a snapshot and what came after it, and one that was left behind goes on", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const { control, queue } = yield* node(url)
      const items = Array.from({ length: 30_000 }, (_, number) =>
        admission({ eventId: `event-${number}`, number, head: "a", workspace: `w${number % 7}` })
      )
      const limit = 1000
      for (let at = 0; at < items.length; at += limit) yield* queue.admit(items.slice(at, at + limit))
      yield* control.pause({ scope: "node", name: "n", reason: verbatimReason("r"), since: 1 })
      yield* eventually(
        onServer(url, async (redis) => (await redis.exists("{aicr}:queue:snapshot")) === 1),
        "a snapshot is written"
      )
      const slow = yield* node(url)
      const [first] = yield* queue.load("w0")
      yield* queue.promote([first?.id ?? ""], 100)
      const state = (one: typeof slow) =>
        Effect.all([one.queue.stats, one.queue.load("w0"), one.control.pauses, one.queue.loadSnapshot("w0", 100, 5)])
      const late = yield* node(url)
      const [expected, ofSlow, ofLate] = [yield* state({ control, queue }), yield* state(slow), yield* state(late)]
      assert.deepStrictEqual(ofLate.slice(0, 3), expected.slice(0, 3))
      assert.deepStrictEqual(ofSlow.slice(0, 3), expected.slice(0, 3))
      assert.deepStrictEqual(
        ofLate[3].eligible.map(({ id }) => id).toSorted(),
        expected[3].eligible.map(({ id }) => id).toSorted()
      )
      assert.strictEqual(expected[0].byStatus.waiting, 29_999)
      // All that is behind is gone: the node reads the snapshot.
      yield* onServer(url, (redis) => redis.xtrim("{aicr}:queue:log", "MAXLEN", 1))
      yield* late.queue.admit([admission({ eventId: "last", number: 40_000, head: "a", workspace: "w0" })])
      assert.strictEqual((yield* slow.queue.stats).byStatus.waiting, 30_000)
    }).pipe(Effect.scoped)
  )

  it.live("a journal that was lost begins again, on every node", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const [one, two] = yield* Effect.all([node(url), node(url)])
      for (const number of [1, 2, 3]) yield* one.queue.admit([admission({ number, head: "a" })])
      assert.strictEqual((yield* two.queue.load("app")).length, 3)
      yield* onServer(url, (redis) => redis.flushall())
      yield* two.queue.admit([admission({ number: 4, head: "a" })])
      assert.deepStrictEqual(
        (yield* one.queue.load("app")).map(({ change }) => change.target.number),
        [4]
      )
      // It grew again behind the position of a node that had more.
      assert.deepStrictEqual(yield* two.queue.stats, yield* one.queue.stats)
    }).pipe(Effect.scoped)
  )

  it.live("an entry whose details are damaged or missing is dead, with this reason", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const { queue } = yield* node(url)
      const ids = (yield* queue.admit([1, 2, 3].map((number) => admission({ number, head: "a" })))).map(
        ({ entryId }) => entryId
      )
      const [damaged = "", missing = "", sound = ""] = ids
      yield* onServer(url, async (redis) => {
        await redis.hset("{aicr}:queue:details", damaged, '["gitea"]')
        await redis.hdel("{aicr}:queue:details", missing)
      })
      yield* queue.promote(ids, 100)
      assert.isUndefined(yield* queue.claim(damaged, "node/1", 100, 50))
      assert.isUndefined(yield* queue.claim(missing, "node/1", 100, 50))
      assert.isDefined(yield* queue.claim(sound, "node/1", 100, 50))
      assert.deepInclude((yield* queue.stats).byStatus, { dead: 2, running: 1 })
      const found = yield* queue.get(missing)
      assert.deepInclude(found, {
        status: "dead",
        reason: { _tag: "Quarantined", what: "its details", why: "they are missing" }
      })
    }).pipe(Effect.scoped)
  )

  it.live("refuses a message that a newer release wrote, and does not skip it", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const { queue } = yield* node(url)
      yield* queue.admit([admission({ number: 1, head: "a" })])
      const journal = yield* journalAt(url)
      yield* journal.append("7", changes('[2,[],[["a","b","c"]]]', ["x"]), yield* journal.last)
      const late = Effect.scoped(Effect.asVoid(node(url)))
      const admit = queue.admit([admission({ number: 2, head: "a" })])
      for (const use of [Effect.asVoid(queue.stats), Effect.asVoid(admit), late]) {
        const error = yield* Effect.flip(use)
        assert.match(error.message, /a newer release wrote a message of its journal .* Upgrade this node/)
      }
    }).pipe(Effect.scoped)
  )
})
