/**
 * HTTP transport of every provider: the proxy of a request, the extra body fields of the configuration, and limits on the size of
 * a response and on the provider's silence (Silence.ts), which replace the client's own 5-minute timeouts. Bodies are streamed.
 */
import { Agent, EnvHttpProxyAgent, fetch as undiciFetch, ProxyAgent } from "undici"
import type { Dispatcher } from "undici"
import { Context, Effect, Layer } from "effect"
import type { FetchFunction } from "@ai-sdk/provider-utils"
import { adaptFields, makeAcceptedFields } from "./AcceptedFields.ts"
import type { Http } from "./ProviderRow.ts"
import type { ProviderSettings } from "./ProviderSettings.ts"
import { isLocalServer, ResponseTooLarge, silenceLimits, SilentProvider } from "../calls/Silence.ts"
import type { SilenceLimits } from "../calls/Silence.ts"

/**
 * Aborts a request when its server is silent for too long. A local server works through its queue: before the first byte of a
 * response, the server is silent only if it sends nothing on any connection of this process.
 */

/** Time of the last byte that a local server sent to this process. */
export class ServerActivity {
  lastAt = Number.NEGATIVE_INFINITY

  note(): void {
    this.lastAt = performance.now()
  }
}

export class SilenceWatch {
  readonly #controller = new AbortController()
  readonly #limits: SilenceLimits
  readonly #activity: ServerActivity | undefined
  #timer: NodeJS.Timeout

  /** `activity` is that of a local server. */
  constructor(limits: SilenceLimits, activity?: ServerActivity) {
    this.#limits = limits
    this.#activity = activity
    this.#timer = this.#awaitFirst(performance.now())
  }
  get signal(): AbortSignal {
    return this.#controller.signal
  }
  /** Waits for the next bytes. Only then silence counts, and not while the reader is busy. */
  listen(): void {
    clearTimeout(this.#timer)
    const { betweenMillis } = this.#limits
    this.#timer = setTimeout(() => this.#abort(betweenMillis), betweenMillis)
  }
  /** Bytes arrived. */
  received(): void {
    clearTimeout(this.#timer)
    this.#activity?.note()
  }
  end(): void {
    clearTimeout(this.#timer)
  }
  /** Ends the watch and throws the error, or the silence that caused it. */
  fail(error: unknown): never {
    this.end()
    throw this.signal.aborted ? this.signal.reason : error
  }
  #abort(millis: number): void {
    this.#controller.abort(new SilentProvider(millis))
  }
  #awaitFirst(since: number): NodeJS.Timeout {
    const { firstMillis } = this.#limits
    return setTimeout(
      () => {
        const lastAt = this.#activity?.lastAt ?? since
        if (lastAt > since) this.#timer = this.#awaitFirst(lastAt)
        else this.#abort(firstMillis)
      },
      Math.max(0, since + firstMillis - performance.now())
    )
  }
}

/**
 * Maximum bytes of a response. A streamed response has some hundred bytes per token; the limit protects against a runaway server.
 * The text in it is bounded by its reader.
 */
const maxResponseBytes = 64 * 1024 * 1024

const timeouts = { headersTimeout: 0, bodyTimeout: 0, connectTimeout: 15_000 }

export class Transport extends Context.Service<
  Transport,
  {
    readonly httpFor: (settings: ProviderSettings) => Http
    /** Logs which fields models refused since the last time (AcceptedFields.ts): promises cannot. */
    readonly logRefused: Effect.Effect<void>
  }
>()("aicr/llm/Transport") {
  static readonly layer = Layer.effect(
    Transport,
    Effect.gen(function* () {
      const agents = new Map<string, Dispatcher>()
      yield* Effect.addFinalizer(() =>
        Effect.promise(() => Promise.all([...agents.values()].map((agent) => agent.destroy())))
      )
      const agent = (name: string, make: () => Dispatcher): Dispatcher => {
        const known = agents.get(name)
        if (known !== undefined) return known
        const made = make()
        agents.set(name, made)
        return made
      }
      const dispatcher = (url: string, proxy: string | undefined): Dispatcher => {
        if (proxy !== undefined) return agent(proxy, () => new ProxyAgent({ uri: proxy, ...timeouts }))
        // HTTP(S)_PROXY and NO_PROXY apply to remote hosts only; a loopback address never uses a proxy.
        return isLoopback(url)
          ? agent("direct", () => new Agent(timeouts))
          : agent("environment", () => new EnvHttpProxyAgent(timeouts))
      }
      const fields = makeAcceptedFields()
      const activities = new Map<string, ServerActivity>()
      const activityOf = (url: string): ServerActivity => {
        const { origin } = new URL(url)
        const known = activities.get(origin)
        if (known !== undefined) return known
        const made = new ServerActivity()
        activities.set(origin, made)
        return made
      }
      return Transport.of({
        logRefused: fields.logRefused,
        httpFor: (settings) => {
          const isLocal = isLocalServer(settings.config)
          const plain: FetchFunction = async (input, init) => {
            const url = input instanceof Request ? input.url : String(input)
            const watch = new SilenceWatch(silenceLimits(settings.config), isLocal ? activityOf(url) : undefined)
            const response = await undiciFetch(url, {
              method: init?.method ?? "GET",
              headers: [...new Headers(init?.headers).entries()],
              body: readText(init?.body),
              signal: AbortSignal.any([watch.signal, ...(init?.signal ? [init.signal] : [])]),
              // A redirect could send the key to another host, so it counts as an error of the configured URL.
              redirect: "manual",
              dispatcher: dispatcher(url, settings.config.http_proxy)
            }).catch((error: unknown) => watch.fail(error))
            const bodiless = response.status === 204 || response.status === 304
            const body = bodiless ? null : bounded(response.body, watch)
            if (body === null) watch.end()
            return new Response(body, {
              status: response.status,
              statusText: response.statusText,
              headers: [...response.headers.entries()].filter(
                ([name]) => name !== "content-encoding" && name !== "content-length"
              )
            })
          }
          const extra = settings.config.extra_body
          return {
            plain,
            fetch: adaptFields(
              (input, init) => plain(input, { ...init, body: withExtraBody(readText(init?.body), extra) }),
              fields.of(settings.config)
            )
          }
        }
      })
    })
  )
}

/** Passes a body through while the provider is not silent, up to the maximum size. */
const bounded = (source: ReadableStream<Uint8Array> | null, watch: SilenceWatch): ReadableStream<Uint8Array> | null => {
  if (source === null) return null
  const reader = source.getReader()
  let size = 0
  let isFirst = true
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      if (!isFirst) watch.listen()
      isFirst = false
      const { done, value } = await reader.read().catch((error: unknown) => watch.fail(error))
      watch.received()
      if (done) {
        controller.close()
        return
      }
      size += value.byteLength
      if (size > maxResponseBytes) {
        await reader.cancel()
        throw new ResponseTooLarge(`${maxResponseBytes / 1024 / 1024} MiB`)
      }
      controller.enqueue(new Uint8Array(value))
    },
    cancel: async (reason) => {
      watch.end()
      await reader.cancel(reason)
    }
  })
}

const readText = (body: RequestInit["body"]): string | null => {
  if (body === undefined || body === null) return null
  if (typeof body !== "string") throw new TypeError("provider SDKs send text")
  return body
}

const withExtraBody = (body: string | null, extra: Readonly<Record<string, unknown>> | undefined): string | null => {
  if (body === null || extra === undefined || Object.keys(extra).length === 0) return body
  const parsed: unknown = JSON.parse(body)
  return JSON.stringify({ ...(typeof parsed === "object" ? parsed : {}), ...extra })
}

export const isLoopback = (url: string): boolean => {
  const { hostname } = new URL(url)
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.")
}
