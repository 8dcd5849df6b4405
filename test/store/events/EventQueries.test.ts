import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { searchTerms } from "../../../src/domain/SearchText.ts"
import type { EventSearch, Pushers } from "../../../src/store/Receipts.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { databases } from "../Databases.ts"
import { event, ignored } from "../Fixtures.ts"

describe.each(databases)("event records in $name", ({ layer }) => {
  it.effect("are selected by trigger, provider, outcome and time", () =>
    Effect.gen(function* () {
      const { list, settle, storeAll } = yield* Receipts
      const done = event({ receivedAt: 10 })
      const other = event({ receivedAt: 20, trigger: "second", provider: "github" })
      const last = ignored({ receivedAt: 30 })
      yield* storeAll([done, other, last])
      yield* settle([done.id], { outcome: "executed" }, 40)
      const select = (filter: object) =>
        Effect.map(list({ limit: 10, ...filter }), (found) => found.map(({ id }) => id))
      assert.deepStrictEqual(yield* select({ trigger: "main" }), [last.id, done.id])
      assert.deepStrictEqual(yield* select({ provider: "github" }), [other.id])
      assert.deepStrictEqual(yield* select({ outcome: "executed" }), [done.id])
      assert.deepStrictEqual(yield* select({ since: 20 }), [last.id, other.id])
      assert.deepStrictEqual(yield* select({ until: 20 }), [done.id])
      assert.deepStrictEqual(yield* select({ since: 20, until: 30 }), [other.id])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are found by parts of words of their text, all of them, within a filter", () =>
    Effect.gen(function* () {
      const { search, storeAll } = yield* Receipts
      // Ids have the time of their creation.
      const now = Date.now()
      const draft = ignored({
        repo: "Team/Login-Service",
        facts: { number: 7, head: "c0de", branch: "main", author: "Dana", sender: "eve", title: "Añade 100%" },
        receivedAt: now + 10
      })
      const accepted = event({ receivedAt: now + 20 })
      const other = event({
        repo: "team/login-service",
        workspace: "other",
        facts: { title: "Fix" },
        receivedAt: now + 30
      })
      yield* storeAll([draft, accepted, other])
      const find = (text: string, more: Partial<EventSearch> = {}) =>
        Effect.map(search({ terms: searchTerms(text), limit: 10, ...more }), ({ events }) => events.map(({ id }) => id))
      assert.deepStrictEqual(yield* find("LOGIN"), [other.id, draft.id])
      assert.deepStrictEqual(yield* find("login", { oldestFirst: true }), [draft.id, other.id])
      for (const text of ["service#7", "c0d", "dan eve", "añad 0%", "main app"])
        assert.deepStrictEqual(yield* find(text), [draft.id], text)
      assert.deepStrictEqual(yield* find("login fix"), [other.id])
      // A title that its work alone has.
      assert.deepStrictEqual(yield* find("añade 中文"), [accepted.id])
      assert.deepStrictEqual(yield* find("0__"), [])
      assert.deepStrictEqual(yield* find("login", { workspace: "other" }), [other.id])
      assert.deepStrictEqual(yield* find("login", { since: now + 11 }), [other.id])
      assert.deepStrictEqual(yield* find("login", { until: now + 30 }), [draft.id])
      assert.deepStrictEqual(yield* find("login", { before: other.id }), [draft.id])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("name who pushed to the head of a pull request", () =>
    Effect.gen(function* () {
      const { pushers, storeAll } = yield* Receipts
      const push = (pusher: string | undefined, head: string, over: object = {}) =>
        event({ repo: "Team/App", facts: { number: 5, head, pusher }, ...over })
      yield* storeAll([
        push("dana", "a"),
        push("eve", "b"),
        push("eve", "c"),
        push(undefined, "d"),
        push("other", "b", { trigger: "second" }),
        push("another", "b", { repo: "team/other" }),
        ignored({ repo: "team/app", facts: { number: 5, head: "e", pusher: "draft" } })
      ])
      const pull = { trigger: "main", repo: "team/app", number: 5 }
      const all = ["dana", "draft", "eve"]
      const read = (head: string, limit = 5) => pushers({ ...pull, head }, limit)
      const of = ({ isPart, pushedHead, usernames }: Pushers) => [usernames.toSorted(), pushedHead, isPart]
      assert.deepStrictEqual(of(yield* read("b")), [all, true, false])
      assert.deepStrictEqual(of(yield* read("d")), [all, false, false])
      assert.deepStrictEqual(of(yield* read("b", 2)).slice(1), [true, true])
      assert.deepStrictEqual(of(yield* pushers({ ...pull, number: 6, head: "b" }, 5)), [[], false, false])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are counted by decision and reason, the reason of accepted ones aside", () =>
    Effect.gen(function* () {
      const { countDecisions, storeAll } = yield* Receipts
      yield* storeAll([
        event({ receivedAt: 5, reason: "command review" }),
        event({ receivedAt: 6, reason: "requested by root" }),
        event({ receivedAt: 7, workspace: "other" }),
        ignored({ receivedAt: 8 }),
        ignored({ receivedAt: 9, reason: "own_event" }),
        ignored({ receivedAt: 10, reason: "own_event", trigger: "second" })
      ])
      assert.deepStrictEqual(yield* countDecisions({}), [
        { decision: "queued", reason: undefined, count: 3, lastAt: 7 },
        { decision: "ignored", reason: "own_event", count: 2, lastAt: 10 },
        { decision: "ignored", reason: "draft", count: 1, lastAt: 8 }
      ])
      assert.deepStrictEqual(yield* countDecisions({ workspace: "other" }), [
        { decision: "queued", reason: undefined, count: 1, lastAt: 7 }
      ])
      assert.deepStrictEqual(yield* countDecisions({ since: 9, trigger: "second" }), [
        { decision: "ignored", reason: "own_event", count: 1, lastAt: 10 }
      ])
    }).pipe(Effect.provide(layer()))
  )
})
