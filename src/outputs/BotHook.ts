/**
 * Posts to the webhook of a chat bot. The address is a credential: it stands in no error and no log. The platforms answer 200
 * with a code of their own; what it means for the publisher is decided here.
 */
import { createHmac } from "node:crypto"
import { Clock, Duration, Effect, Redacted, Schema } from "effect"
import { EnvHttpProxyAgent, request } from "undici"
import { checkFence, WriteOwner } from "../forge/WriteOwner.ts"
import { ResponseTimeout } from "../forge/ResponseTimeout.ts"
import { ForgeError } from "../forge/Forge.ts"
import { flatHeaders, retryAfter } from "../forge/HostResponse.ts"
import type { HostResponse } from "../forge/HostResponse.ts"

export interface Bot {
  readonly url: Redacted.Redacted
  readonly secret: Redacted.Redacted | undefined
}

const largestAnswer = 64 * 1024
const operation = "POST chat bot"
const wait = 60_000

const failed = (reason: ForgeError["reason"], message: string, status?: number, asked?: number): ForgeError =>
  new ForgeError({
    reason,
    operation,
    message: `the chat bot ${message}`,
    ...(status === undefined ? {} : { status }),
    ...(reason === "rate_limited" ? { retryAfterMillis: asked ?? wait } : {})
  })

/** Feishu says `code` and `msg`, in old answers `StatusCode`; WeCom `errcode` and `errmsg`. */
const Said = Schema.Struct({
  code: Schema.optional(Schema.Int),
  StatusCode: Schema.optional(Schema.Int),
  errcode: Schema.optional(Schema.Int),
  msg: Schema.optional(Schema.String),
  errmsg: Schema.optional(Schema.String)
})

/** Feishu: too many requests; WeCom: over the calls per minute, busy. */
const passing = new Set([9499, 11232, 45009, 45033, -1])

const accepted = ({ body, headers, status }: HostResponse, now: number): Effect.Effect<void, ForgeError> => {
  const asked = retryAfter(headers, now)
  if (status === 429 || (status === 403 && asked !== undefined)) {
    return Effect.fail(failed("rate_limited", "limits us; it is tried again later", status, asked))
  }
  if (status === 503) return Effect.fail(failed("unavailable", "is not available now", status))
  if (status >= 500) return Effect.fail(failed("unknown_outcome", `answered ${status}`, status))
  if (status < 200 || status > 299) {
    return Effect.fail(failed("invalid", `response status ${status}; check webhook_url of the channel`, status))
  }
  return Schema.decodeUnknownEffect(Schema.fromJsonString(Said))(body).pipe(
    Effect.mapError(() => failed("invalid", "unexpected response for a chat platform; check webhook_url")),
    Effect.flatMap((answer) => {
      const code = answer.code ?? answer.StatusCode ?? answer.errcode ?? 0
      if (code === 0) return Effect.void
      const said = (answer.msg ?? answer.errmsg ?? "").replace(/\p{Cc}/gu, " ").slice(0, 200)
      return Effect.fail(
        failed(passing.has(code) ? "rate_limited" : "invalid", `refused the message with code ${code}: ${said}`)
      )
    })
  )
}

/** Before anything left this machine. */
const neverSent = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT|CERT|INVALID_ARG/

const codeOf = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""

const loopback = (url: string): boolean => /^(localhost|127\..*|\[::1\])$/.test(new URL(url).hostname)

export const post = Effect.fnUntraced(function* (bot: Bot, body: object) {
  const url = Redacted.value(bot.url)
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    return yield* failed("invalid", "has no address; webhook_url has to be an http or https URL")
  }
  // The same check as before a write to the host: a message about a head that was replaced is not sent.
  yield* (yield* WriteOwner).guard
  yield* checkFence
  const timeout = Duration.toMillis(yield* ResponseTimeout)
  const answer = yield* Effect.tryPromise({
    try: async (signal) => {
      const response = await request(url, {
        method: "POST",
        headers: { "content-type": "application/json; charset=utf-8", "user-agent": "aicr" },
        body: JSON.stringify(body),
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
        ...(loopback(url) ? {} : { dispatcher: new EnvHttpProxyAgent() })
      })
      const text = await response.body.text()
      return { status: response.statusCode, headers: flatHeaders(response.headers), body: text.slice(0, largestAnswer) }
    },
    catch: (cause) => {
      const code = codeOf(cause)
      return neverSent.test(code)
        ? failed("unavailable", `could not be reached (${code})`)
        : failed("unknown_outcome", "no response")
    }
  })
  return yield* accepted(answer, yield* Clock.currentTimeMillis)
})

/** Feishu's signature of a custom bot: the key is timestamp and secret, the message is empty. */
export const feishuSign = (secret: Redacted.Redacted, seconds: number): string =>
  createHmac("sha256", `${seconds}\n${Redacted.value(secret)}`).digest("base64")

/** What a signed message carries beside its content. */
export const feishuSigned = (bot: Bot): Effect.Effect<object> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    if (bot.secret === undefined) return {}
    const seconds = Math.floor(now / 1000)
    return { timestamp: String(seconds), sign: feishuSign(bot.secret, seconds) }
  })
