/** The response to a request whose server is unavailable. */
import { Effect } from "effect"
import { expect, it } from "vitest"
import { orUnavailable } from "../../../src/admin/handlers/Available.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { StoreError } from "../../../src/database/StoreError.ts"
import { QueueError } from "../../../src/queue/Queue.ts"

const message = "connect ECONNREFUSED 10.0.0.7:6379"

it.each([
  [
    new QueueError({ reason: "unavailable", disconnected: "redis", why: verbatimReason(message) }),
    "the queue (Redis is disconnected)"
  ],
  [new QueueError({ reason: "unavailable", why: verbatimReason(message) }), "the queue"],
  [
    new StoreError({
      reason: "unavailable",
      operation: "open",
      disconnected: "postgres",
      why: verbatimReason(message)
    }),
    "the records (Postgres is disconnected)"
  ]
])("names the part and its server, without the address: %s", async (error, part) => {
  const { detail } = await Effect.runPromise(Effect.flip(orUnavailable(Effect.fail(error))))
  expect(detail).toBe(`Unavailable: ${part}. /readyz lists what is not ready, the service's log has the error.`)
  expect(detail).not.toContain("10.0.0.7")
})

it("leaves other errors unchanged", async () => {
  const other = new Error("another")
  expect(await Effect.runPromise(Effect.flip(orUnavailable(Effect.fail(other))))).toBe(other)
})
