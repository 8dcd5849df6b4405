/** The limit of persons whom an application of WeCom reaches on a day, counted in the stores for all nodes. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { countPersons, withinDailyPersons } from "../../src/chat/DailyPersons.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { databases } from "../store/Databases.ts"

const failure = (reason: ForgeError["reason"]) =>
  new ForgeError({ reason, operation: "send", why: verbatimReason(reason) })

const times = <A, R>(count: number, effect: Effect.Effect<A, never, R>) =>
  Effect.all(
    Array.from({ length: count }, () => effect),
    { concurrency: 16, discard: true }
  )

const make = (agentId: string) => {
  let sent = 0
  const app = { baseUrl: "https://wecom.test", corpId: "corp", agentId, accounts: 2 }
  const send = (persons: number, outcome?: ForgeError["reason"]) =>
    Effect.exit(
      withinDailyPersons(
        app,
        persons,
        Effect.suspend(() => {
          sent += outcome === undefined ? persons : 0
          return outcome === undefined ? Effect.void : Effect.fail(failure(outcome))
        })
      )
    )
  return { send, sent: () => sent }
}

describe.each(databases)("persons of a day in $name", ({ layer: fresh }) => {
  layer(fresh())((given) => {
    given.effect(
      "two nodes together reach 200 times as many persons as there are accounts, until midnight in China",
      () =>
        Effect.gen(function* () {
          const noon = Date.UTC(2026, 1, 1, 4)
          yield* TestClock.setTime(noon)
          const { send, sent } = make("limit")
          yield* Effect.all(
            Array.from({ length: 250 }, () => send(2)),
            { concurrency: 16, discard: true }
          )
          assert.strictEqual(sent(), 400)
          const [refused, other] = [yield* send(1), yield* make("other").send(1)]
          assert.strictEqual(other._tag, "Success")
          const text = JSON.stringify(refused)
          assert.include(text, "rate_limited")
          assert.include(text, `"_tag":"DailyPersonsReached","limit"`)
          assert.include(text, `"retryAfterMillis":${12 * 60 * 60 * 1000}`)
          yield* TestClock.setTime(noon + 12 * 60 * 60 * 1000)
          yield* send(1)
          assert.strictEqual(sent(), 401)
        })
    )

    given.effect("a message that was not sent does not count, one without a response does", () =>
      Effect.gen(function* () {
        const { send, sent } = make("failures")
        yield* times(300, send(2, "unavailable"))
        yield* times(100, send(2, "unknown_outcome"))
        yield* times(300, send(1))
        assert.strictEqual(sent(), 200)
      })
    )

    given.effect("a message counts for at most all accounts", () =>
      Effect.gen(function* () {
        const { send, sent } = make("large")
        yield* times(210, send(5000))
        assert.strictEqual(sent(), 200 * 5000)
      })
    )
  })
})

it("persons of a message are its users and those of its departments and tags; without a listing all accounts", () =>
  Effect.gen(function* () {
    const platform = yield* Effect.promise(() => FakeChatPlatform.start())
    yield* Effect.addFinalizer(() => Effect.promise(() => platform[Symbol.asyncDispose]()))
    platform.directory.departments = { "1": "0", "2": "1" }
    platform.directory.people = [
      { id: "a", department: "1" },
      { id: "b", department: "2" },
      { id: "c", department: "2" }
    ]
    platform.directory.tags = { t: { people: ["a", "x"], departments: [] } }
    const app = {
      platform: "wecom",
      baseUrl: platform.url,
      corpId: "corp",
      agentId: "5",
      secret: Redacted.make(platformSecrets.wecom)
    } as const
    const count = (recipients: Parameters<typeof countPersons>[1]) => countPersons(app, recipients, 50)
    assert.strictEqual(yield* count({ users: ["a", "b"] }), 2)
    assert.strictEqual(yield* count({ users: ["a"], parties: ["1"], tags: ["t"] }), 1 + 3 + 2)
    assert.strictEqual(yield* count({ users: ["@all"] }), 50)
    platform.decide = ({ path }) =>
      path.endsWith("/department/list")
        ? { kind: "answer", status: 200, body: { errcode: 60_011, errmsg: "no privilege" } }
        : undefined
    assert.strictEqual(yield* count({ parties: ["2"] }), 50)
  }).pipe(Effect.scoped, Effect.runPromise))
