/** The scans and the sender of notices use the store only while a route or unsent notices exist. */
import { assert, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { EndedScan, maxWaiting, scanAll, scanEnded } from "../../../actors/notices/NoticeScan.ts"
import { sendAlways, sendDue } from "../../../actors/notices/NoticeSender.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { makeStaticStore } from "../../../src/config/snapshots/FileConfigStore.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { HostTraffic } from "../../../src/forge/HostTraffic.ts"
import { WritePermits } from "../../../src/forge/WritePermits.ts"
import { CatchUps } from "../../../src/store/CatchUps.ts"
import { Inventories } from "../../../src/store/Inventories.ts"
import { Ledger } from "../../../src/store/Ledger.ts"
import { Notices } from "../../../src/store/Notices.ts"
import { ProjectRules } from "../../../src/store/ProjectRules.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { chatDocument, chatEnv } from "../../harness/ChatPeople.ts"
import { startChatPlatform } from "../../harness/ChatPlatform.ts"
import { FakeChatPlatform, platformSecrets } from "../../harness/FakeChatPlatform.ts"
import { newTraffic, uncounted } from "../../harness/Owners.ts"
import { snapshotFrom } from "../../outputs/FromDocument.ts"
import { ignored } from "../../store/Fixtures.ts"

const read = (routes: ReadonlyArray<object>, hook = "https://chat.example/hook") =>
  snapshotFrom(
    {
      triggers: [{ name: "main", kind: "manual" }],
      workspaces: { instances: { shop: { source_repo: { trigger: "main", repo: "team/shop" } } } },
      llm: { budget: { per_repo_daily_usd: 1 } },
      outputs: {
        channels: ["ops", "team"].map((name) => ({ name, kind: "feishu_bot", webhook_url_env: "HOOK" })),
        notifications: { routes }
      }
    },
    { HOOK: hook }
  )
const none = read([])
const routed = read([{ channels: ["ops"] }])

/** Counts the uses of a service. */
const counted = <A extends object>(service: A, count: () => void): A =>
  new Proxy(service, {
    get: (target, name, receiver) => {
      count()
      return Reflect.get(target, name, receiver)
    }
  })

const make = Effect.gen(function* () {
  const world = { snapshot: none, uses: 0 }
  const count = () => {
    world.uses += 1
  }
  const notices = yield* Notices
  const layer = Layer.mergeAll(
    Layer.succeed(ConfigStore, { ...makeStaticStore(none), current: () => world.snapshot }),
    Layer.succeed(Notices, counted(notices, count)),
    Layer.succeed(Receipts, counted(yield* Receipts, count)),
    Layer.succeed(Ledger, counted(yield* Ledger, count)),
    Layer.succeed(CatchUps, counted(yield* CatchUps, count)),
    Layer.succeed(Inventories, counted(yield* Inventories, count)),
    Layer.succeed(ProjectRules, counted(yield* ProjectRules, count)),
    WritePermits.layerAlone,
    HostTraffic.layer,
    uncounted
  )
  /** Number of uses of the store within a time. */
  const usesWithin = (time: Parameters<typeof TestClock.adjust>[0]) =>
    Effect.suspend(() => {
      world.uses = 0
      return Effect.map(TestClock.adjust(time), () => world.uses)
    })
  return { layer, notices, usesWithin, world }
})

const loops = { scans: scanAll, sender: sendAlways } as const

it.effect.each(["scans", "sender"] as const)("the %s of notices use the store only while there is a route", (name) =>
  Effect.gen(function* () {
    const { layer, usesWithin, world } = yield* make
    const loop: Effect.Effect<void, never, Layer.Success<typeof layer>> = loops[name]
    const fiber = yield* Effect.forkChild(Effect.provide(loop, layer))
    // Once, for what an earlier process left.
    assert.strictEqual(yield* usesWithin("5 minutes"), 1)
    assert.strictEqual(yield* usesWithin("1 hour"), 0)
    world.snapshot = routed
    assert.isAbove(yield* usesWithin("1 minute"), 20)
    world.snapshot = none
    yield* TestClock.adjust("5 minutes")
    assert.strictEqual(yield* usesWithin("1 hour"), 0)
    world.snapshot = routed
    assert.isAbove(yield* usesWithin("1 minute"), 20)
    yield* Fiber.interrupt(fiber)
  }).pipe(Effect.provide(Store.layerMemory))
)

it.effect("a route announces nothing that ended while there was none", () =>
  Effect.gen(function* () {
    const { layer, notices, world } = yield* make
    const receipts = yield* Receipts
    const end = Effect.fnUntraced(function* () {
      const event = ignored({ workspace: "shop" })
      yield* receipts.store(event)
      yield* receipts.settle([event.id], { outcome: "failed", reason: verbatimReason("no model") }, yield* now)
      return event.id
    })
    const now = Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis)
    yield* TestClock.setTime(Date.UTC(2026, 1, 1))
    world.snapshot = routed
    const fiber = yield* Effect.forkChild(Effect.provide(scanAll, layer))
    yield* TestClock.adjust("10 minutes")
    const first = yield* end()
    yield* TestClock.adjust("1 minute")
    world.snapshot = none
    yield* TestClock.adjust("10 minutes")
    yield* end()
    yield* TestClock.adjust("10 minutes")
    world.snapshot = routed
    yield* TestClock.adjust("10 minutes")
    const last = yield* end()
    yield* TestClock.adjust("1 minute")
    const found = yield* notices.list({ kind: "review_failed", limit: 10, oldestFirst: true })
    assert.deepStrictEqual(
      found.map(({ key }) => key),
      [`review_failed:${first}`, `review_failed:${last}`]
    )
    yield* Fiber.interrupt(fiber)
  }).pipe(Effect.provide(Store.layerMemory))
)

it.effect("a notice of a removed route is still handled, then the store rests", () =>
  Effect.gen(function* () {
    const { layer, notices, usesWithin } = yield* make
    const facts = { _tag: "webhook_silent", trigger: "main", lastAt: 0, hours: 24 } as const
    yield* notices.add([{ id: newId(), key: "k", channel: "gone", facts }], 0)
    const fiber = yield* Effect.forkChild(Effect.provide(sendAlways, layer))
    yield* TestClock.adjust("2 minutes")
    const [found] = yield* notices.list({ limit: 1 })
    assert.strictEqual(found?.status, "failed")
    assert.strictEqual(yield* usesWithin("1 hour"), 0)
    yield* Fiber.interrupt(fiber)
  }).pipe(Effect.provide(Store.layerMemory))
)

const silent = (lastAt: number) => ({ _tag: "webhook_silent", trigger: "main", lastAt, hours: 24 }) as const
const newNotices = (count: number, channel = "ops") =>
  Array.from({ length: count }, (_, at) => ({ id: newId(), key: `${channel} ${at}`, channel, facts: silent(at) }))

it("a platform that refuses messages temporarily gets one of many, until the time that it names", async () => {
  const group = await startChatPlatform()
  let requests = 0
  group.decide = () => {
    requests += 1
    return { kind: "answer", answer: { status: 429, headers: { "retry-after": "7" }, body: {} } }
  }
  const snapshot = read([{ channels: ["ops"] }], group.url)
  const program = Effect.gen(function* () {
    const notices = yield* Notices
    const now = yield* Clock.currentTimeMillis
    yield* notices.add(newNotices(50), now)
    const token = yield* notices.takeOver
    const pauses = new Map<string, number>()
    yield* sendDue(token, pauses)
    yield* sendDue(token, pauses)
    return { pause: (pauses.get("ops") ?? 0) - now, open: (yield* notices.open(now + 1, 100)).length }
  })
  const layer = Layer.mergeAll(
    Layer.succeed(ConfigStore, makeStaticStore(snapshot)),
    WritePermits.layerAlone,
    HostTraffic.layer,
    Store.layerMemory
  )
  const { open, pause } = await Effect.runPromise(Effect.provide(program, layer)).finally(() => group.stop())
  assert.strictEqual(requests, 1)
  assert.strictEqual(open, 49)
  assert.isAtLeast(pause, 7000)
  assert.isBelow(pause, 60_000)
})

it.effect("failures beyond what a channel gets in a day are not stored, and other channels get theirs", () =>
  Effect.gen(function* () {
    const { layer, notices, world } = yield* make
    const receipts = yield* Receipts
    const now = Date.UTC(2026, 1, 1)
    yield* TestClock.setTime(now)
    world.snapshot = read([{ channels: ["ops", "team"] }])
    yield* notices.add(newNotices(maxWaiting - 1), now)
    yield* notices.setScannedTo(now)
    for (let count = 0; count < 3; count++) {
      const event = ignored({ workspace: "shop" })
      yield* receipts.store(event)
      yield* receipts.settle([event.id], { outcome: "failed", reason: verbatimReason("no model") }, now + count)
    }
    yield* Effect.provide(scanEnded(new EndedScan()), layer)
    assert.deepStrictEqual(
      yield* notices.waiting,
      new Map([
        ["ops", maxWaiting],
        ["team", 3]
      ])
    )
  }).pipe(Effect.provide(Store.layerMemory))
)

it("applications of Feishu and WeCom recognise a repeated message, their group chats do not", async () => {
  const platform = await FakeChatPlatform.start()
  const { connections } = chatDocument(platform.url, {})
  const snapshot = snapshotFrom(
    {
      triggers: [{ name: "main", kind: "manual" }],
      im: { connections: { lark: connections.lark, corp: connections.corp } },
      outputs: {
        channels: [
          { name: "lark", kind: "feishu_app", connection: "lark", receive_id: "oc_ops" },
          {
            name: "corp",
            kind: "wecom_app",
            connection: "corp",
            target: { kind: "recipients", users: ["ada", "bob"] }
          },
          { name: "ours", kind: "wecom_app", connection: "corp", target: { kind: "appchat", chat_id: "ops" } }
        ],
        notifications: { routes: [{ channels: ["lark", "corp", "ours"] }] }
      }
    },
    { ...chatEnv, FEISHU_SECRET: platformSecrets.feishu, WECOM_SECRET: platformSecrets.wecom }
  )
  const lost = new Set<string>()
  platform.decide = ({ path }) => {
    if (!path.endsWith("/send") && !path.endsWith("/messages")) return undefined
    const isFirst = !lost.has(path)
    lost.add(path)
    return isFirst ? { kind: "lost" } : undefined
  }
  const program = Effect.gen(function* () {
    const notices = yield* Notices
    const sql = yield* SqlClient.SqlClient
    yield* notices.add(
      ["lark", "corp", "ours"].flatMap((channel) => newNotices(1, channel)),
      yield* Clock.currentTimeMillis
    )
    const token = yield* notices.takeOver
    yield* sendDue(token, new Map())
    // The pause before the second attempt is over.
    yield* sql`UPDATE notices SET not_before = NULL`
    yield* sendDue(token, new Map())
    const persons = yield* sql`SELECT persons FROM chat_sends`
    const all = yield* notices.list({ limit: 10 })
    return { persons, statuses: Object.fromEntries(all.map(({ channel, status }) => [channel, status])) }
  })
  const layer = Layer.mergeAll(
    Layer.succeed(ConfigStore, makeStaticStore(snapshot)),
    WritePermits.layerAlone,
    HostTraffic.layer,
    Layer.fresh(Store.layerMemory)
  )
  const { persons, statuses } = await Effect.runPromise(Effect.provide(program, layer)).finally(() =>
    platform[Symbol.asyncDispose]()
  )
  assert.deepStrictEqual(statuses, { lark: "sent", corp: "sent", ours: "unconfirmed" })
  // The lost message and its repetition count for the two persons.
  assert.deepStrictEqual(persons, [{ persons: 4 }])
  assert.deepStrictEqual(platform.messages.map(({ to }) => to).toSorted(), ["ada|bob", "oc_ops", "ops"])
  const outcomes = Effect.runSync(Metric.snapshot).flatMap(({ attributes, id }) =>
    id === "aicr_notices_total" ? [`${attributes?.channel} ${attributes?.outcome}`] : []
  )
  for (const count of ["lark sent", "corp sent", "ours unconfirmed"]) assert.include(outcomes, count)
})

it("a sender that froze during a request records nothing after another one took over, which does not repeat it", async () => {
  const group = await startChatPlatform()
  const hung = Promise.withResolvers<void>()
  group.decide = () => {
    hung.resolve()
    return { kind: "hung" }
  }
  const program = Effect.gen(function* () {
    const notices = yield* Notices
    yield* notices.add(newNotices(2), yield* Clock.currentTimeMillis)
    const first = yield* notices.takeOver
    // Its own pace, as on another node.
    const frozen = yield* Effect.forkChild(Effect.provideService(sendDue(first, new Map()), HostTraffic, newTraffic()))
    yield* Effect.promise(() => hung.promise)
    group.decide = () => undefined
    const second = yield* notices.takeOver
    yield* sendDue(second, new Map())
    const statuses = Effect.map(notices.list({ limit: 10, oldestFirst: true }), (all) =>
      all.map(({ status }) => status)
    )
    const taken = yield* statuses
    yield* Effect.promise(() => group.stop())
    yield* Fiber.join(frozen)
    return { taken, kept: yield* statuses }
  })
  const layer = Layer.mergeAll(
    Layer.succeed(ConfigStore, makeStaticStore(read([{ channels: ["ops"] }], group.url))),
    WritePermits.layerAlone,
    HostTraffic.layer,
    uncounted,
    Layer.fresh(Store.layerMemory)
  )
  const { kept, taken } = await Effect.runPromise(Effect.provide(program, layer))
  assert.deepStrictEqual(taken, ["unconfirmed", "sent"])
  assert.deepStrictEqual(kept, taken)
  assert.lengthOf(group.got, 2)
})
