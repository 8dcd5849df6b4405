/** The webhook of a bot cannot send messages and signatures to another host. */
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import { HostTraffic } from "../../../src/forge/HostTraffic.ts"
import { anyWriter, WriteOwner } from "../../../src/forge/WriteOwner.ts"
import { WritePermits } from "../../../src/forge/WritePermits.ts"
import { post } from "../../../src/outputs/chat/BotHook.ts"
import { RedirectingHost } from "../../harness/RedirectingHost.ts"

it.live.each([302, 307])("a message is not sent to where the webhook redirects it with %i", (status) =>
  Effect.gen(function* () {
    const host = yield* Effect.acquireRelease(
      Effect.promise(() => RedirectingHost.start(status)),
      (started) => Effect.promise(() => started[Symbol.asyncDispose]())
    )
    const bot = { url: Redacted.make(`${host.url}/hook/secret-of-the-hook`), secret: Redacted.make("a-secret") }
    const error = yield* Effect.flip(post(bot, { gap: Duration.zero, hasCode: true }, { text: "a finding" }))
    assert.deepInclude(error, { reason: "invalid", status })
    assert.notInclude(error.message, "secret-of-the-hook")
    assert.strictEqual(host.received.length, 1)
    assert.deepStrictEqual(host.followed, [])
  }).pipe(
    Effect.provideService(WriteOwner, anyWriter),
    Effect.provide([WritePermits.layerAlone, HostTraffic.layer]),
    Effect.scoped
  )
)
