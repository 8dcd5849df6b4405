/** A runner without a lease makes its node not ready, and after a minute with a connected NATS not alive. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { afterEach, vi } from "vitest"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { NatsLockHealth, observeRunner } from "../../nats/NatsLockHealth.ts"
import { NatsRunnerLease } from "../../nats/NatsRunnerStorage.ts"

afterEach(() => void vi.restoreAllMocks())

/** A node at time 0 whose connection and lease the test sets. */
const watched = Effect.fnUntraced(function* () {
  const state = { now: 0, connected: true, isHeld: true, millisWithout: 0 }
  vi.spyOn(performance, "now").mockImplementation(() => state.now)
  let notify = (): void => {}
  const connection = {
    status: Effect.sync(() => ({ connected: state.connected })),
    onStatus: (listener: () => void) => Effect.sync(() => void (notify = listener))
  }
  const lease = {
    isHeld: Effect.sync(() => state.isHeld),
    millisWithout: Effect.sync(() => state.millisWithout)
  }
  const context = yield* Layer.build(
    NatsLockHealth.layer.pipe(Layer.provide(Layer.succeed(NatsConnection, connection as never)))
  )
  const health = Context.get(context, NatsLockHealth)
  const observe = Layer.build(
    observeRunner.pipe(
      Layer.provide(Layer.succeed(NatsRunnerLease, lease as never)),
      Layer.provide(Layer.succeed(NatsLockHealth, health))
    )
  )
  const succeeds = (check: Effect.Effect<void, unknown>) =>
    Effect.match(check, { onFailure: () => false, onSuccess: () => true })
  return {
    state,
    observe,
    isReady: succeeds(health.isHeld),
    isAlive: succeeds(health.isAlive),
    reconnect: Effect.sync(() => notify())
  }
})

describe("the health of the locks of a node", () => {
  it.effect("is good without a runner, whatever the time", () =>
    Effect.gen(function* () {
      const { isAlive, isReady, state } = yield* watched()
      state.now = 1_000_000
      state.millisWithout = 1_000_000
      assert.deepStrictEqual([yield* isReady, yield* isAlive], [true, true])
    }).pipe(Effect.scoped)
  )

  it.effect("fails with the lease, and as not alive once it is missing for a minute", () =>
    Effect.gen(function* () {
      const { isAlive, isReady, observe, state } = yield* watched()
      yield* observe
      state.now = 500_000
      assert.deepStrictEqual([yield* isReady, yield* isAlive], [true, true])
      state.isHeld = false
      state.millisWithout = 60_000
      assert.deepStrictEqual([yield* isReady, yield* isAlive], [false, true])
      state.millisWithout = 60_001
      assert.deepStrictEqual([yield* isReady, yield* isAlive], [false, false])
    }).pipe(Effect.scoped)
  )

  it.effect("is not that of the process while NATS is disconnected, or was until a minute ago", () =>
    Effect.gen(function* () {
      const { isAlive, observe, reconnect, state } = yield* watched()
      yield* observe
      Object.assign(state, { now: 500_000, isHeld: false, millisWithout: 400_000, connected: false })
      assert.isTrue(yield* isAlive)
      state.connected = true
      yield* reconnect
      state.now = 559_999
      assert.isTrue(yield* isAlive)
      state.now = 560_000
      assert.isFalse(yield* isAlive)
    }).pipe(Effect.scoped)
  )
})
