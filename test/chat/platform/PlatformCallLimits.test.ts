/** Waits that a platform requests when it limits the service: bounded, whatever it names. */
import { expect, it } from "vitest"
import { readResponse } from "../../../src/chat/platform/PlatformCall.ts"

const call = { operation: "POST /messages", secrets: [], writes: true }

it.each([
  [{ "x-ogw-ratelimit-reset": "12" }, 12_000],
  [{ "retry-after": "7" }, 7000],
  [{ "x-ogw-ratelimit-reset": "999999" }, 3_600_000],
  [{ "x-ogw-ratelimit-reset": "99999999999999999999" }, 60_000],
  [{ "x-ogw-ratelimit-reset": "-1" }, 60_000],
  [{}, 60_000]
])("a limit with the headers %j waits %s ms", (headers: Readonly<Record<string, string>>, millis) => {
  const body = JSON.stringify({ code: 99_991_400, msg: "request trigger frequency limit" })
  expect(readResponse(call, { status: 400, headers, body })).toMatchObject({
    reason: "rate_limited",
    retryAfterMillis: millis
  })
})
