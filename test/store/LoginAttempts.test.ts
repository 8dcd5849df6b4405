import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AdminSessions } from "../../src/store/AdminSessions.ts"
import { LoginAttempts } from "../../src/store/LoginAttempts.ts"
import { databases } from "./Databases.ts"

const limits = { perClient: 3, windowMillis: 100, total: 1000 }

const purpose = "session" as const
const role = "administrator" as const

describe.each(databases)("logins in $name", ({ layer }) => {
  it.effect("a client is locked from its last allowed failure until the first one leaves the window", () =>
    Effect.gen(function* () {
      const attempts = yield* LoginAttempts
      const begin = (now: number, client: string) => attempts.begin({ client, user: "user" }, limits, now)
      for (const now of [10, 20, 30]) assert.strictEqual((yield* begin(now, "a"))._tag, "Begun")
      assert.deepStrictEqual(yield* begin(40, "a"), { _tag: "Held", until: 110 })
      assert.strictEqual((yield* begin(50, "b"))._tag, "Begun")
      assert.strictEqual((yield* begin(110, "a"))._tag, "Begun")
      assert.deepStrictEqual(yield* begin(111, "a"), { _tag: "Held", until: 120 })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a user is never locked; its failures from all clients are counted", () =>
    Effect.gen(function* () {
      const attempts = yield* LoginAttempts
      const begin = (now: number, client: string) => attempts.begin({ client, user: "user" }, limits, now)
      for (let at = 0; at < 10; at++) {
        const attempt = yield* begin(10, `client ${at}`)
        assert.strictEqual(attempt._tag === "Begun" ? attempt.userFailures : undefined, at)
      }
      const later = yield* begin(110, "another")
      assert.strictEqual(later._tag === "Begun" ? later.userFailures : undefined, 0)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("an attempt that was right does not count, one under way does", () =>
    Effect.gen(function* () {
      const attempts = yield* LoginAttempts
      const begin = (now: number) => attempts.begin({ client: "a", user: "user" }, limits, now)
      const answers = yield* Effect.all(
        Array.from({ length: 9 }, () => begin(10)),
        { concurrency: "unbounded" }
      )
      const begun = answers.flatMap((answer) => (answer._tag === "Begun" ? [answer.id] : []))
      assert.lengthOf(begun, 3)
      yield* attempts.succeeded(begun[0] ?? "")
      assert.strictEqual((yield* begin(11))._tag, "Begun")
      assert.strictEqual((yield* begin(11))._tag, "Held")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("the total number of failures is limited, and locks no client", () =>
    Effect.gen(function* () {
      const attempts = yield* LoginAttempts
      const few = { ...limits, perClient: 1, total: 4 }
      const begin = (now: number, client: string) => attempts.begin({ client, user: "user" }, few, now)
      for (let now = 10; now < 20; now++) assert.strictEqual((yield* begin(now, `client ${now}`))._tag, "Begun")
      assert.strictEqual((yield* begin(20, "client 19"))._tag, "Held")
      assert.strictEqual((yield* begin(20, "client 10"))._tag, "Begun")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("sessions are revoked, all of them or all but one", () =>
    Effect.gen(function* () {
      const sessions = yield* AdminSessions
      const session = { id: "1", purpose, username: "root", role, origin: undefined, createdAt: 1, expiresAt: 10 }
      for (const digest of ["one", "two", "three"]) yield* sessions.open(digest, session)
      assert.strictEqual(yield* sessions.revoke("two"), 2)
      assert.isUndefined(yield* sessions.find("one", 2))
      assert.deepStrictEqual(yield* sessions.find("two", 2), session)
      assert.strictEqual(yield* sessions.revoke(undefined), 1)
      assert.isUndefined(yield* sessions.find("two", 2))
    }).pipe(Effect.provide(layer()))
  )

  it.effect("sessions are found until they expire, and expired ones go with the next", () =>
    Effect.gen(function* () {
      const sessions = yield* AdminSessions
      const session = { id: "1", purpose, username: "root", role, origin: undefined, createdAt: 1, expiresAt: 10 }
      yield* sessions.open("one", session)
      assert.deepStrictEqual(yield* sessions.find("one", 9), session)
      assert.isUndefined(yield* sessions.find("one", 10))
      yield* sessions.open("two", { ...session, id: "2", createdAt: 10, expiresAt: 20 })
      yield* sessions.open("link", { ...session, id: "3", purpose: "link", createdAt: 10, expiresAt: 20 })
      assert.deepStrictEqual(
        (yield* sessions.list(11)).map(({ id }) => id),
        ["2"]
      )
      assert.deepStrictEqual([yield* sessions.end("3"), yield* sessions.end("1")], [false, false])
      assert.isUndefined(yield* sessions.find("one", 5))
      yield* sessions.close("two")
      assert.isUndefined(yield* sessions.find("two", 11))
      yield* sessions.open("three", { ...session, id: "4", createdAt: 10, expiresAt: 20 })
      assert.deepStrictEqual([yield* sessions.end("4"), yield* sessions.end("4")], [true, false])
      assert.isUndefined(yield* sessions.find("three", 11))
    }).pipe(Effect.provide(layer()))
  )
})
