/** A chat platform cannot send the credentials of an application to another host. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { callPlatform } from "../../../src/chat/platform/PlatformCall.ts"
import { RedirectingHost } from "../../harness/RedirectingHost.ts"

const secret = "secret-of-the-application"

it.live.each(["GET", "POST"] as const)("a %s is not sent to where the platform redirects it", (method) =>
  Effect.gen(function* () {
    const host = yield* Effect.acquireRelease(
      Effect.promise(() => RedirectingHost.start()),
      (started) => Effect.promise(() => started[Symbol.asyncDispose]())
    )
    const url = `${host.url}/token?secret=${secret}`
    const headers = { authorization: `Bearer ${secret}` }
    const body = method === "POST" ? { app_secret: secret } : undefined
    const call = { operation: `${method} /token`, method, url, headers, body, writes: false, secrets: [secret] }
    const error = yield* Effect.flip(callPlatform(call))
    assert.deepInclude(error, { reason: "invalid", status: 307 })
    assert.notInclude(error.message, secret)
    assert.include(host.received.join(), secret)
    assert.deepStrictEqual(host.followed, [])
  }).pipe(Effect.scoped)
)
