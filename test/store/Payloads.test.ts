/** Bodies of deliveries on real databases: stored once, bounded by number and age. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Payloads } from "../../src/store/Payloads.ts"
import type { DeliveryPayload } from "../../src/store/Payloads.ts"
import { databases } from "./Databases.ts"

const payload = (at: number, more: Partial<DeliveryPayload> = {}): DeliveryPayload => ({
  eventId: `event-${at}`,
  receivedAt: at,
  path: "github",
  headers: { "x-github-event": "push", note: 'it\'s "quoted"' },
  body: `{"at":${at}}`,
  bytes: 9,
  cut: false,
  admits: { _tag: "Triggers", names: ["a", "b"] },
  replayOf: undefined,
  ...more
})

describe.each(databases)("payloads in $name", ({ layer }) => {
  it.effect("are read as they were stored, once, the newest ones", () =>
    Effect.gen(function* () {
      const payloads = yield* Payloads
      const call = payload(2, { cut: true, admits: { _tag: "Workspaces" }, replayOf: "event-1" })
      const scoped = payload(3, { admits: { _tag: "Workspaces", ids: ["app"] } })
      yield* payloads.store([payload(1), call, scoped], 10)
      yield* payloads.store([payload(1, { body: "changed" })], 10)
      assert.deepStrictEqual(yield* payloads.get("event-1"), payload(1))
      assert.deepStrictEqual(yield* payloads.get("event-2"), call)
      assert.deepStrictEqual(yield* payloads.get("event-3"), scoped)
      yield* payloads.store([payload(4)], 2)
      assert.isUndefined(yield* payloads.get("event-2"))
      assert.strictEqual(yield* payloads.prune({ maxCount: 10, before: 4 }), 1)
      assert.strictEqual(yield* payloads.prune({ maxCount: 0, before: 0 }), 1)
      assert.isUndefined(yield* payloads.get("event-4"))
    }).pipe(Effect.provide(layer()))
  )
})
