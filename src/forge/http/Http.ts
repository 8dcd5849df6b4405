/**
 * REST client for all hosts: credential header, timeouts, bounded responses, pages, and JSON of which only the required fields
 * are decoded. It retries reads where the caller waits for hosts (HostHealth.ts), and never a write: the publisher decides that
 * by the reason of the `ForgeError`.
 *
 * Paths are templates (`/repos/{owner}/{repo}/pulls/{index}`), so that every value is encoded. Errors have the method and the URL
 * without its query and credentials.
 */
import { createHash } from "node:crypto"
import { Clock, Duration, Effect, Redacted, Schema } from "effect"
import { request as requestHttp } from "undici"
import type { Dispatcher } from "undici"
import { ResponseTimeout } from "../ResponseTimeout.ts"
import { download } from "./Download.ts"
import type { ForgeError } from "../ForgeError.ts"
import type { Download } from "../hosts/HostCi.ts"
import { PolledResponses } from "./PolledResponses.ts"
import { presentIn, readPages } from "./Pages.ts"
import type { ListedItems, PageSize } from "./Pages.ts"
import { observe, retryRead, waitUntilAvailable } from "../HostHealth.ts"
import {
  flatHeaders,
  isScarce,
  maxResponseMebibytes,
  OversizedBody,
  toMissingResponse,
  toRefusal,
  toUnreadable
} from "../HostResponse.ts"
import type { Advice, HostResponse, HostRequest } from "../HostResponse.ts"
import { toStorable } from "../../domain/Text.ts"
import type { Writing } from "../WriteOwner.ts"
import type { HostTraffic } from "../HostTraffic.ts"
import { beCareful, chooseGap, fencedWrite, paced, pacedWrite, WriteGap } from "../Pacing.ts"
import type { HostGap } from "../Pacing.ts"

export interface RestOptions {
  readonly traffic: HostTraffic["Service"]
  /** REST root without trailing slash. Fails when the trigger names none. */
  readonly apiUrl: Effect.Effect<string, ForgeError>
  /** Headers that carry the credential, e.g. `authorization`. */
  readonly credential: Effect.Effect<Credential, ForgeError>
  /** Called when the host refuses a credential that is renewed by itself; the request is then repeated once. */
  readonly renew?: Effect.Effect<void>
  readonly headers: Readonly<Record<string, string>>
  readonly dispatcher: Effect.Effect<Dispatcher | undefined, ForgeError>
  /**
   * Returns the effective status of a successful response whose body can report an error. Default: the status of the response.
   */
  readonly status?: (response: HostResponse) => number
  /**
   * Name of an API that may fail while the rest of the host responds: it gets a circuit of its own. The pace remains that of the
   * account.
   */
  readonly api?: string
  /** Minimum time between the starts of two content writes. Default: `WriteGap`. */
  readonly writeGap?: HostGap
  /** Kept responses to polled requests. Default: those of this client alone. */
  readonly polled?: PolledResponses
  /** Advice in error messages; default: for a git host with the credential of a trigger. */
  readonly advice?: Advice
}

export interface Credential {
  /** Key of the host's rate limit: clients with the same account at the same host share one pace. Stored hashed. */
  readonly account: string
  readonly headers: Readonly<Record<string, Redacted.Redacted>>
  /** Redacted from every message. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

export interface Call {
  readonly path: string
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  /** Whether the request is repeated at intervals: then a host that has ETags sends a response again only if it differs. */
  readonly isPolled?: boolean
}

interface WriteCall extends Call {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE"
  readonly body?: unknown
  /** True when people see the result or are notified of it: the gap between writes applies. */
  readonly content: boolean
}

/** A POST that only reads. */
interface QueryCall extends Call {
  readonly body: unknown
}

export type { ListedItems, PageSize } from "./Pages.ts"

export interface Rest {
  readonly get: <S extends Codec>(call: Call, schema: S) => Effect.Effect<S["Type"], ForgeError>
  /** Headers of the response to a GET, with names in lower case. */
  readonly headers: (call: Call) => Effect.Effect<HostResponse["headers"], ForgeError>
  /** Returns the file that a GET responds with, also from the storage to which the host redirects. */
  readonly download: (call: Call, maxBytes: number) => Effect.Effect<Download, ForgeError>
  readonly query: <S extends Codec>(call: QueryCall, schema: S) => Effect.Effect<S["Type"], ForgeError>
  readonly write: <S extends Codec>(call: WriteCall, schema: S) => Effect.Effect<S["Type"], ForgeError, Writing>
  /**
   * Reads all pages of a list in the host's order, at most `maxPages` of them; with `max` no page after that many items. Reads
   * smaller pages from one that is too large.
   */
  readonly pages: <S extends Codec>(
    call: Call,
    item: S,
    size: PageSize
  ) => Effect.Effect<ReadonlyArray<S["Type"]>, ForgeError>
  /** Like `pages`, without the items that `read` returns undefined for. Reads no page after one with which `isEnough`. */
  readonly list: <A>(
    call: Call,
    read: (item: unknown) => A | undefined,
    size: PageSize,
    isEnough?: (list: ListedItems<A>) => boolean
  ) => Effect.Effect<ListedItems<A>, ForgeError>
}

/** A schema that needs no services to decode. */
export type Codec = Schema.ConstraintDecoder<unknown>

const maxRedirects = 3

/** Fills in a path template. A name without a value is a defect of the caller. */
const fillPath = (template: string, params: Readonly<Record<string, string | number>>): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new Error(`no value for {${name}} in ${template}`)
    return encodeURIComponent(String(value))
  })

const toQueryString = (query: Call["query"]): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(name, String(value))
  return search.size === 0 ? "" : `?${search}`
}

interface OutgoingRequest {
  readonly url: string
  readonly method: Dispatcher.HttpMethod
  readonly headers: Record<string, string>
  readonly body: string | undefined
  readonly dispatcher: Dispatcher | undefined
  /** Timeout of each response in milliseconds. */
  readonly timeout: number
}

const readBounded = async (body: Dispatcher.ResponseData["body"]): Promise<string> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > maxResponseMebibytes * 1024 * 1024) {
      body.destroy()
      throw new OversizedBody()
    }
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString("utf8")
}

const exchange = async (sent: OutgoingRequest, signal: AbortSignal): Promise<HostResponse> => {
  let url = sent.url
  for (let redirects = 0; ; redirects++) {
    const response = await requestHttp(url, {
      method: sent.method,
      headers: sent.headers,
      body: sent.body ?? null,
      signal: AbortSignal.any([signal, AbortSignal.timeout(sent.timeout)]),
      headersTimeout: sent.timeout,
      bodyTimeout: sent.timeout,
      ...(sent.dispatcher === undefined ? {} : { dispatcher: sent.dispatcher })
    })
    const headers = flatHeaders(response.headers)
    const body = await readBounded(response.body)
    const next =
      redirects < maxRedirects ? redirectTarget(sent.method, response.statusCode, headers["location"], url) : undefined
    if (next === undefined) return { status: response.statusCode, headers, body }
    url = next
  }
}

/**
 * Returns where to follow a redirect, for example of a renamed repository. The credential is sent to the same origin only, and a
 * write only where the redirect preserves its method.
 */
const redirectTarget = (
  method: string,
  status: number,
  location: string | undefined,
  from: string
): string | undefined => {
  const keepsMethod = status === 307 || status === 308
  if (location === undefined || !(keepsMethod || (method === "GET" && (status === 301 || status === 302))))
    return undefined
  if (!URL.canParse(location, from)) return undefined
  const target = new URL(location, from)
  return target.origin === new URL(from).origin ? target.href : undefined
}

/** Matches escapes that may be a lone surrogate or U+0000, and numbers that may be inexact. Invalid UTF-8 has been replaced before. */
const mayNeedRepair = /\\u(?:0000|[dD][89a-fA-F])|[:[,]\s{0,9}\d{16}/

/**
 * Repairs strings that cannot be stored, so that the title of a change never prevents its review from being recorded. Ids beyond the exact
 * integers become their digits.
 */
const repair = (_key: string, value: unknown, { source }: { readonly source?: string } = {}): unknown => {
  if (typeof value === "string") return toStorable(value)
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? (source ?? value) : value
}

const parseStorable = (json: string): unknown =>
  mayNeedRepair.test(json) ? JSON.parse(json, repair) : JSON.parse(json)

interface Exchanged {
  readonly response: HostResponse
  readonly request: HostRequest
}

const decode = <S extends Codec>(schema: S, { response, request }: Exchanged) =>
  Effect.try({
    try: (): unknown => (response.body.trim() === "" ? null : parseStorable(response.body)),
    catch: () =>
      toUnreadable(request, response.status, `not JSON (${response.headers["content-type"] ?? "no content type"})`)
  }).pipe(
    Effect.flatMap((json) =>
      Schema.decodeUnknownEffect(schema)(json).pipe(
        Effect.mapError((error) => toUnreadable(request, response.status, error.message))
      )
    )
  )

const isSuccess = (status: number): boolean => status >= 200 && status <= 299

/** A request that is ready to be sent, and how its outcome is described. */
interface Prepared {
  readonly operation: string
  readonly sent: OutgoingRequest
  readonly toHostRequest: (now: number) => HostRequest
  /** Key of the pace, and of the circuit. */
  readonly key: string
  readonly circuit: string
  /** Set if the request is polled. */
  readonly polled: PolledResponses | undefined
}

/** Returns the advice for a web address of a host that ends with the path of the API. */
const doubledPath = (root: string): Advice | undefined => {
  const [, path] = /(\/api\/v\d)\1$/.exec(root) ?? []
  if (path === undefined) return undefined
  const reason = { _tag: "BaseUrlHasApiPath", path } as const
  return { not_found: reason, unreadable: reason }
}

const prepare = Effect.fnUntraced(function* (
  options: RestOptions,
  method: Dispatcher.HttpMethod,
  call: Call & { readonly body?: unknown },
  writes: boolean
): Effect.fn.Return<Prepared, ForgeError> {
  const root = yield* options.apiUrl
  const path = fillPath(call.path, call.params ?? {})
  const { origin, pathname } = new URL(root)
  const url = `${root}${path}${toQueryString(call.query)}`
  const polled = call.isPolled === true ? options.polled : undefined
  const operation = `${method} ${origin}${pathname.replace(/\/$/, "")}${path}`
  const credential = yield* options.credential
  const dispatcher = yield* options.dispatcher
  const secrets = [...credential.secrets, ...Object.values(credential.headers)].map(Redacted.value)
  return {
    operation,
    sent: {
      url,
      method,
      headers: {
        accept: "application/json",
        "user-agent": "aicr",
        ...options.headers,
        ...polled?.conditions(url),
        ...Object.fromEntries(Object.entries(credential.headers).map(([name, value]) => [name, Redacted.value(value)])),
        ...(call.body === undefined ? {} : { "content-type": "application/json" })
      },
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      dispatcher,
      timeout: Duration.toMillis(yield* ResponseTimeout)
    },
    toHostRequest: (now) => ({ operation, writes, secrets, now, advice: doubledPath(root) ?? options.advice }),
    key: createHash("sha256").update(`${origin}\n${credential.account}`).digest("hex"),
    circuit: `${origin}${options.api ?? ""}`,
    polled
  }
})

const exchangeText = Effect.fnUntraced(function* ({ polled, sent, toHostRequest }: Prepared, options: RestOptions) {
  const start = yield* Clock.currentTimeMillis
  const received = yield* Effect.tryPromise({
    try: (signal) => exchange(sent, signal),
    catch: (cause) => toMissingResponse(toHostRequest(start), cause)
  })
  const response = polled?.resolve(sent.url, received) ?? received
  const status = isSuccess(response.status) ? (options.status?.(response) ?? response.status) : response.status
  if (!isSuccess(status))
    return yield* toRefusal(toHostRequest(yield* Clock.currentTimeMillis), { ...response, status })
  return { response, request: toHostRequest(start) }
})

const downloadBytes = Effect.fnUntraced(function* (
  { sent, toHostRequest }: Prepared,
  maxBytes: number
): Effect.fn.Return<Download, ForgeError> {
  const start = yield* Clock.currentTimeMillis
  const { dispatcher, timeout, url } = sent
  // A file is no JSON, and a host that negotiates the format may refuse it otherwise.
  const headers = { ...sent.headers, accept: "*/*" }
  const found = yield* Effect.tryPromise({
    try: (signal) => download({ url, headers, dispatcher, timeout, maxBytes }, signal),
    catch: (cause) => toMissingResponse(toHostRequest(start), cause)
  })
  return found._tag === "Refused"
    ? yield* toRefusal(toHostRequest(yield* Clock.currentTimeMillis), found.response)
    : found
})

/** Repeats a request that was refused because of its credential, once, with a new one. Nothing was executed. */
const renewing =
  ({ renew }: RestOptions) =>
  <A, R>(request: Effect.Effect<A, ForgeError, R>): Effect.Effect<A, ForgeError, R> =>
    renew === undefined
      ? request
      : Effect.catchIf(
          request,
          ({ reason, status }) => reason === "unauthorized" && status === 401,
          () => Effect.andThen(renew, request)
        )

export const makeRest = (given: RestOptions): Rest => {
  const options = { polled: new PolledResponses(), ...given }
  const { paces, states } = options.traffic
  const renewed = renewing(options)
  const request = (prepared: Prepared) => {
    const { circuit, key, operation } = prepared
    const exchanged = Effect.tap(exchangeText(prepared, options), ({ response }) =>
      isScarce(response.headers) ? beCareful(paces, key) : Effect.void
    )
    return [paces, key, operation, observe(states, circuit, exchanged)] as const
  }
  const send = (call: Call, method: "GET" | "POST" = "GET") =>
    Effect.flatMap(prepare(options, method, call, false), (prepared) =>
      retryRead(states, prepared.circuit, paced(...request(prepared)))
    ).pipe(renewed)
  const writeOnce = Effect.fnUntraced(function* (call: WriteCall) {
    const prepared = yield* prepare(options, call.method, call, true)
    // Wait before the permit is acquired, so that an outage does not block the other writes of the account.
    yield* waitUntilAvailable(states, prepared.circuit)
    if (!call.content) return yield* fencedWrite(...request(prepared))
    const gap = yield* chooseGap(paces, prepared.key, options.writeGap)
    return yield* Effect.provideService(pacedWrite(...request(prepared)), WriteGap, gap)
  })

  const pages: Rest["pages"] = (call, item, size) =>
    Effect.map(
      readPages(
        (query) => send({ ...call, query: { ...call.query, ...query } }),
        (page) => decode(Schema.Array(item), page),
        size
      ),
      ({ items }) => items
    )
  const list: Rest["list"] = (call, read, size, isEnough) =>
    Effect.map(
      readPages(
        (query) => send({ ...call, query: { ...call.query, ...query } }),
        (page) => Effect.map(decode(Schema.Array(Schema.Unknown), page), (items) => items.map(read)),
        size,
        isEnough && ((listed) => isEnough(presentIn(listed)))
      ),
      presentIn
    )

  return {
    get: (call, schema) => Effect.flatMap(send(call), (exchanged) => decode(schema, exchanged)),
    headers: (call) => Effect.map(send(call), ({ response }) => response.headers),
    download: (call, maxBytes) =>
      Effect.flatMap(prepare(options, "GET", call, false), (prepared) => {
        // The storage behind a download fails independently of the host.
        const circuit = `${prepared.circuit}/download`
        return retryRead(
          states,
          circuit,
          paced(paces, prepared.key, prepared.operation, observe(states, circuit, downloadBytes(prepared, maxBytes)))
        )
      }).pipe(renewed),
    query: (call, schema) => Effect.flatMap(send(call, "POST"), (exchanged) => decode(schema, exchanged)),
    write: (call, schema) => Effect.flatMap(renewed(writeOnce(call)), (exchanged) => decode(schema, exchanged)),
    pages,
    list
  }
}
