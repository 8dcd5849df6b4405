import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Inventories } from "../../src/store/Inventories.ts"
import type { InventoryHook } from "../../src/store/Inventories.ts"
import { databases } from "./Databases.ts"

const hook = (scope: string, changes: Partial<InventoryHook> = {}): InventoryHook => ({
  trigger: "a",
  scope,
  name: scope,
  state: "complete",
  problem: undefined,
  hookId: undefined,
  secretDigest: undefined,
  wanted: "w",
  checkedAt: 10,
  ...changes
})

const none = { startedAt: 5, created: 0, repaired: 0 }

describe.each(databases)("Inventories in $name", ({ layer }) => {
  it.effect("keep the earliest request until a check that began after it", () =>
    Effect.gen(function* () {
      const inventories = yield* Inventories
      yield* inventories.request("a", 90)
      yield* inventories.request("a", 95)
      const ended = { at: 110, repositories: 3, served: 1, isListed: true, failure: undefined }
      yield* inventories.checked("a", { startedAt: 80, ...ended })
      assert.strictEqual((yield* inventories.list)[0]?.requestedAt, 90)
      yield* inventories.checked("a", { startedAt: 100, ...ended, failure: { _tag: "NoReasonRecorded" } })
      const [state] = yield* inventories.list
      assert.deepInclude(state, { requestedAt: undefined, checkedAt: 110, repositories: 3, served: 1, created: 0 })
      assert.deepStrictEqual(state?.failure, { _tag: "NoReasonRecorded" })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("hold webhooks for one writer, and fence the one before", () =>
    Effect.gen(function* () {
      const { hold, isHeld, release } = yield* Inventories
      const first = yield* hold("a", "inventory", 1000)
      assert.strictEqual(yield* hold("a", "setup", 2000), undefined)
      assert.isDefined(yield* hold("b", "setup", 2000))
      // Another incarnation of the same writer takes over immediately.
      const second = yield* hold("a", "inventory", 2000)
      assert.deepStrictEqual([yield* isHeld("a", first ?? 0), yield* isHeld("a", second ?? 0)], [false, true])
      yield* release("a", first ?? 0)
      assert.isTrue(yield* isHeld("a", second ?? 0))
      // A writer that ended without a release, and one whose clock was set back.
      const third = yield* hold("a", "setup", 33_000)
      assert.deepStrictEqual([yield* isHeld("a", second ?? 0), yield* isHeld("a", third ?? 0)], [false, true])
      assert.strictEqual(yield* hold("a", "inventory", 33_000), undefined)
      assert.isDefined(yield* hold("a", "inventory", -100_000))
      yield* release("a", (third ?? 0) + 1)
      assert.isDefined(yield* hold("a", "setup", 0))
    }).pipe(Effect.provide(layer()))
  )

  it.effect("replace webhooks, count them by state, and list those with problems", () =>
    Effect.gen(function* () {
      const inventories = yield* Inventories
      const problem = { _tag: "WebhookInactive" } as const
      const many = Array.from({ length: 250 }, (_, n) => hook(`repository:${String(n).padStart(3, "0")}`))
      yield* inventories.save([...many, hook("host", { trigger: "b" })], { ...none, created: 250, repaired: 1 })
      yield* inventories.save(
        [hook("repository:001", { state: "broken", problem, hookId: "7", secretDigest: "d" })],
        none
      )
      yield* inventories.remove("a", ["repository:000", "repository:249"])
      const counts = yield* inventories.counts
      assert.deepStrictEqual(counts.map(({ count, state, trigger }) => [trigger, state, count]).toSorted(), [
        ["a", "broken", 1],
        ["a", "complete", 247],
        ["b", "complete", 1]
      ])
      const broken = { state: "broken", problem, hookId: "7", secretDigest: "d", brokenSince: 5 } as const
      const expected = [hook("repository:001", broken)]
      assert.deepStrictEqual(yield* inventories.problems("a", 10), expected)
      assert.strictEqual((yield* inventories.hooks("a")).length, 248)
      assert.deepInclude((yield* inventories.list)[0], { trigger: "a", created: 250, repaired: 1 })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("keep since when a webhook is broken until it is complete", () =>
    Effect.gen(function* () {
      const inventories = yield* Inventories
      const problem = { _tag: "WebhookInactive" } as const
      const since = Effect.map(inventories.counts, (all) =>
        all.map(({ count, since: at, state }) => [state, count, at])
      )
      const save = (startedAt: number, ...hooks: ReadonlyArray<InventoryHook>) =>
        inventories.save(hooks, { ...none, startedAt })
      yield* save(10, hook("b", { state: "missing", problem }), hook("a", { state: "unreadable", problem }))
      yield* save(20, hook("b", { state: "missing", problem }))
      assert.sameDeepMembers(yield* since, [
        ["missing", 1, 10],
        ["unreadable", 1, undefined]
      ])
      // Those that may not be read are listed last.
      assert.deepStrictEqual(
        (yield* inventories.problems("a", 1)).map(({ scope }) => scope),
        ["b"]
      )
      yield* save(30, hook("b"))
      assert.sameDeepMembers(yield* since, [
        ["complete", 1, undefined],
        ["unreadable", 1, undefined]
      ])
      yield* save(40, hook("b", { state: "broken", problem }), hook("c", { state: "broken", problem }))
      yield* save(50, hook("d", { state: "broken", problem }))
      assert.deepInclude(yield* since, ["broken", 3, 50])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("keep the earliest report of changed repositories until a check that began after it", () =>
    Effect.gen(function* () {
      const inventories = yield* Inventories
      yield* inventories.changed(["a", "b"], 90)
      yield* inventories.changed(["a"], 95)
      const ended = { at: 110, repositories: 3, served: 1, isListed: true, failure: undefined }
      yield* inventories.checked("a", { startedAt: 80, ...ended })
      assert.deepStrictEqual(
        (yield* inventories.list).map(({ changedAt }) => changedAt),
        [90, 90]
      )
      yield* inventories.checked("a", { startedAt: 100, ...ended, isListed: false })
      assert.deepStrictEqual(
        (yield* inventories.list).map(({ changedAt }) => changedAt),
        [90, 90]
      )
      yield* inventories.checked("a", { startedAt: 90, ...ended })
      assert.deepStrictEqual(
        (yield* inventories.list).map(({ changedAt }) => changedAt),
        [undefined, 90]
      )
    }).pipe(Effect.provide(layer()))
  )
})
