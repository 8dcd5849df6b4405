/** The account of each trigger is read in the background: a failure is logged once, with the next step of the operator. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import type { Snapshot } from "../../../src/config/Snapshot.ts"
import { ForgeError } from "../../../src/forge/ForgeError.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import * as LearnOwnAccounts from "../../../src/forge/hosts/LearnOwnAccounts.ts"
import { OwnAccounts } from "../../../src/forge/OwnAccounts.ts"
import { snapshotFrom } from "../../outputs/FromDocument.ts"

const snapshot = snapshotFrom({
  triggers: [{ name: "tea", kind: "gitea", webhook_secret: "s", token: "t", base_url: "http://127.0.0.1:9" }]
})

const failure = (reason: ForgeError["reason"]) =>
  new ForgeError({ reason, operation: "GET /user", why: verbatimReason(`GET /user: ${reason}`) })

/** Lets fibers run that only wait for each other. */
const letRun = Effect.repeat(TestClock.adjust("1 millis"), { times: 50 })

/** Runs the layer with a host whose responses the test sets, and a configuration that it reloads. */
const watched = Effect.fnUntraced(function* () {
  const lines: Array<string> = []
  const state = { calls: 0, response: Effect.fail(failure("unavailable")) as Effect.Effect<object, ForgeError> }
  const self = Effect.suspend(() => {
    state.calls++
    return state.response
  })
  const reloads = yield* Queue.unbounded<Snapshot>()
  const config = { current: () => snapshot, changes: Stream.fromQueue(reloads) }
  const layers = LearnOwnAccounts.layer.pipe(
    Layer.provideMerge(OwnAccounts.layer),
    Layer.provide(Layer.succeed(Forges, { client: () => ({ self }) } as never)),
    Layer.provide(Layer.succeed(ConfigStore, config as never)),
    Layer.provide(Logger.layer([Logger.make(({ message }) => lines.push(JSON.stringify(message)))]))
  )
  const context = yield* Layer.build(layers)
  const account = Effect.map(Effect.provideContext(OwnAccounts, context), (accounts) => accounts.of("tea"))
  return { state, lines, account, reload: Queue.offer(reloads, snapshot) }
})

describe("the account of a trigger", () => {
  it.effect("of an unavailable host is read again: the failure is logged once, and its end", () =>
    Effect.gen(function* () {
      const { account, lines, reload, state } = yield* watched()
      yield* TestClock.adjust("2 hours")
      yield* reload
      yield* TestClock.adjust("2 hours")
      assert.isAbove(state.calls, 10)
      assert.lengthOf(lines, 1)
      assert.include(lines[0], "own account of a trigger unknown")
      assert.include(lines[0], '"trigger":"tea"')
      assert.include(lines[0], "GET /user: unavailable")
      assert.include(lines[0], "the account is read again. Otherwise run aicr doctor")
      state.response = Effect.succeed({ username: "aicr" })
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(yield* account, "aicr")
      assert.lengthOf(lines, 2)
      assert.include(lines[1], "own account of a trigger known")
    }).pipe(Effect.scoped)
  )

  it.effect("whose credential is refused is not read again: the operator has to correct it", () =>
    Effect.gen(function* () {
      const { lines, reload, state } = yield* watched()
      yield* letRun
      assert.lengthOf(lines, 1)
      state.response = Effect.fail(failure("unauthorized"))
      yield* TestClock.adjust("1 hour")
      const { calls } = state
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(state.calls, calls)
      assert.lengthOf(lines, 2)
      assert.include(lines[1], "correct the credential of this trigger and restart; aicr doctor tests it")
      yield* reload
      yield* letRun
      assert.strictEqual(state.calls, calls + 1)
      assert.lengthOf(lines, 2)
    }).pipe(Effect.scoped)
  )
})
