/** Tests faults of the queue over a journal in NATS: concurrent writers, a server that disconnects, hangs or loses data, a log that grows or is damaged. */
import { randomBytes } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { jetstream, jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { Context, Effect, Layer, Logger, Result } from "effect"
import { NatsConnection } from "../../../nats/NatsConnection.ts"
import { NatsError } from "../../../nats/NatsError.ts"
import { natsSettings } from "../../../nats/NatsSettings.ts"
import { layerJournal } from "../../../src/queue/journal/JournalQueue.ts"
import { makeNatsJournal, toQueueError } from "../../../src/queue/journal/NatsJournal.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { QueueControl } from "../../../src/queue/operator/QueueControl.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { NatsServer } from "../../harness/Nats.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { admission } from "../Admissions.ts"
import { manyEntries } from "../Stores.ts"
import { inEnglish } from "../../../src/text/en.ts"

const server = Effect.acquireRelease(
  Effect.promise(() => NatsServer.start()),
  (running) => Effect.promise(() => running[Symbol.asyncDispose]())
)

/** A separate node with a separate connection. */
const node = Effect.fnUntraced(function* (url: string, name = "node") {
  const settings = Result.getOrThrow(natsSettings({ SVC_NATS_URL: url }))
  if (settings === undefined) throw new Error("no NATS")
  const layer = layerJournal(makeNatsJournal(), manyEntries).pipe(
    Layer.provide(NatsConnection.layer({ settings, name }))
  )
  const context = yield* Layer.build(Layer.fresh(layer))
  return { queue: Context.get(context, Queue), control: Context.get(context, QueueControl) }
})

const eventually = <E>(condition: Effect.Effect<boolean, E>, what: string) =>
  Effect.promise(() =>
    waitUntil(() => Effect.runPromise(Effect.catch(condition, () => Effect.succeed(false))), { describe: () => what })
  )

/** The stream as the server has it. */
const inStream = <A>(url: string, use: (manager: Awaited<ReturnType<typeof jetstreamManager>>) => Promise<A>) =>
  Effect.promise(async () => {
    const connection = await connect({ servers: url })
    try {
      return await use(await jetstreamManager(connection))
    } finally {
      await connection.close()
    }
  })
const stream = "aicr_log_queue-journal"

/** Appends bytes to the log that no node would write. */
const append = (url: string, bytes: Uint8Array) =>
  Effect.promise(async () => {
    const connection = await connect({ servers: url })
    try {
      const { config } = await (await jetstreamManager(connection)).streams.info(stream)
      await jetstream(connection).publish(config.subjects[0] ?? "", bytes)
    } finally {
      await connection.close()
    }
  })

/** Id of the last message. */
const lastId = (url: string) =>
  inStream(url, async (manager) => {
    const { state } = await manager.streams.info(stream)
    const message = await manager.streams.getMessage(stream, { seq: state.last_seq })
    const { id }: { id: string } = JSON.parse(message?.string() ?? "")
    return id
  })

/** A server whose messages are at most 64 KB long. */
const small = Effect.acquireRelease(
  Effect.promise(() => NatsServer.start({ config: "max_payload: 64KB" })),
  (running) => Effect.promise(() => running[Symbol.asyncDispose]())
)

describe("NatsJournal", () => {
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
        // Some are released once, so that another node claims them with a higher token.
        const back = claimed.lease.token === 1 && ids.indexOf(id) % 5 === 0
        const how = back
          ? ({ _tag: "Retry", dueAt: 100, reason: verbatimReason("again"), counted: false } as const)
          : ({ _tag: "Done" } as const)
        assert.isTrue(yield* queue.finish(claimed.lease, how))
        if (!back) finished.push(id)
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

  it.live("another node reads writes immediately, including pauses", () =>
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

  it.live(
    "is unavailable for ten seconds: fails immediately, and keeps all acknowledged entries",
    () =>
      Effect.gen(function* () {
        const nats = yield* server
        const { queue } = yield* node(nats.url)
        const [first] = yield* queue.admit([admission({ number: 1, head: "a" })])
        yield* queue.admit([admission({ number: 2, head: "a" })])
        yield* queue.promote([first?.entryId ?? ""], 100)
        const claimed = yield* queue.claim(first?.entryId ?? "", "node/1", 100, 60_000)
        yield* Effect.promise(() => nats.kill())
        yield* eventually(Effect.isFailure(queue.stats), "the connection is known to be gone")
        const killed = performance.now()
        while (performance.now() - killed < 10_000) {
          const began = performance.now()
          const error = yield* Effect.flip(queue.admit([admission({ number: 3, head: "a" })]))
          assert.strictEqual(error.reason, "unavailable")
          assert.isBelow(performance.now() - began, 1500)
          yield* Effect.sleep("200 millis")
        }
        yield* Effect.promise(() => nats.start())
        yield* eventually(Effect.isSuccess(queue.stats), "it answers again")
        assert.deepInclude((yield* queue.stats).byStatus, { waiting: 1, running: 1 })
        assert.isTrue(claimed !== undefined && (yield* queue.finish(claimed.lease, { _tag: "Done" })))
        yield* queue.admit([admission({ number: 3, head: "a" })])
        assert.strictEqual((yield* queue.load("app")).length, 2)
      }).pipe(Effect.scoped),
    60_000
  )

  it.live(
    "hangs in the middle of a transaction: no call waits forever, and a repeated one happens once",
    () =>
      Effect.gen(function* () {
        const nats = yield* server
        const { queue } = yield* node(nats.url)
        yield* queue.admit([admission({ number: 1, head: "a" })])
        for (let round = 0; round < 3; round++) {
          nats.freeze()
          const items = Array.from({ length: 20 }, (_, index) =>
            admission({ eventId: `event-${round}-${index}`, number: 100 * (round + 1) + index, head: "a" })
          )
          const began = performance.now()
          const results = yield* Effect.forEach(items, (item) => Effect.result(queue.admit([item])), {
            concurrency: "unbounded"
          })
          assert.isTrue(results.every(Result.isFailure))
          assert.isBelow(performance.now() - began, 15_000)
          nats.thaw()
          yield* eventually(Effect.isSuccess(queue.stats), "it answers again")
          const again = (yield* Effect.forEach(items, (item) => queue.admit([item]))).flat()
          assert.strictEqual(new Set(again.map(({ entryId }) => entryId)).size, 20)
          const other = yield* Effect.scoped(Effect.flatMap(node(nats.url, "other"), (one) => one.queue.load("app")))
          assert.strictEqual(other.length, 1 + 20 * (round + 1))
          assert.deepStrictEqual(
            (yield* queue.load("app")).map(({ id, events }) => [id, events]),
            other.map(({ id, events }) => [id, events])
          )
        }
      }).pipe(Effect.scoped),
    120_000
  )

  it.live("a node that starts reads a snapshot and what came after it, and one that missed messages reads it too", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const { control, queue } = yield* node(url)
      const slow = yield* node(url, "slow")
      const isTrimmed = Effect.map(
        inStream(url, async (manager) => (await manager.streams.info(stream)).state),
        ({ first_seq }) => first_seq > 1
      )
      // The second snapshot removes what the first one holds; when snapshots begin depends on the speed of the machine.
      let count = 0
      while (count < 200_000 && !(yield* isTrimmed)) {
        const numbers = Array.from({ length: 1000 }, (_, at) => count + at)
        yield* queue.admit(
          numbers.map((number) =>
            admission({ eventId: `event-${number}`, number, head: "a", workspace: `w${number % 7}` })
          )
        )
        count += numbers.length
      }
      yield* control.pause({ scope: "node", name: "n", reason: verbatimReason("r"), since: 1 })
      yield* eventually(isTrimmed, "the beginning of the log is removed")
      const [first] = yield* queue.load("w0")
      yield* queue.promote([first?.id ?? ""], 100)
      const state = (one: typeof slow) => Effect.all([one.queue.stats, one.queue.load("w0"), one.control.pauses])
      const late = yield* node(url, "late")
      const expected = yield* state({ control, queue })
      assert.deepInclude(expected[0].byStatus, { waiting: count - 1, ready: 1 })
      for (const one of [late, slow]) assert.deepStrictEqual(yield* state(one), expected)
    }).pipe(Effect.scoped)
  )

  it.live("compaction removes the messages with earlier changes of entries, and other nodes follow", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const { control, queue } = yield* node(url)
      const other = yield* node(url, "other")
      const item = admission({ number: 1, head: "a" })
      const change = { ...item.change, title: "Words of a person" }
      const [admitted] = yield* queue.admit([{ ...item, change }])
      const id = admitted?.entryId ?? ""
      yield* control.cancelEntry(id, verbatimReason("r"))
      yield* control.replaceEnded([{ id, change: { ...change, title: "[erased]" }, reason: undefined }])
      const before = yield* inStream(url, async (manager) => (await manager.streams.info(stream)).state.last_seq)
      yield* control.compact
      const { first_seq } = yield* inStream(url, async (manager) => (await manager.streams.info(stream)).state)
      assert.isAbove(first_seq, before)
      const late = yield* node(url, "late")
      for (const one of [other, late]) assert.strictEqual((yield* one.queue.get(id))?.change.title, "[erased]")
    }).pipe(Effect.scoped)
  )

  it.live("a batch that is larger than a message may be is divided", () =>
    Effect.gen(function* () {
      const { url } = yield* small
      const { queue } = yield* node(url)
      // Random, so that compression does not make it small.
      const title = () => randomBytes(3000).toString("base64")
      const items = Array.from({ length: 40 }, (_, number) => admission({ number, head: "a" }))
      const answers = yield* Effect.forEach(
        items,
        (item) => queue.admit([{ ...item, change: { ...item.change, title: title() } }]),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(new Set(answers.flat().map(({ entryId }) => entryId)), 40)
      const tooLarge = {
        ...admission({ number: 99 }),
        change: { ...admission({ number: 99 }).change, title: randomBytes(90_000).toString("base64") }
      }
      assert.include((yield* Effect.flip(queue.admit([tooLarge]))).message, "max_payload")
      assert.lengthOf(yield* queue.load("app"), 40)
    }).pipe(Effect.scoped)
  )

  it.live("skips damaged messages: all nodes continue in the same state, and an entry shows the loss", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const lines: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => lines.push(String(message)))])
      const [one, two] = yield* Effect.provide(Effect.all([node(url), node(url)]), logger)
      const damages = [
        Buffer.from("not a message"),
        Buffer.from(""),
        Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3]),
        Buffer.from('{"order":7}'),
        Buffer.from("[1]"),
        // Rows of another form, one of the right form that does not follow, and one with damaged rows.
        Buffer.from('{"id":"x","after":"","rows":[]}'),
        Buffer.from(JSON.stringify({ id: "x", after: "y", rows: "[1,[],[]]", details: [] })),
        Buffer.from(JSON.stringify({ id: "x", after: "", rows: "[1,[],[7]]", details: [] }))
      ]
      // Compared as text, because undefined where it was decided is absent where it was read.
      const state = ({ control, queue }: typeof one) =>
        Effect.map(Effect.all([control.list({ limit: 100 }), queue.stats]), (found) => JSON.stringify(found))
      for (const [index, bytes] of damages.entries()) {
        yield* one.queue.admit([admission({ number: 2 * index, head: "a" })])
        yield* append(url, bytes)
        // The writer behind it cannot decode it either.
        const [admitted] = yield* two.queue.admit([admission({ number: 2 * index + 1, head: "a" })])
        assert.strictEqual(admitted?.status, "queued")
        assert.strictEqual(yield* state(one), yield* state(two))
      }
      const { byStatus } = yield* one.queue.stats
      const { entries } = yield* one.control.list({ limit: 100 })
      assert.deepInclude(byStatus, { waiting: 2 * damages.length, dead: damages.length })
      const lost = entries.filter(({ status }) => status === "dead")
      for (const { reason } of lost)
        assert.match(
          reason === undefined ? "" : inEnglish(reason),
          /^quarantined: message \d+ of the queue's journal cannot be read/
        )
      const late = yield* node(url, "late")
      assert.strictEqual(yield* state(late), yield* state(one))
      assert.include(lines.join("\n"), "damage in the queue's journal quarantined")
      assert.include(lines.join("\n"), "message of the queue's journal does not follow the one before it")
      // No node needs a consumer.
      assert.strictEqual(
        yield* inStream(url, async (manager) => (await manager.streams.info(stream)).state.consumer_count),
        0
      )
      yield* one.queue.prune({ maxCount: 0, before: 0 })
      assert.deepInclude((yield* late.queue.stats).byStatus, { waiting: 2 * damages.length, dead: 0 })
    }).pipe(Effect.scoped)
  )

  it.live("refuses what a newer release wrote, and does not skip it", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const { queue } = yield* node(url)
      yield* queue.admit([admission({ number: 1, head: "a" })])
      const newer = { after: "", details: [], id: "x", rows: '[2,[],[["a","b","c"]]]' }
      yield* append(url, Buffer.from(JSON.stringify({ ...newer, after: yield* lastId(url) })))
      const late = Effect.scoped(Effect.asVoid(node(url, "late")))
      const admit = queue.admit([admission({ number: 2, head: "a" })])
      for (const use of [Effect.asVoid(queue.stats), Effect.asVoid(admit), late]) {
        const error = yield* Effect.flip(use)
        assert.match(error.message, /a newer release wrote a message of its journal .* Upgrade this node/)
      }
    }).pipe(Effect.scoped)
  )

  it.live("goes on behind messages that the log itself lacks, on every node that reads it", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { queue } = yield* node(url)
          for (let number = 1; number <= 6; number++) yield* queue.admit([admission({ number, head: "a" })])
        })
      )
      yield* inStream(url, async (manager) => {
        for (const sequence of [2, 3, 5]) await manager.streams.deleteMessage(stream, sequence)
      })
      const [one, two] = yield* Effect.all([node(url), node(url)])
      const numbers = ({ queue }: typeof one) =>
        Effect.map(queue.load("app"), (entries) => entries.map(({ change }) => change.target.number))
      assert.deepStrictEqual(yield* numbers(one), [1, 4, 6])
      yield* one.queue.admit([admission({ number: 7, head: "a" })])
      yield* two.queue.admit([admission({ number: 8, head: "a" })])
      assert.deepStrictEqual(yield* numbers(two), [1, 4, 6, 7, 8])
      assert.deepStrictEqual(yield* numbers(one), yield* numbers(two))
    }).pipe(Effect.scoped)
  )

  it.live("a log that was lost with its disk restarts, on every node", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const [one, two] = yield* Effect.all([node(url), node(url)])
      for (const number of [1, 2, 3]) yield* one.queue.admit([admission({ number, head: "a" })])
      assert.strictEqual((yield* two.queue.load("app")).length, 3)
      yield* inStream(url, (manager) => manager.streams.delete(stream))
      yield* eventually(
        Effect.map(one.queue.load("app"), (entries) => entries.length === 0),
        "it is empty for who wrote it"
      )
      yield* one.queue.admit([admission({ number: 4, head: "a" })])
      yield* eventually(
        Effect.map(two.queue.load("app"), (entries) => entries.length === 1),
        "the other one has what is there now"
      )
    }).pipe(Effect.scoped)
  )
})

it.each([
  ["unavailable", "nats"],
  ["unsupported", undefined],
  ["refused", undefined]
] as const)("an error of the server that is %s names %s as the server to wait for", (reason, disconnected) => {
  assert.strictEqual(toQueueError(new NatsError({ reason, message: "m" })).disconnected, disconnected)
})
