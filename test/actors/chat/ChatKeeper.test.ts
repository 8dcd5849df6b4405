/** Owners of chat connections are woken within seconds, and without connections the store is hardly used. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, PubSub, Stream } from "effect"
import { TestClock } from "effect/testing"
import { keepAwake } from "../../../actors/chat/ChatKeeper.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { makeStaticStore } from "../../../src/config/snapshots/FileConfigStore.ts"
import type { Snapshot } from "../../../src/config/Snapshot.ts"
import { ChatRequests } from "../../../src/store/ChatRequests.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { chatRequest } from "../../store/Fixtures.ts"

const none = testSnapshot({})
const one = testSnapshot({ im: { connections: { lark: { kind: "feishu_app", app_id: "cli_a" } } } })

const make = Effect.gen(function* () {
  const world = { snapshot: none, scans: 0, woken: new Array<string>() }
  const requests = yield* ChatRequests
  const changes = yield* PubSub.unbounded<Snapshot>()
  const openConnections = Effect.suspend(() => {
    world.scans += 1
    return requests.openConnections
  })
  const layer = Layer.mergeAll(
    Layer.succeed(ConfigStore, {
      ...makeStaticStore(none),
      current: () => world.snapshot,
      changes: Stream.fromPubSub(changes)
    }),
    Layer.succeed(ChatRequests, { ...requests, openConnections })
  )
  const use = (snapshot: Snapshot) => {
    world.snapshot = snapshot
    return PubSub.publish(changes, snapshot)
  }
  const within = (time: Parameters<typeof TestClock.adjust>[0]) =>
    Effect.suspend(() => {
      world.scans = 0
      world.woken = []
      return Effect.map(TestClock.adjust(time), () => ({ scans: world.scans, woken: world.woken }))
    })
  const wake = (connection: string) => Effect.sync(() => void world.woken.push(connection))
  yield* Effect.forkScoped(Effect.provide(keepAwake(wake), layer))
  return { requests, use, within }
})

it.effect("a connection is woken every two seconds from its configuration until its removal", () =>
  Effect.gen(function* () {
    const { use, within } = yield* make
    yield* within("1 minute")
    assert.deepStrictEqual(yield* within("1 hour"), { scans: 6, woken: [] })
    yield* use(one)
    assert.deepStrictEqual((yield* within("5 seconds")).woken, ["lark", "lark", "lark"])
    yield* use(none)
    yield* within("10 seconds")
    assert.deepStrictEqual(yield* within("1 hour"), { scans: 6, woken: [] })
    yield* use(one)
    assert.isAbove((yield* within("1 minute")).woken.length, 20)
  }).pipe(Effect.scoped, Effect.provide(Store.layerMemory))
)

it.effect("a removed connection is woken while it has open requests", () =>
  Effect.gen(function* () {
    const { requests, within } = yield* make
    const request = chatRequest({ connection: "gone" })
    yield* requests.add(request)
    assert.deepStrictEqual([...new Set((yield* within("11 minutes")).woken)], ["gone"])
    const open = yield* requests.get(request.id)
    if (open !== undefined) yield* requests.change(open, { status: "expired" }, 0)
    yield* within("10 seconds")
    assert.deepStrictEqual((yield* within("1 hour")).woken, [])
  }).pipe(Effect.scoped, Effect.provide(Store.layerMemory))
)
