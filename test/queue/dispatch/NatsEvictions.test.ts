/** The leases of runners end with their processes. The bus and the list of ended processes are the test's. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { NatsError } from "../../../nats/NatsError.ts"
import { NatsRunnerLease } from "../../../nats/NatsRunnerStorage.ts"
import { LiveNodes } from "../../../src/domain/LiveNodes.ts"
import * as NatsEvictions from "../../../src/queue/dispatch/NatsEvictions.ts"

it.effect("ends the lease of every process that has ended, once, and again if that failed", () =>
  Effect.gen(function* () {
    const gone = new Set<string>()
    const addresses = ["node-1.0a:1", "node-1.0b:1", "node-2.0c:1"]
    const evicted: Array<ReadonlyArray<string>> = []
    let failures = 0
    const lease = Layer.mock(NatsRunnerLease, {
      evict: (hasEnded) =>
        Effect.suspend(() => {
          if (failures-- > 0) return Effect.fail(new NatsError({ reason: "unavailable", message: "disconnected" }))
          evicted.push(addresses.filter(hasEnded))
          return Effect.void
        })
    })
    const nodes = Layer.succeed(LiveNodes, {
      gone: Effect.sync(() => new Set(gone)),
      goneBeyond: (count) =>
        Effect.asVoid(Effect.repeat(Effect.sleep("100 millis"), { until: () => gone.size > count })),
      lost: Effect.succeed(() => false)
    })
    yield* Layer.build(NatsEvictions.layer.pipe(Layer.provide([lease, nodes])))
    yield* TestClock.adjust("5 seconds")
    assert.deepStrictEqual(evicted, [])
    // The restarted process of this node has another incarnation.
    gone.add("node-1/0a")
    yield* TestClock.adjust("500 millis")
    assert.deepStrictEqual(evicted, [["node-1.0a:1"]])
    failures = 2
    gone.add("node-2/0c")
    yield* TestClock.adjust("1 second")
    assert.lengthOf(evicted, 1)
    yield* TestClock.adjust("5 seconds")
    assert.deepStrictEqual(evicted, [["node-1.0a:1"], ["node-2.0c:1"]])
  })
)
