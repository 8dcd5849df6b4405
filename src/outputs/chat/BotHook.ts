/**
 * Posts to the webhook of a channel. The URL is a credential: it never appears in errors or logs. Feishu and WeCom respond with
 * status 200 and a code of their own; this file maps the code, or the status of others, to a `ForgeError` reason.
 */
import { createHmac } from "node:crypto"
import { Clock, Duration, Effect, Option, Redacted, Schema } from "effect"
import { request as send } from "undici"
import { readBounded, throughProxy } from "../../network/ThroughProxy.ts"
import type { Reason } from "../../domain/Reason.ts"
import { ResponseTimeout } from "../../forge/ResponseTimeout.ts"
import { ForgeError } from "../../forge/ForgeError.ts"
import { flatHeaders, retryAfter } from "../../forge/HostResponse.ts"
import type { HostResponse } from "../../forge/HostResponse.ts"
import { ChannelMissing } from "../channels/Channel.ts"
import type { ChatContext } from "../channels/Channel.ts"
import { pacedChat } from "./ChatPacing.ts"

export interface Bot {
  readonly url: Redacted.Redacted
  readonly secret: Redacted.Redacted | undefined
}

const maxResponseBytes = 64 * 1024
const operation = "POST chat bot"
const defaultWaitMillis = 60_000

const toError = (reason: ForgeError["reason"], why: Reason, status?: number, retryAfterMillis?: number): ForgeError =>
  new ForgeError({
    reason,
    operation,
    why,
    ...(status === undefined ? {} : { status }),
    ...(reason === "rate_limited" ? { retryAfterMillis: retryAfterMillis ?? defaultWaitMillis } : {})
  })

const checkUrl: Reason = { _tag: "CheckWebhookUrl" }

/** Feishu sends `code` and `msg`, older versions `StatusCode`; WeCom sends `errcode` and `errmsg`. */
const BotResponse = Schema.Struct({
  code: Schema.optional(Schema.Int),
  StatusCode: Schema.optional(Schema.Int),
  errcode: Schema.optional(Schema.Int),
  msg: Schema.optional(Schema.String),
  errmsg: Schema.optional(Schema.String)
})

/** Feishu: too many requests. WeCom: too many calls per minute, busy. */
const transientCodes = new Set([11232, 45009, 45033, -1])

/** Feishu's code of a malformed request is also that of too many requests: only the message distinguishes them. */
const isTransient = (code: number, words: string): boolean =>
  transientCodes.has(code) || (code === 9499 && /too many|frequen|limit/i.test(words))

const decodeResponse = Schema.decodeUnknownOption(Schema.fromJsonString(BotResponse))

/** Returns the refusal that the platform's own code names, whatever the status. Undefined without a code. */
const refusalIn = ({ body, status }: HostResponse): ForgeError | undefined => {
  const response = Option.getOrUndefined(decodeResponse(body))
  const code = response?.code ?? response?.StatusCode ?? response?.errcode ?? 0
  if (response === undefined || code === 0 || status >= 500) return undefined
  const words = (response.msg ?? response.errmsg ?? "").replace(/\p{Cc}/gu, " ").slice(0, 200)
  return toError(isTransient(code, words) ? "rate_limited" : "invalid", { _tag: "BotRefused", code, words }, status)
}

/** The word with which a receiver names a refusal, such as `no_service`. Other text of a response is not repeated. */
const refusalWord = /^[a-z_]{1,60}$/

const refusedWith = ({ body, status }: HostResponse): ForgeError =>
  refusalWord.test(body.trim())
    ? toError("invalid", { _tag: "BotRefused", code: status, words: body.trim() }, status)
    : toError("invalid", { _tag: "BotResponded", status, advice: checkUrl }, status)

const checkResponse = (response: HostResponse, now: number, hasCode: boolean): Effect.Effect<void, ForgeError> => {
  const { body, headers, status } = response
  const retryAfterMillis = retryAfter(headers, now)
  if (status === 429 || (status === 403 && retryAfterMillis !== undefined)) {
    return Effect.fail(toError("rate_limited", { _tag: "BotLimitsRequests" }, status, retryAfterMillis))
  }
  const refusal = hasCode ? refusalIn(response) : undefined
  if (refusal !== undefined) return Effect.fail(refusal)
  if (status === 503) return Effect.fail(toError("unavailable", { _tag: "BotUnavailable" }, status))
  if (status >= 500) return Effect.fail(toError("unknown_outcome", { _tag: "BotResponded", status }, status))
  if (status < 200 || status > 299) return Effect.fail(refusedWith(response))
  return hasCode && Option.isNone(decodeResponse(body))
    ? Effect.fail(toError("invalid", { _tag: "BotUnreadable", advice: checkUrl }))
    : Effect.void
}

/** Matches failures before the request was sent. */
const neverSent = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT|CERT|INVALID_ARG/

const toErrorCode = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""

/** Returns the webhook of a channel or of a part of it, `holder`. */
export const findBot = (context: ChatContext, holder: object): Effect.Effect<Bot, ChannelMissing> => {
  const url = context.credential(holder, "webhook_url")
  return url === undefined
    ? Effect.fail(new ChannelMissing({ why: { _tag: "NoWebhookUrl", channel: context.channel.name } }))
    : Effect.succeed({ url, secret: context.credential(holder, "secret") })
}

/** Differences between receivers. */
interface HookProtocol {
  /** Time between messages to one URL, of all nodes. */
  readonly gap: Duration.Duration
  /** True if a response has status 200 and a code. */
  readonly hasCode: boolean
  /** Returns further headers of a request, such as the signature of its body. */
  readonly headers?: (body: string) => Readonly<Record<string, string>>
}

export const post = Effect.fnUntraced(function* (bot: Bot, protocol: HookProtocol, body: object) {
  const url = Redacted.value(bot.url)
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    return yield* toError("invalid", { _tag: "BotUrlInvalid" })
  }
  return yield* pacedChat(["bot", url], protocol.gap, operation, request(url, protocol, JSON.stringify(body)))
})

const request = Effect.fnUntraced(function* (
  url: string,
  { hasCode, headers }: HookProtocol,
  body: string
): Effect.fn.Return<void, ForgeError> {
  const timeout = Duration.toMillis(yield* ResponseTimeout)
  const bounded = yield* Effect.tryPromise({
    try: async (signal) => {
      const response = await send(url, {
        method: "POST",
        headers: { "content-type": "application/json; charset=utf-8", "user-agent": "aicr", ...headers?.(body) },
        body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
        ...throughProxy(url)
      })
      return {
        status: response.statusCode,
        headers: flatHeaders(response.headers),
        body: await readBounded(response.body, maxResponseBytes)
      }
    },
    catch: (cause) => {
      const code = toErrorCode(cause)
      return neverSent.test(code)
        ? toError("unavailable", { _tag: "BotUnreachable", error: code })
        : toError("unknown_outcome", { _tag: "BotSilent" })
    }
  })
  return yield* checkResponse(bounded, yield* Clock.currentTimeMillis, hasCode)
})

/** Computes Feishu's signature for a custom bot: the key is timestamp and secret, the message is empty. */
export const computeFeishuSignature = (secret: Redacted.Redacted, seconds: number): string =>
  createHmac("sha256", `${seconds}\n${Redacted.value(secret)}`).digest("base64")

/** Returns the fields that a signed message has in addition to its content. */
export const signFeishuMessage = (bot: Bot): Effect.Effect<object> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    if (bot.secret === undefined) return {}
    const seconds = Math.floor(now / 1000)
    return { timestamp: String(seconds), sign: computeFeishuSignature(bot.secret, seconds) }
  })
