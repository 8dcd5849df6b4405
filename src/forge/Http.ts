/**
 * One small REST client for all hosts: credential header, timeouts, bounded answers, pages, JSON in and out with decoding of only
 * the fields we use. It repeats reads where the caller waits for hosts (HostHealth.ts), and never a write: the publisher decides
 * that, from the reason of the `ForgeError`.
 *
 * Paths are templates (`/repos/{owner}/{repo}/pulls/{index}`), so that every value is encoded and every error names an operation
 * of the host's API description and never a query or a credential.
 */
import { createHash } from "node:crypto"
import { Clock, Duration, Effect, Redacted, Schema } from "effect"
import { request as requestHttp } from "undici"
import type { Dispatcher } from "undici"
import { AnswerTimeout } from "./AnswerTimeout.ts"
import type { ForgeError } from "./Forge.ts"
import { observed, repeatedRead, whenAvailable } from "./HostHealth.ts"
import { flatHeaders, refused, unanswered, unreadable } from "./HostAnswer.ts"
import type { HostResponse, HostRequest } from "./HostAnswer.ts"
import { toStorable } from "../domain/Text.ts"
import type { Writing } from "./WriteOwner.ts"
import { fencedWrite, paced, pacedWrite } from "./Pacing.ts"

export interface RestOptions {
  /** REST root without trailing slash. Fails when the trigger names none. */
  readonly apiUrl: Effect.Effect<string, ForgeError>
  /** Headers that carry the credential, e.g. `authorization`. */
  readonly credential: Effect.Effect<Credential, ForgeError>
  readonly headers: Readonly<Record<string, string>>
  readonly dispatcher: Effect.Effect<Dispatcher | undefined, ForgeError>
  /** Status that a successful response stands for, where its body can report an error. Without it: its own. */
  readonly status?: (answer: HostResponse) => number
  /** Names an API of the host that may be down while the host is not: it has a circuit of its own. The pace is that of the account. */
  readonly api?: string
}

export interface Credential {
  /** What the host counts by: clients with the same account at the same host share one pace. Kept hashed. */
  readonly account: string
  readonly headers: Readonly<Record<string, Redacted.Redacted>>
  /** Struck out of every message. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

export interface Call {
  readonly path: string
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
}

export interface WriteCall extends Call {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE"
  readonly body?: unknown
  /** People are notified of it, or see it: counts for `WriteGap`. */
  readonly content: boolean
}

/** A POST that only reads. */
export interface QueryCall extends Call {
  readonly body: unknown
}

export interface PageSize {
  readonly name: "limit" | "per_page"
  readonly value: number
  /** Items that are enough. */
  readonly most?: number
}

export interface Rest {
  readonly get: <S extends Codec>(call: Call, answer: S) => Effect.Effect<S["Type"], ForgeError>
  /** Headers of the answer to a GET, names in lower case. */
  readonly headers: (call: Call) => Effect.Effect<HostResponse["headers"], ForgeError>
  readonly query: <S extends Codec>(call: QueryCall, answer: S) => Effect.Effect<S["Type"], ForgeError>
  readonly write: <S extends Codec>(call: WriteCall, answer: S) => Effect.Effect<S["Type"], ForgeError, Writing>
  /** All pages of a list, in the host's order, at most `mostPages` of them; with `most` no page after that many items. */
  readonly pages: <S extends Codec>(
    call: Call,
    item: S,
    size: PageSize
  ) => Effect.Effect<ReadonlyArray<S["Type"]>, ForgeError>
}

/** A schema that needs no services to decode. */
export type Codec = Schema.ConstraintDecoder<unknown>

const largestAnswer = 16 * 1024 * 1024
const mostPages = 100
const mostRedirects = 3

/** Fills a path template; a name without a value is a defect of the caller. */
const fillPath = (template: string, params: Readonly<Record<string, string | number>>): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new Error(`no value for {${name}} in ${template}`)
    return encodeURIComponent(String(value))
  })

const queryOf = (query: Call["query"]): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(name, String(value))
  return search.size === 0 ? "" : `?${search}`
}

interface Sent {
  readonly url: string
  readonly method: Dispatcher.HttpMethod
  readonly headers: Record<string, string>
  readonly body: string | undefined
  readonly dispatcher: Dispatcher | undefined
  /** Milliseconds for each answer. */
  readonly timeout: number
}

const readBounded = async (body: Dispatcher.ResponseData["body"]): Promise<string> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > largestAnswer) {
      body.destroy()
      throw new Error(`response larger than ${largestAnswer} bytes`)
    }
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString("utf8")
}

const exchange = async (sent: Sent, signal: AbortSignal): Promise<HostResponse> => {
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
      redirects < mostRedirects ? followed(sent.method, response.statusCode, headers["location"], url) : undefined
    if (next === undefined) return { status: response.statusCode, headers, body }
    url = next
  }
}

/** A renamed repository redirects. The credential goes to the same origin only, and a write only where its method is kept. */
const followed = (method: string, status: number, location: string | undefined, from: string): string | undefined => {
  const kept = status === 307 || status === 308
  if (location === undefined || !(kept || (method === "GET" && (status === 301 || status === 302)))) return undefined
  if (!URL.canParse(location, from)) return undefined
  const target = new URL(location, from)
  return target.origin === new URL(from).origin ? target.href : undefined
}

/** Escapes that may stand for half of a surrogate pair or for U+0000. Bytes that are not UTF-8 are replaced before. */
const mayHoldUnstorable = /\\u(?:0000|[dD][89a-fA-F])/

/** A title of somebody else's must not keep a review from being recorded: it is repaired. */
const parseStorable = (json: string): unknown =>
  mayHoldUnstorable.test(json)
    ? JSON.parse(json, (_, value: unknown) => (typeof value === "string" ? toStorable(value) : value))
    : JSON.parse(json)

const decode = <S extends Codec>(schema: S, { answer, asked }: { answer: HostResponse; asked: HostRequest }) =>
  Effect.try({
    try: (): unknown => (answer.body.trim() === "" ? null : parseStorable(answer.body)),
    catch: () => unreadable(asked, answer.status, `not JSON (${answer.headers["content-type"] ?? "no content type"})`)
  }).pipe(
    Effect.flatMap((json) =>
      Schema.decodeUnknownEffect(schema)(json).pipe(
        Effect.mapError((error) => unreadable(asked, answer.status, error.message))
      )
    )
  )

const isSuccess = (status: number): boolean => status >= 200 && status <= 299

export const make = (options: RestOptions): Rest => {
  const prepare = Effect.fnUntraced(function* (
    method: Dispatcher.HttpMethod,
    call: Call & { readonly body?: unknown },
    writes: boolean
  ) {
    const operation = `${method} ${call.path}`
    const root = yield* options.apiUrl
    const credential = yield* options.credential
    const dispatcher = yield* options.dispatcher
    const secrets = [...credential.secrets, ...Object.values(credential.headers)].map(Redacted.value)
    const sent: Sent = {
      url: `${root}${fillPath(call.path, call.params ?? {})}${queryOf(call.query)}`,
      method,
      headers: {
        accept: "application/json",
        "user-agent": "aicr",
        ...options.headers,
        ...Object.fromEntries(Object.entries(credential.headers).map(([name, value]) => [name, Redacted.value(value)])),
        ...(call.body === undefined ? {} : { "content-type": "application/json" })
      },
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      dispatcher,
      timeout: Duration.toMillis(yield* AnswerTimeout)
    }
    const asked = (now: number): HostRequest => ({ operation, writes, secrets, now })
    const exchanged = Effect.gen(function* () {
      const start = yield* Clock.currentTimeMillis
      const answer = yield* Effect.tryPromise({
        try: (signal) => exchange(sent, signal),
        catch: (cause) => unanswered(asked(start), cause)
      })
      const status = isSuccess(answer.status) ? (options.status?.(answer) ?? answer.status) : answer.status
      if (!isSuccess(status)) return yield* refused(asked(yield* Clock.currentTimeMillis), { ...answer, status })
      return { answer, asked: asked(start) }
    })
    const { origin } = new URL(root)
    const key = createHash("sha256").update(`${origin}\n${credential.account}`).digest("hex")
    const circuit = `${origin}${options.api ?? ""}`
    return { circuit, request: [key, operation, observed(circuit, exchanged)] as const }
  })

  const read = (call: Call, method: "GET" | "POST" = "GET") =>
    Effect.flatMap(prepare(method, call, false), ({ circuit, request }) => repeatedRead(circuit, paced(...request)))
  const write = Effect.fnUntraced(function* (call: WriteCall) {
    const { circuit, request } = yield* prepare(call.method, call, true)
    // Not while it holds the permit to write with the account.
    yield* whenAvailable(circuit)
    return yield* call.content ? pacedWrite(...request) : fencedWrite(...request)
  })

  const pages = Effect.fnUntraced(function* <S extends Codec>(call: Call, item: S, size: PageSize) {
    const all: Array<S["Type"]> = []
    for (let page = 1; page <= mostPages; page++) {
      const query = { ...call.query, [size.name]: size.value, page }
      const got = yield* read({ ...call, query })
      const items = yield* decode(Schema.Array(item), got)
      all.push(...items)
      if (!hasMore(got.answer.headers, items.length, all.length, size.value)) break
      if (size.most !== undefined && all.length >= size.most) break
    }
    return size.most === undefined ? all : all.slice(0, size.most)
  })

  return {
    get: (call, answer) => Effect.flatMap(read(call), (got) => decode(answer, got)),
    headers: (call) => Effect.map(read(call), ({ answer }) => answer.headers),
    query: (call, answer) => Effect.flatMap(read(call, "POST"), (got) => decode(answer, got)),
    write: (call, answer) => Effect.flatMap(write(call), (got) => decode(answer, got)),
    pages
  }
}

/**
 * Is there a page after this one? By `Link` or `X-Next-Page` where the host sends them, else by its total, else by a full page (a
 * host may give fewer than asked, so a short page only ends the list when nothing else is known).
 */
const hasMore = (headers: HostResponse["headers"], got: number, sum: number, asked: number): boolean => {
  if (got === 0) return false
  const link = headers["link"]
  if (link !== undefined) return /;\s*rel="?next"?/.test(link)
  const next = headers["x-next-page"]
  if (next !== undefined) return next !== ""
  const total = headers["x-total-count"]
  if (total !== undefined && /^\d+$/.test(total)) return sum < Number(total)
  return got >= asked
}
