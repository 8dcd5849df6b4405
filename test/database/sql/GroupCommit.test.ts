import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import * as GroupCommit from "../../../src/database/sql/GroupCommit.ts"

/** Doubles numbers; notes the batches it is given and waits for `gate` before each commit. */
const doubling = Effect.fn(function* (
  scope: Scope.Scope,
  options: {
    readonly maxBatch?: number
    readonly maxWaiting?: number
    readonly maxUnderWay?: number
    readonly gate?: Effect.Effect<void>
  } = {}
) {
  const batches: Array<ReadonlyArray<number>> = []
  const group = yield* GroupCommit.make({
    commit: (items: ReadonlyArray<number>) =>
      Effect.gen(function* () {
        batches.push(items)
        yield* options.gate ?? Effect.void
        if (items.includes(13)) return yield* Effect.fail("unlucky")
        if (items.includes(666)) return yield* Effect.die(new Error("defect"))
        return items.map((item) => item * 2)
      }),
    refuse: (why) => why,
    maxBatch: options.maxBatch ?? 100,
    maxWaiting: options.maxWaiting ?? 100,
    maxUnderWay: options.maxUnderWay ?? 1
  }).pipe(Scope.provide(scope))
  const submitEach = (items: ReadonlyArray<number>) =>
    Effect.forEach(items, (item) => Effect.exit(group.submit(item)), { concurrency: "unbounded" })
  return { batches, group, submitEach }
})

describe("GroupCommit", () => {
  it.effect("callers of one turn share a commit, up to the bound, and each gets its own result", () =>
    Effect.gen(function* () {
      const { batches, submitEach } = yield* doubling(yield* Effect.scope, { maxBatch: 3 })
      const results = yield* submitEach([1, 2, 3, 4, 5])
      assert.deepStrictEqual(results, [2, 4, 6, 8, 10].map(Exit.succeed))
      assert.deepStrictEqual(batches, [
        [1, 2, 3],
        [4, 5]
      ])
    })
  )

  it.effect("a failure or a defect reaches every caller of its batch and no other", () =>
    Effect.gen(function* () {
      const { submitEach } = yield* doubling(yield* Effect.scope, { maxBatch: 2 })
      const results = yield* submitEach([1, 13, 2, 3, 4, 666])
      assert.deepStrictEqual(
        results.map((result) => (Exit.isSuccess(result) ? result.value : result.cause.reasons[0]?._tag)),
        ["Fail", "Fail", 4, 6, "Die", "Die"]
      )
    })
  )

  it.effect("items that come together stay together, also beyond the bound of a commit", () =>
    Effect.gen(function* () {
      const { batches, group } = yield* doubling(yield* Effect.scope, { maxBatch: 3, maxWaiting: 8 })
      const groups = [[1, 2], [3, 4], [5], [], [6, 7, 8, 9]]
      const results = yield* Effect.forEach(groups, (items) => Effect.exit(group.submitAll(items)), {
        concurrency: "unbounded"
      })
      const doubled = [[2, 4], [6, 8], [10], []].map((items): Exit.Exit<ReadonlyArray<number>, string> =>
        Exit.succeed(items)
      )
      assert.deepStrictEqual(results, [...doubled, Exit.fail("full")])
      assert.deepStrictEqual(yield* group.submitAll([6, 7, 8, 9]), [12, 14, 16, 18])
      assert.deepStrictEqual(batches, [
        [1, 2],
        [3, 4, 5],
        [6, 7, 8, 9]
      ])
    })
  )

  it.effect("refuses what is too much, and commits what it has taken before it closes", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const gate = yield* Deferred.make<void>()
      const { batches, group, submitEach } = yield* doubling(scope, { maxWaiting: 2, gate: Deferred.await(gate) })
      const taken = yield* Effect.forkChild(submitEach([1, 2, 3]), { startImmediately: true })
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      assert.strictEqual(yield* Effect.flip(group.submit(4)), "closed")
      assert.isUndefined(closing.pollUnsafe())
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(closing)
      assert.deepStrictEqual(yield* Fiber.join(taken), [Exit.succeed(2), Exit.succeed(4), Exit.fail("full")])
      assert.deepStrictEqual(batches, [[1, 2]])
    })
  )

  it.effect(
    "begins as many commits as may be under way, each with an even part, and waits for all before it closes",
    () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const gate = yield* Deferred.make<void>()
        const { batches, submitEach } = yield* doubling(scope, { maxUnderWay: 2, gate: Deferred.await(gate) })
        const taken = yield* Effect.forkChild(submitEach([1, 2, 3, 4, 5]), { startImmediately: true })
        yield* Effect.promise(() => new Promise(setImmediate)).pipe(
          Effect.repeat({ until: () => batches.length === 2 })
        )
        const later = yield* Effect.forkChild(submitEach([6, 7]), { startImmediately: true })
        const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
        yield* Effect.promise(() => new Promise(setImmediate))
        assert.deepStrictEqual(batches, [
          [1, 2, 3],
          [4, 5]
        ])
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(closing)
        assert.deepStrictEqual(yield* Fiber.join(taken), [2, 4, 6, 8, 10].map(Exit.succeed))
        assert.deepStrictEqual(yield* Fiber.join(later), [12, 14].map(Exit.succeed))
        assert.strictEqual(batches.flat().length, 7)
      })
  )
})
