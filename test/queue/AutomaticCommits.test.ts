/** Automatic pushes in batches: their members, their ranges, and one review per batch in the queue. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import type { Change } from "../../src/domain/Change.ts"
import { toRange } from "../../src/domain/Batch.ts"
import type { Push } from "../../src/domain/Batch.ts"
import { Priority } from "../../src/domain/Entry.ts"
import { newId } from "../../src/domain/Ids.ts"
import { admit } from "../../src/queue/AutomaticCommits.ts"
import { Queue } from "../../src/queue/Queue.ts"
import type { QueueAdmission } from "../../src/queue/Queue.ts"
import { Batches } from "../../src/store/Batches.ts"
import { databases } from "../store/Databases.ts"
import { admission } from "./Admissions.ts"
import { inFolder, stores } from "./Stores.ts"

const delay = 300

const pushed = (
  before: string | undefined,
  after: string,
  at: number,
  over: Partial<Pick<Change, "commits" | "workspace"> & { readonly branch: string; readonly dueAt: number }> = {}
): QueueAdmission => {
  const { branch = "main", dueAt = at + delay, ...rest } = over
  return {
    eventId: newId(),
    change: {
      provider: "gitea",
      trigger: "main",
      workspace: "app",
      repo: { fullName: "acme/app" },
      target: { kind: "push", branch },
      head: after,
      base: before,
      commits: 1,
      ...rest
    },
    configHash: "c0ffee",
    priority: Priority.automatic,
    admittedAt: at,
    dueAt
  }
}

const admitted = (...items: ReadonlyArray<QueueAdmission>) => admit(items)
const batchesOf = (workspace = "app") =>
  Effect.flatMap(Batches, (batches) =>
    Effect.map(batches.list({ workspace, limit: 100 }), (found) => found.toReversed())
  )
const entries = (workspace = "app") => Effect.flatMap(Queue, (queue) => queue.load(workspace))

describe("range of a batch", () => {
  const created = (after: string): Push => ({ before: undefined, after })
  const push = (before: string, after: string): Push => ({ before, after })
  it.each<readonly [string, readonly [Push, ...Array<Push>], Push]>([
    ["one push", [push("a", "b")], push("a", "b")],
    ["pushes in order", [push("a", "b"), push("b", "c"), push("c", "d")], push("a", "d")],
    ["pushes whose deliveries overtook each other", [push("b", "c"), push("a", "b")], push("a", "c")],
    ["rewritten history", [push("a", "b"), push("b", "x"), push("x", "y")], push("a", "y")],
    ["a branch that was made", [created("b"), push("b", "c")], created("c")],
    ["a missing delivery: first and newest received", [push("a", "b"), push("c", "d")], push("a", "d")],
    ["there and back again", [push("a", "b"), push("b", "a")], push("a", "a")]
  ])("%s", (_, pushes, range) => {
    assert.deepStrictEqual(toRange(pushes), range)
  })

  it("is that of the chain in whatever order its pushes arrive", () => {
    const chains = fc.uniqueArray(fc.nat(), { minLength: 2, maxLength: 30 }).chain((ids) => {
      const pushes = ids.slice(1).map((id, index) => push(`c${ids[index]}`, `c${id}`))
      return fc.tuple(
        fc.constant(push(`c${ids[0]}`, `c${ids.at(-1)}`)),
        fc.shuffledSubarray(pushes, { minLength: pushes.length })
      )
    })
    let seen = 0
    fc.assert(
      fc.property(chains, ([range, [first, ...rest]]) => {
        if (first === undefined) return
        assert.deepStrictEqual(toRange([first, ...rest]), range)
        seen++
      })
    )
    assert.isAbove(seen, 50)
  })
})

/** Every queue with records in SQLite, and records in Postgres. */
const places = databases.flatMap((database) =>
  stores.flatMap((store) =>
    database.name === "sqlite" || store.name === "memory"
      ? [{ name: `${store.name}, records in ${database.name}`, store, database }]
      : []
  )
)

for (const { name: place, store, database } of places) {
  const world = () => Layer.merge(inFolder(store), database.layer())
  const each = (name: string, test: Effect.Effect<void, unknown, Layer.Success<ReturnType<typeof world>>>) =>
    layer(world())(`${place}:`, (t) => t.effect(name, () => test))

  each(
    "pushes of a stream join until it is due; the next ones open another batch, which waits for the first",
    Effect.gen(function* () {
      const queue = yield* Queue
      const first = pushed("a", "b", 1000)
      const [opened] = yield* admitted(first)
      assert.deepInclude(opened, { status: "deferred", dueAt: 1300 })
      const second = pushed("b", "c", 1299)
      assert.deepInclude((yield* admitted(second))[0], {
        entryId: opened?.entryId ?? "",
        status: "coalesced",
        dueAt: 1300
      })

      const late = pushed("c", "d", 1300)
      assert.deepInclude((yield* admitted(late))[0], { status: "deferred", dueAt: 1600 })
      const [entry, ...others] = yield* entries()
      assert.deepStrictEqual(others, [])
      assert.deepInclude(entry?.change, { base: "a", head: "c", commits: 2 })
      assert.deepInclude(entry, { dueAt: 1300, admittedAt: 1000, status: "waiting" })
      assert.deepStrictEqual(entry?.events, [first.eventId, second.eventId])

      const [one, two] = yield* batchesOf()
      assert.deepInclude(one, { status: "ready", entryId: entry?.id, commits: 2, firstAt: 1000 })
      assert.deepInclude(two, { status: "open", entryId: undefined, commits: 1, dueAt: 1600 })
      const members = yield* Effect.flatMap(Batches, (batches) => batches.members(one?.id ?? ""))
      assert.deepStrictEqual(
        members.map(({ eventId, status }) => [eventId, status]),
        [
          [first.eventId, "batched"],
          [second.eventId, "batched"]
        ]
      )

      // Repeating all of them after a crash changes nothing.
      const again = yield* admitted(first, second, late)
      assert.deepStrictEqual(
        again.map(({ status }) => status),
        ["duplicate", "duplicate", "duplicate"]
      )
      assert.lengthOf(yield* entries(), 1)
      assert.strictEqual((yield* queue.get(entry?.id ?? ""))?.events.length, 2)
    })
  )

  each(
    "streams are apart: branches, and what is no push",
    Effect.gen(function* () {
      yield* admitted(
        pushed("a", "b", 1000),
        pushed("x", "y", 1000, { branch: "next" }),
        admission({ workspace: "app", head: "b" })
      )
      yield* admitted(pushed("b", "c", 1001), pushed("y", "z", 1001, { branch: "next" }))
      const heads = (yield* entries()).map(({ change }) => `${change.target.kind} ${change.base ?? ""}..${change.head}`)
      assert.deepStrictEqual(heads.toSorted(), ["pull_request ..b", "push a..c", "push x..z"])
    })
  )

  each(
    "a batch holds 4096 commits at most; one larger push is a batch of its own",
    Effect.gen(function* () {
      yield* admitted(pushed("a", "b", 1000, { commits: 4000 }))
      yield* admitted(pushed("b", "c", 1001, { commits: 96 }))
      yield* admitted(pushed("c", "d", 1002, { commits: 1 }))
      yield* admitted(pushed("d", "e", 1003, { commits: 9000 }))
      yield* admitted(pushed("e", "f", 1004))
      assert.deepStrictEqual(
        (yield* batchesOf()).map(({ change, commits }) => [change.base, change.head, commits]),
        [
          ["a", "c", 4096],
          ["c", "d", 1],
          ["d", "e", 9000],
          ["e", "f", 1]
        ]
      )
      assert.lengthOf(yield* entries(), 1)
    })
  )

  each(
    "pushes that come together, in one call, are one batch",
    Effect.gen(function* () {
      const answers = yield* admitted(pushed("b", "c", 1000), pushed("a", "b", 1000), pushed("c", "d", 1000))
      assert.strictEqual(new Set(answers.map(({ entryId }) => entryId)).size, 1)
      const [entry] = yield* entries()
      assert.deepInclude(entry?.change, { base: "a", head: "d", commits: 3 })
    })
  )

  each(
    "without a delay each push is a batch, one after the other",
    Effect.gen(function* () {
      yield* admitted(pushed("a", "b", 1000, { dueAt: 1000 }))
      yield* admitted(pushed("b", "c", 1000, { dueAt: 1000 }))
      assert.lengthOf(yield* entries(), 1)
      assert.deepStrictEqual(
        (yield* batchesOf()).map(({ change }) => change.head),
        ["b", "c"]
      )
    })
  )
}

for (const database of databases)
  layer(database.layer())(`records in ${database.name}`, (t) => {
    t.effect("a report of a server that is routed late does not join a batch that is due", () =>
      Effect.gen(function* () {
        const batches = yield* Batches
        const report = (before: string, after: string, at: number): QueueAdmission => {
          const { change, ...rest } = pushed(before, after, at)
          return { ...rest, change: { ...change, provider: "subversion", trigger: "tree", workspace: "web" } }
        }
        const [joined] = [
          yield* batches.join([report("3", "4", 1000), report("4", "5", 1001)]),
          yield* TestClock.adjust(1300)
        ]
        const [late] = yield* batches.join([report("2", "3", 1002)])
        assert.deepStrictEqual(
          [...joined, late].map((one) => one?.how),
          ["opened", "joined", "opened"]
        )
        assert.deepInclude((yield* batches.get(joined[0]?.batch.id ?? ""))?.change, { base: "3", head: "5" })
      })
    )

    t.effect("ended batches are removed beyond the limits, unfinished ones never", () =>
      Effect.gen(function* () {
        const batches = yield* Batches
        for (let at = 1000; at < 6000; at += 1000) yield* batches.join([pushed(`${at}`, `${at + 1000}`, at)])
        const all = yield* batchesOf()
        assert.lengthOf(all, 5)
        for (const { id } of all.slice(0, 4)) assert(yield* batches.follow(id, { status: "succeeded" }, 9000))
        assert.strictEqual(yield* batches.prune({ maxCount: 2, before: 0 }), 2)
        assert.strictEqual(yield* batches.prune({ maxCount: 100, before: 4000 }), 1)
        assert.deepStrictEqual(
          (yield* batchesOf()).map(({ firstAt }) => firstAt),
          [4000, 5000]
        )
        assert.deepStrictEqual(yield* batches.members(all[0]?.id ?? ""), [])
        assert.isFalse(yield* batches.follow(all[3]?.id ?? "", { status: "running" }, 9000))
      })
    )
  })
