/**
 * Content writes of one account start a second apart on all nodes together, and a pause that a host requests from one node applies to all.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import * as WritePacer from "../../../actors/limits/WritePacer.ts"
import { ForgeError } from "../../../src/forge/ForgeError.ts"
import { HostTraffic } from "../../../src/forge/HostTraffic.ts"
import { pacedWrite, WriteGap } from "../../../src/forge/Pacing.ts"
import { WritePermits } from "../../../src/forge/WritePermits.ts"
import { testCluster } from "../../harness/TestCluster.ts"
import { newTraffic, owned } from "../../harness/Owners.ts"

const world = WritePacer.layer.pipe(Layer.provideMerge(testCluster))

/** A node with its pace, and the permits of the others. */
const onNode = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.flatMap(Layer.build(Layer.fresh(WritePacer.permitsLayer)), (context) =>
      effect.pipe(Effect.provideContext(context), Effect.provideService(HostTraffic, newTraffic()), owned)
    )
  )

const write = <A>(key: string, operation: string, request: Effect.Effect<A, ForgeError>) =>
  Effect.flatMap(HostTraffic, ({ paces }) => pacedWrite(paces, key, operation, request))

const letRun = Effect.fnUntraced(function* <A, E>(fiber: Fiber.Fiber<A, E>) {
  while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust("20 millis")
  return yield* Fiber.join(fiber)
})

describe("WritePacer", () => {
  layer(Layer.fresh(world))((it) =>
    it.effect("three nodes write with one account: their writes start a second apart", () =>
      Effect.gen(function* () {
        const starts: Array<number> = []
        const next = write(
          "account",
          "POST /x",
          Effect.map(Clock.currentTimeMillis, (now) => starts.push(now))
        )
        const node = onNode(Effect.all([next, next, next], { concurrency: "unbounded" }))
        yield* letRun(yield* Effect.forkChild(Effect.all([node, node, node], { concurrency: "unbounded" })))
        assert.lengthOf(starts, 9)
        const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0))
        assert.isAtLeast(Math.min(...gaps), 1000)
        // No write waits for much more than the gap.
        assert.isAtMost(Math.max(...gaps), 1100)
      })
    )
  )

  layer(Layer.fresh(world))((it) =>
    it.effect("a configured gap applies from the first write of an activation on", () =>
      Effect.gen(function* () {
        const starts: Array<number> = []
        const begin = yield* Clock.currentTimeMillis
        const next = write(
          "own host",
          "POST /x",
          Effect.map(Clock.currentTimeMillis, (now) => starts.push(now - begin))
        ).pipe(Effect.provideService(WriteGap, Duration.millis(200)))
        yield* letRun(yield* Effect.forkChild(onNode(Effect.all([next, next], { concurrency: "unbounded" }))))
        assert.deepStrictEqual(starts, [200, 400])
      })
    )
  )

  layer(Layer.fresh(world))((it) =>
    it.effect("a Retry-After received by one node applies to the others", () =>
      Effect.gen(function* () {
        const limited = new ForgeError({
          reason: "rate_limited",
          retryAfterMillis: 60_000,
          operation: "POST /x",
          why: verbatimReason("slow down")
        })
        const refused = onNode(Effect.flip(write("closed", "POST /x", Effect.fail(limited))))
        yield* letRun(yield* Effect.forkChild(refused))
        yield* TestClock.adjust("1 second")
        const other = onNode(Effect.flip(write("closed", "POST /x", Effect.void)))
        const error = yield* letRun(yield* Effect.forkChild(other))
        assert.strictEqual(error.reason, "rate_limited")
        assert.isAbove(error.retryAfterMillis ?? 0, 50_000)
      })
    )
  )

  layer(Layer.fresh(world))((it) =>
    it.effect("a node that took a permit and disappears blocks the others for seconds, not forever", () =>
      Effect.gen(function* () {
        const silent = onNode(
          Effect.gen(function* () {
            const permits = yield* WritePermits
            yield* permits.acquire("silent", 1000)
          })
        )
        yield* letRun(yield* Effect.forkChild(silent))
        const before = yield* Clock.currentTimeMillis
        yield* letRun(yield* Effect.forkChild(onNode(write("silent", "POST /x", Effect.void))))
        assert.isAtMost((yield* Clock.currentTimeMillis) - before, Duration.toMillis("12 seconds"))
      })
    )
  )
})
