/**
 * Calls the API of a chat platform: bounded responses, a timeout, and errors by the code of the platform, which may come with any status.
 * WeCom's token is part of the query: no error or log contains the URL.
 */
import { Clock, Duration, Effect } from "effect"
import { request } from "undici"
import type { Reason } from "../../domain/Reason.ts"
import { ForgeError } from "../../forge/ForgeError.ts"
import { flatHeaders, toMissingResponse } from "../../forge/HostResponse.ts"
import type { HostResponse } from "../../forge/HostResponse.ts"
import { ResponseTimeout } from "../../forge/ResponseTimeout.ts"
import { numberAt, parseJson, textAt } from "./ReadJson.ts"
import type { JsonObject } from "./ReadJson.ts"
import { readBounded, throughProxy } from "../../network/ThroughProxy.ts"

export interface PlatformRequest {
  /** Name for errors: method and path without the query. */
  readonly operation: string
  readonly method: "GET" | "POST" | "PATCH"
  readonly url: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: object | undefined
  /** True if the outcome is unknown without a response. */
  readonly writes: boolean
  readonly secrets: ReadonlyArray<string>
}

const maxResponseBytes = 4 * 1024 * 1024
const defaultWaitMillis = 60_000

/** Codes of Feishu and of WeCom, which do not overlap. */
const reasons: ReadonlyMap<number, ForgeError["reason"]> = new Map([
  // Feishu: rate limits, also with status 400.
  ...[99_991_400, 230_020, 11_232].map((code) => [code, "rate_limited"] as const),
  // Feishu and WeCom: the token is invalid or has expired.
  ...[99_991_663, 99_991_664, 99_991_668, 40_014, 41_001, 42_001].map((code) => [code, "unauthorized"] as const),
  // Feishu: missing scope, bot not in the chat, person not in the range of the application.
  ...[99_991_672, 99_991_679, 230_002, 230_013, 230_006].map((code) => [code, "forbidden"] as const),
  // WeCom: secret, address of the caller, permission, application not visible.
  ...[40_001, 40_013, 48_002, 50_001, 60_011, 60_020, 301_002].map((code) => [code, "forbidden"] as const),
  // Feishu's long connection: busy, wrong credentials, too many connections.
  [1, "unavailable"] as const,
  [514, "unauthorized"] as const,
  [1_000_040_350, "rate_limited"] as const,
  // WeCom's long connection: the message that is replied to is unknown, and the reply can no longer be replaced.
  [846_605, "not_found"] as const,
  [846_608, "conflict"] as const,
  // WeCom: rate limits, busy.
  ...[45_009, 45_033, -1, 6000].map((code) => [code, "rate_limited"] as const)
])

/** Names of errors of Slack, which come with status 200. */
const namedReasons: ReadonlyMap<string, ForgeError["reason"]> = new Map([
  ...["invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"].map(
    (name) => [name, "unauthorized"] as const
  ),
  ...[
    "missing_scope",
    "not_in_channel",
    "channel_not_found",
    "is_archived",
    "restricted_action",
    "not_allowed_token_type",
    "access_denied"
  ].map((name) => [name, "forbidden"] as const),
  ...["ratelimited", "rate_limited"].map((name) => [name, "rate_limited"] as const),
  ...["message_not_found", "thread_not_found", "cant_update_message", "edit_window_closed"].map(
    (name) => [name, "not_found"] as const
  )
])
/** The outcome of a write with one of these is unknown. */
const transientNames: ReadonlySet<string> = new Set([
  "internal_error",
  "fatal_error",
  "service_unavailable",
  "request_timeout"
])

const advice: Partial<Record<ForgeError["reason"], Reason>> = {
  unauthorized: { _tag: "CheckConnectionCredentials" },
  forbidden: { _tag: "ApplicationLacksPermission" },
  rate_limited: { _tag: "PlatformLimitsRequests" }
}

/** Platforms count by seconds, minutes and hours. */
const maxWaitMillis = Duration.toMillis("1 hour")

/** Seconds until the limit is reset, in Feishu's header. */
const findWait = ({ headers }: HostResponse): number => {
  const seconds = headers["x-ogw-ratelimit-reset"] ?? headers["retry-after"]
  return seconds !== undefined && /^\d{1,6}$/.test(seconds)
    ? Math.min(Number(seconds) * 1000, maxWaitMillis)
    : defaultWaitMillis
}

/** Returns the name of the error of a response of Slack. */
const findNamed = (json: JsonObject | undefined): string | undefined =>
  json?.["ok"] === false ? (textAt(json, ["error"]) ?? "unknown") : undefined

const toNamedReason = (name: string, writes: boolean): ForgeError["reason"] =>
  namedReasons.get(name) ?? (transientNames.has(name) ? (writes ? "unknown_outcome" : "unavailable") : "invalid")

const toReason = ({ status }: HostResponse, code: number | undefined, writes: boolean): ForgeError["reason"] => {
  const byCode = code === undefined ? undefined : reasons.get(code)
  if (byCode !== undefined) return byCode
  if (status === 429) return "rate_limited"
  if (status === 401) return "unauthorized"
  if (status === 403) return "forbidden"
  if (status < 500) return "invalid"
  return writes && status !== 503 ? "unknown_outcome" : "unavailable"
}

const withoutSecrets = (text: string, secrets: ReadonlyArray<string>): string =>
  secrets
    .filter((secret) => secret.length > 3)
    .reduce((rest, secret) => rest.replaceAll(secret, "…"), text)
    .replace(/\p{Cc}+/gu, " ")
    .slice(0, 200)

/** Returns the response, or the error that it reports. */
export const readResponse = (
  { operation, secrets, writes }: Pick<PlatformRequest, "operation" | "secrets" | "writes">,
  response: HostResponse
): JsonObject | ForgeError => {
  const json = parseJson(response.body)
  const code = numberAt(json, "code") ?? numberAt(json, "errcode")
  const named = findNamed(json)
  if (json !== undefined && named === undefined && response.status < 300 && (code === undefined || code === 0))
    return json
  const unreadable = json === undefined && response.status < 300
  const reason = unreadable
    ? writes
      ? "unknown_outcome"
      : "invalid"
    : named === undefined || response.status >= 300
      ? toReason(response, code, writes)
      : toNamedReason(named, writes)
  const detail = textAt(json, ["msg"], 2000) ?? textAt(json, ["errmsg"], 2000) ?? named
  return new ForgeError({
    reason,
    status: response.status,
    operation,
    why: {
      _tag: "HostRefused",
      operation,
      status: response.status,
      code,
      words: detail === undefined ? undefined : withoutSecrets(detail, secrets),
      advice: advice[reason]
    },
    ...(reason === "rate_limited" ? { retryAfterMillis: findWait(response) } : {})
  })
}

const send = async (call: PlatformRequest, signal: AbortSignal): Promise<HostResponse> => {
  const response = await request(call.url, {
    method: call.method,
    headers: {
      "user-agent": "aicr",
      ...(call.body === undefined ? {} : { "content-type": "application/json; charset=utf-8" }),
      ...call.headers
    },
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    signal,
    ...throughProxy(call.url)
  })
  return {
    status: response.statusCode,
    headers: flatHeaders(response.headers),
    body: await readBounded(response.body, maxResponseBytes)
  }
}

interface PlatformResponse {
  readonly body: JsonObject
  readonly headers: HostResponse["headers"]
}

/** Returns the headers too, in which some platforms report the rights of a token. */
export const callWithHeaders = Effect.fnUntraced(function* (
  call: PlatformRequest
): Effect.fn.Return<PlatformResponse, ForgeError> {
  const timeout = Duration.toMillis(yield* ResponseTimeout)
  const { operation, secrets, writes } = call
  const now = yield* Clock.currentTimeMillis
  const response = yield* Effect.tryPromise({
    try: (signal) => send(call, AbortSignal.any([signal, AbortSignal.timeout(timeout)])),
    catch: (cause) => toMissingResponse({ operation, writes, secrets, now }, cause)
  })
  const read = readResponse(call, response)
  return read instanceof ForgeError ? yield* read : { body: read, headers: response.headers }
})

export const callPlatform = (call: PlatformRequest): Effect.Effect<JsonObject, ForgeError> =>
  Effect.map(callWithHeaders(call), ({ body }) => body)
