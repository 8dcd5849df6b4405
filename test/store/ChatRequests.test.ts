import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ChatRequests } from "../../src/store/ChatRequests.ts"
import type { NewChatRequest } from "../../src/store/ChatRequests.ts"
import { databases } from "./Databases.ts"
import { chatRequest } from "./Fixtures.ts"

const facts = { text: "help \u0000", isAction: false, reply: { messageId: "om" } }
const request = (key: string, more: Partial<NewChatRequest> = {}) =>
  chatRequest({ connection: "c", key, facts, ...more })

describe.each(databases)("ChatRequests in $name", ({ layer }) => {
  it.effect("store a message once, however often it is delivered", () =>
    Effect.gen(function* () {
      const requests = yield* ChatRequests
      const copies = Array.from({ length: 20 }, (_, at) => request(`m${at % 4}`))
      const results = yield* Effect.forEach(copies, requests.add, { concurrency: "unbounded" })
      assert.strictEqual(results.filter((result) => result === "stored").length, 4)
      assert.strictEqual(yield* requests.add(request("m0")), "duplicate")
      assert.strictEqual(yield* requests.add(request("m0", { connection: "d" })), "stored")
      assert.deepStrictEqual(
        yield* requests.openConnections,
        new Map([
          ["c", 4],
          ["d", 1]
        ])
      )
      const [first] = yield* requests.open("c", 10)
      assert.strictEqual(first?.facts.text, "help \u0000")
      assert.strictEqual(first?.status, "accepted")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("let only one of two owners take a step", () =>
    Effect.gen(function* () {
      const requests = yield* ChatRequests
      yield* requests.add(request("m"))
      const [one] = yield* requests.open("c", 1)
      if (one === undefined) return assert.fail("no request")
      const changes = yield* Effect.all(
        [
          requests.change(one, { status: "validating", command: "review", workspace: "w" }, 2000),
          requests.change(one, { status: "rejected" }, 2000)
        ],
        { concurrency: 2 }
      )
      assert.strictEqual(changes.filter((changed) => changed !== undefined).length, 1)
      const queued = yield* requests.change(changes[0] ?? one, { status: "queued" }, 3000)
      assert.strictEqual(queued?.workspace, "w")
      assert.strictEqual(yield* requests.waiting("w"), 1)
      const counted = { connection: "c", since: 999, command: "review", sender: one.sender, upTo: one.id } as const
      assert.strictEqual(yield* requests.count(counted), 1)
      assert.strictEqual(yield* requests.count({ ...counted, since: 1000 }), 0)
      assert.strictEqual(yield* requests.count({ ...counted, conversation: { kind: "group", id: "h" } }), 0)
      assert.deepStrictEqual(
        (yield* requests.list({ status: "queued", limit: 5 })).map(({ id }) => id),
        [one.id]
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("use a button once, before it expires", () =>
    Effect.gen(function* () {
      const requests = yield* ChatRequests
      const action = { connection: "c", conversation: "g", requestId: "r", kind: "again", subject: "s" } as const
      yield* requests.addActions([
        { ...action, id: "a", expiresAt: 2000 },
        { ...action, id: "b", expiresAt: 1000 }
      ])
      assert.isTrue(yield* requests.useAction("a", "by", 1500))
      // The request that used it continues after a crash.
      assert.isTrue(yield* requests.useAction("a", "by", 1500))
      assert.isFalse(yield* requests.useAction("a", "other", 1500))
      assert.isFalse(yield* requests.useAction("b", "by", 1000))
      assert.isFalse(yield* requests.useAction("unknown", "by", 0))
      const expected = { ...action, id: "a", expiresAt: 2000, usedBy: "by" }
      assert.deepStrictEqual(yield* requests.getAction("a"), expected)
      assert.strictEqual((yield* requests.getAction("b"))?.usedBy, undefined)
      assert.strictEqual(yield* requests.getAction("unknown"), undefined)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("keep open requests, and the newest ended ones", () =>
    Effect.gen(function* () {
      const requests = yield* ChatRequests
      for (const key of ["1", "2", "3", "4"]) yield* requests.add(request(key))
      const [first, second, third] = yield* requests.open("c", 10)
      for (const one of [first, second, third])
        if (one !== undefined) yield* requests.change(one, { status: "rejected" }, 1)
      assert.strictEqual(yield* requests.prune({ before: 5000, maxCount: 0, keptSince: 1000 }, 5000), 0)
      assert.strictEqual(yield* requests.prune({ before: 0, maxCount: 2, keptSince: 5000 }, 5000), 2)
      assert.strictEqual(yield* requests.prune({ before: 1001, maxCount: 100, keptSince: 5000 }, 5000), 1)
      assert.strictEqual((yield* requests.list({ limit: 10 })).length, 1)
    }).pipe(Effect.provide(layer()))
  )
})
