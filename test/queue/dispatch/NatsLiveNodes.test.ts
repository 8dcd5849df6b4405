/** Reports of ended and lost processes, with a bus and records that the test controls. NatsTickets.test.ts uses the real bus. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { NatsConnection } from "../../../nats/NatsConnection.ts"
import { NatsError } from "../../../nats/NatsError.ts"
import { NatsNodes } from "../../../nats/NatsNodes.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { StoreError } from "../../../src/database/StoreError.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { LiveNodes } from "../../../src/domain/LiveNodes.ts"
import { NodeIdentity } from "../../../src/domain/NodeIdentity.ts"
import * as NatsLiveNodes from "../../../src/queue/dispatch/NatsLiveNodes.ts"
import { Heartbeats } from "../../../src/store/Heartbeats.ts"

/** Another process, as the two servers see it. */
interface Other {
  readonly owner: string
  beats: boolean
  connected: boolean
  listed: boolean
}

const steadyMillis = 13_500

/** A process that observes others. `start` is the time of its start, long after that of the others. */
const observe = Effect.fnUntraced(function* (count: number, start = 3_600_000) {
  const others = Array.from({ length: count }, (): Other => ({
    owner: `n/${newId()}`,
    beats: true,
    connected: true,
    listed: true
  }))
  yield* TestClock.setTime(Date.now() + start)
  const listeners = new Set<(connected: boolean) => void>()
  const bus = { connected: true, lists: true, records: true, removed: new Array<string>() }
  const seen = new Map<string, number>()
  const heartbeats = Heartbeats.of({
    beat: (own, now) =>
      Effect.gen(function* () {
        if (!bus.records)
          return yield* new StoreError({
            reason: "unavailable",
            operation: "heartbeats.beat",
            why: verbatimReason("unavailable")
          })
        for (const { owner, beats } of others) if (beats || !seen.has(owner)) seen.set(owner, now)
        return [...seen].flatMap(([owner, seenAt]) => (owner === own ? [] : [{ owner, seenAt }]))
      }),
    remove: (owner) => Effect.sync(() => void bus.removed.push(owner))
  })
  // The only members that are used.
  const connection = {
    status: Effect.sync(() => ({ connected: bus.connected, server: "bus", version: "2" })),
    onStatus: (listener) => Effect.sync(() => void listeners.add(listener))
  } as Pick<NatsConnection["Service"], "status" | "onStatus"> as NatsConnection["Service"]
  const scope = yield* Scope.make()
  const context = yield* NatsLiveNodes.layerWith({ steadyMillis }).pipe(
    Layer.provideMerge(NodeIdentity.layer("self")),
    Layer.provide([
      Layer.succeed(Heartbeats, heartbeats),
      Layer.succeed(NatsConnection, connection),
      Layer.mock(NatsNodes, {
        list: Effect.suspend(() =>
          bus.lists
            ? Effect.succeed(
                others
                  .filter(({ listed }) => listed)
                  .map(({ owner }) => ({ name: "n", roles: [], version: "0", startedAt: 0, more: { owner } }))
              )
            : Effect.fail(new NatsError({ reason: "unavailable", message: "no list" }))
        ),
        isConnected: (owner) => Effect.sync(() => others.some((other) => other.owner === owner && other.connected))
      })
    ]),
    Layer.buildWithScope(scope)
  )
  const live = Context.get(context, LiveNodes)
  return {
    others,
    bus,
    scope,
    own: Context.get(context, NodeIdentity).owner,
    setConnected: (connected: boolean) => {
      bus.connected = connected
      for (const listener of listeners) listener(connected)
    },
    /** Indexes of the processes that have ended, and of those that are lost. */
    ended: Effect.map(live.gone, (gone) => others.flatMap(({ owner }, index) => (gone.has(owner) ? [index] : []))),
    lost: Effect.map(live.lost, (lost) => others.flatMap(({ owner }, index) => (lost(owner) ? [index] : []))),
    isLost: (owner: string) => Effect.map(live.lost, (lost) => lost(owner))
  }
})

const after = (seconds: number) => TestClock.adjust(seconds * 1000)

/** Neither server sees a killed process. */
const kill = (other: Other | undefined): void => {
  if (other !== undefined) Object.assign(other, { beats: false, connected: false })
}

describe("a process that has ended", () => {
  it.effect("is reported within 5 s of its last heartbeat, and not before 3 s", () =>
    Effect.gen(function* () {
      const { others, ended } = yield* observe(3)
      yield* after(60)
      assert.deepStrictEqual(yield* ended, [])
      kill(others[1])
      yield* after(2)
      assert.deepStrictEqual(yield* ended, [])
      yield* after(3)
      assert.deepStrictEqual(yield* ended, [1])
    })
  )

  it.effect("is one without a heartbeat and without a connection: one of the two is not enough", () =>
    Effect.gen(function* () {
      const { others, ended } = yield* observe(3)
      yield* after(10)
      Object.assign(others[0] ?? {}, { beats: false })
      Object.assign(others[1] ?? {}, { connected: false })
      yield* after(60)
      assert.deepStrictEqual(yield* ended, [])
    })
  )

  it.effect("is never alive again, whatever the servers say later", () =>
    Effect.gen(function* () {
      const { others, ended, lost } = yield* observe(1)
      yield* after(10)
      kill(others[0])
      yield* after(5)
      Object.assign(others[0] ?? {}, { beats: true, connected: true })
      yield* after(60)
      assert.deepStrictEqual([yield* ended, yield* lost], [[0], [0]])
    })
  )

  it.effect("is not looked for while the bus is disconnected, nor within 3 s of the reconnect", () =>
    Effect.gen(function* () {
      const { others, ended, setConnected } = yield* observe(1)
      yield* after(10)
      setConnected(false)
      kill(others[0])
      yield* after(60)
      assert.deepStrictEqual(yield* ended, [])
      setConnected(true)
      yield* after(2)
      // Every other process may be reconnecting too.
      assert.deepStrictEqual(yield* ended, [])
      yield* after(1)
      assert.deepStrictEqual(yield* ended, [0])
    })
  )

  it.effect("is not looked for until the records have been available for 3 s: all heartbeats are old by then", () =>
    Effect.gen(function* () {
      const { others, bus, ended } = yield* observe(1)
      yield* after(10)
      bus.records = false
      kill(others[0])
      yield* after(60)
      bus.records = true
      yield* after(2)
      assert.deepStrictEqual(yield* ended, [])
      yield* after(3)
      assert.deepStrictEqual(yield* ended, [0])
    })
  )

  it.effect("is not looked for by a process that has just started", () =>
    Effect.gen(function* () {
      const { others, ended } = yield* observe(1)
      kill(others[0])
      yield* after(2)
      assert.deepStrictEqual(yield* ended, [])
    })
  )
})

describe("a lost process", () => {
  it.effect("is one that is not on the list and does not beat, once the bus has been stable", () =>
    Effect.gen(function* () {
      const { others, lost, setConnected } = yield* observe(3)
      // Connected, but frozen.
      Object.assign(others[0] ?? {}, { beats: false, listed: false })
      // The bus lost its record.
      Object.assign(others[1] ?? {}, { listed: false })
      yield* after(13)
      assert.deepStrictEqual(yield* lost, [])
      yield* after(1)
      assert.deepStrictEqual(yield* lost, [0])
      setConnected(false)
      setConnected(true)
      yield* after(13)
      assert.deepStrictEqual(yield* lost, [])
      yield* after(1)
      assert.deepStrictEqual(yield* lost, [0])
    })
  )

  it.effect("is decided by the list alone while the records are unavailable", () =>
    Effect.gen(function* () {
      const { others, bus, lost } = yield* observe(2)
      yield* after(20)
      bus.records = false
      Object.assign(others[0] ?? {}, { listed: false })
      yield* after(2)
      assert.deepStrictEqual(yield* lost, [])
      yield* after(1)
      assert.deepStrictEqual(yield* lost, [0])
    })
  )

  it.effect("is one that has ended while the list cannot be read, and no other", () =>
    Effect.gen(function* () {
      const { others, bus, lost } = yield* observe(2)
      yield* after(20)
      kill(others[0])
      Object.assign(others[1] ?? {}, { beats: false, listed: false })
      bus.lists = false
      yield* after(10)
      assert.deepStrictEqual(yield* lost, [0])
      bus.lists = true
      assert.deepStrictEqual(yield* lost, [0, 1])
    })
  )

  it.effect("is neither this process nor one that started less than 20 s ago", () =>
    Effect.gen(function* () {
      const { others, own, lost, isLost } = yield* observe(1, 0)
      Object.assign(others[0] ?? {}, { beats: false, listed: false })
      yield* after(19)
      assert.deepStrictEqual(yield* lost, [])
      yield* after(3)
      assert.deepStrictEqual([yield* lost, yield* isLost(own)], [[0], false])
    })
  )
})

it.effect("a process that stops in order removes its heartbeat", () =>
  Effect.gen(function* () {
    const { own, bus, scope } = yield* observe(0)
    yield* Scope.close(scope, yield* Effect.exit(Effect.void))
    assert.deepStrictEqual(bus.removed, [own])
  })
)
