import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AdminSessions } from "../../src/store/AdminSessions.ts"
import { LoginAttempts } from "../../src/store/LoginAttempts.ts"
import { databases } from "./Databases.ts"

const limits = { most: 3, windowMillis: 100, mostOfAll: 1000 }

describe.each(databases)("logins in $name", ({ layer }) => {
  it.effect("a subject is held from its last allowed failure until the first one leaves the window", () =>
    Effect.gen(function* () {
      const attempts = yield* LoginAttempts
      const begin = (now: number, ...subjects: ReadonlyArray<string>) => attempts.begin(subjects, limits, now)
      for (const now of [10, 20, 30]) assert.strictEqual((yield* begin(now, "a", "user"))._tag, "Begun")
      assert.deepStrictEqual(yield* begin(40, "a"), { _tag: "Held", until: 110 })
      assert.deepStrictEqual(yield* begin(40, "b", "user"), { _tag: "Held", until: 110 })
      assert.strictEqual((yield* begin(50, "b"))._tag, "Begun")
      assert.strictEqual((yield* begin(110, "a"))._tag, "Begun")
      assert.deepStrictEqual(yield* begin(111, "a"), { _tag: "Held", until: 120 })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("an attempt that was right does not count, one under way does", () =>
    Effect.gen(function* () {
      const attempts = yield* LoginAttempts
      const answers = yield* Effect.all(
        Array.from({ length: 9 }, () => attempts.begin(["a"], limits, 10)),
        { concurrency: "unbounded" }
      )
      const begun = answers.flatMap((answer) => (answer._tag === "Begun" ? [answer.id] : []))
      assert.lengthOf(begun, 3)
      yield* attempts.succeeded(begun[0] ?? "")
      assert.strictEqual((yield* attempts.begin(["a"], limits, 11))._tag, "Begun")
      assert.strictEqual((yield* attempts.begin(["a"], limits, 11))._tag, "Held")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("what is kept of all together is bounded", () =>
    Effect.gen(function* () {
      const attempts = yield* LoginAttempts
      const few = { ...limits, mostOfAll: 4 }
      for (const name of ["a", "b", "c", "d"]) yield* attempts.begin([name], few, 10)
      assert.deepStrictEqual(yield* attempts.begin(["e"], few, 20), { _tag: "Held", until: 110 })
      assert.strictEqual((yield* attempts.begin(["e"], few, 110))._tag, "Begun")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("sessions are found until they expire, and expired ones go with the next", () =>
    Effect.gen(function* () {
      const sessions = yield* AdminSessions
      const session = { username: "root", createdAt: 1, expiresAt: 10 }
      yield* sessions.open("one", session)
      assert.deepStrictEqual(yield* sessions.find("one", 9), session)
      assert.isUndefined(yield* sessions.find("one", 10))
      yield* sessions.open("two", { ...session, createdAt: 10, expiresAt: 20 })
      assert.isUndefined(yield* sessions.find("one", 5))
      yield* sessions.close("two")
      assert.isUndefined(yield* sessions.find("two", 11))
    }).pipe(Effect.provide(layer()))
  )
})
