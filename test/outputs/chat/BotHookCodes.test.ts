/** The code of the platform decides about the response of the webhook of a bot, whatever its status. Long responses are not read. */
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import { HostTraffic } from "../../../src/forge/HostTraffic.ts"
import { anyWriter, WriteOwner } from "../../../src/forge/WriteOwner.ts"
import { WritePermits } from "../../../src/forge/WritePermits.ts"
import { post } from "../../../src/outputs/chat/BotHook.ts"
import { startChatPlatform } from "../../harness/ChatPlatform.ts"

it.live.each([
  [200, { code: 9499, msg: "Bad Request" }, "invalid", "9499: Bad Request"],
  [400, { code: 9499, msg: "Bad Request" }, "invalid", "9499: Bad Request"],
  [200, { code: 9499, msg: "too many request" }, "rate_limited", "9499"],
  [400, { code: 9499, msg: "Too Many Requests" }, "rate_limited", "9499"],
  [200, { code: 11232, msg: "frequency limited psm" }, "rate_limited", "11232"],
  [400, { code: 11232, msg: "frequency limited psm" }, "rate_limited", "11232"],
  [400, { errcode: 45009, errmsg: "api freq out of limit" }, "rate_limited", "45009"],
  [400, { code: 19021, msg: "sign match fail" }, "invalid", "19021: sign match fail"],
  [400, {}, "invalid", "status 400"],
  [200, { code: 0, filler: "x".repeat(100_000) }, "unknown_outcome", ""]
] as const)("status %i with %j is %s", ([status, body, reason, text]) =>
  Effect.gen(function* () {
    const platform = yield* Effect.acquireRelease(Effect.promise(startChatPlatform), ({ stop }) => Effect.promise(stop))
    platform.decide = () => ({ kind: "answer", answer: { status, body } })
    const bot = { url: Redacted.make(platform.url), secret: undefined }
    const error = yield* Effect.flip(post(bot, { gap: Duration.zero, hasCode: true }, { text: "a finding" }))
    assert.strictEqual(error.reason, reason)
    assert.include(error.message, text)
  }).pipe(
    Effect.provideService(WriteOwner, anyWriter),
    Effect.provide([WritePermits.layerAlone, HostTraffic.layer]),
    Effect.scoped
  )
)
