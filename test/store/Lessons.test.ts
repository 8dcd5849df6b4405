/** Reflection memory on real databases: deduplication, limits, age, and separation of repositories. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Lesson } from "../../src/domain/Lesson.ts"
import { Lessons } from "../../src/store/Lessons.ts"
import { databases } from "./Databases.ts"

const lesson = (n: number, more: Partial<Lesson> = {}): Omit<Lesson, "learnedAt"> => ({
  fingerprint: n.toString(16).padStart(32, "0"),
  verdict: "dismissed",
  category: "security",
  severity: "high",
  path: "src/a.ts",
  title: `Title ${n}`,
  quote: `query(${n}) \u0000 'x'`,
  ...more
})
const wide = { maxEntries: 100, maxBytes: 1_000_000, keepMillis: 1000 }
const titles = (repository: string, since = 0, limit = 100) =>
  Lessons.use((lessons) =>
    Effect.map(lessons.recall(repository, since, limit), (found) => found.map(({ title }) => title))
  )

describe.each(databases)("lessons in $name", ({ layer }) => {
  const run = <A, E>(effect: Effect.Effect<A, E, Lessons>) => effect.pipe(Effect.provide(layer()))

  it.effect("keeps each finding once, newest first, and its last verdict", () =>
    Effect.gen(function* () {
      const lessons = yield* Lessons
      assert.strictEqual(yield* lessons.learn("r", [lesson(1), lesson(2)], wide, 10), 2)
      assert.strictEqual(yield* lessons.learn("r", [lesson(1), lesson(3)], wide, 20), 1)
      assert.deepStrictEqual(yield* titles("r"), ["Title 3", "Title 1", "Title 2"])
      assert.strictEqual(yield* lessons.learn("r", [lesson(2, { verdict: "resolved" })], wide, 30), 1)
      const [newest] = yield* lessons.recall("r", 0, 1)
      assert.deepStrictEqual(newest, {
        ...lesson(2, { verdict: "resolved", quote: "query(2)  'x'" }),
        learnedAt: 30
      })
      assert.deepStrictEqual(yield* titles("other"), [])
      assert.deepStrictEqual(yield* titles("r", 20), ["Title 2"])
    }).pipe(run)
  )

  it.effect("never holds more entries or bytes than its bounds, and the oldest go", () =>
    Effect.gen(function* () {
      const lessons = yield* Lessons
      for (let n = 1; n <= 20; n++) {
        yield* lessons.learn("r", [lesson(n)], { ...wide, maxEntries: 5 }, n)
        yield* lessons.learn("s", [lesson(n, { quote: "x".repeat(900) })], { ...wide, maxBytes: 3000 }, n)
      }
      assert.deepStrictEqual(
        yield* titles("r"),
        [20, 19, 18, 17, 16].map((n) => `Title ${n}`)
      )
      assert.deepStrictEqual(
        yield* titles("s"),
        [20, 19, 18].map((n) => `Title ${n}`)
      )
      const [, s] = yield* lessons.sizes
      assert.strictEqual(s?.entries, 3)
      assert.isAtMost(s?.bytes ?? 0, 3000)
      // A lesson that exceeds the limit alone is not stored.
      yield* lessons.learn("t", [lesson(1, { quote: "ü".repeat(5000) })], { ...wide, maxBytes: 500 }, 1)
      assert.deepStrictEqual(yield* titles("t"), [])
    }).pipe(run)
  )

  it.effect("forgets what is too old: with the next lesson of its repository, and by itself", () =>
    Effect.gen(function* () {
      const lessons = yield* Lessons
      yield* lessons.learn("r", [lesson(1)], wide, 10)
      yield* lessons.learn("s", [lesson(2)], wide, 500)
      yield* lessons.learn("r", [lesson(3)], wide, 1010)
      assert.deepStrictEqual(yield* titles("r"), ["Title 3"])
      assert.strictEqual(yield* lessons.prune(1499), 0)
      assert.strictEqual(yield* lessons.prune(1500), 1)
      assert.deepStrictEqual([yield* titles("r"), yield* titles("s")], [["Title 3"], []])
    }).pipe(run)
  )

  it.effect("is cleared for one repository or for all", () =>
    Effect.gen(function* () {
      const lessons = yield* Lessons
      for (const repository of ["r", "s", "t"]) yield* lessons.learn(repository, [lesson(1), lesson(2)], wide, 1)
      assert.strictEqual(yield* lessons.clear("s"), 2)
      assert.deepStrictEqual(
        (yield* lessons.sizes).map(({ repository }) => repository),
        ["r", "t"]
      )
      assert.strictEqual(yield* lessons.clear(undefined), 4)
      assert.deepStrictEqual(yield* lessons.sizes, [])
    }).pipe(run)
  )
})
