/**
 * HTTP transport of every provider: the proxy of a request, the extra body fields of the configuration, and a limit on the
 * response size. Attempts are aborted by their caller, so the client's own 5-minute timeouts are disabled.
 */
import { Agent, EnvHttpProxyAgent, fetch as undiciFetch, ProxyAgent } from "undici"
import type { Dispatcher } from "undici"
import { Context, Effect, Layer } from "effect"
import type { FetchFunction } from "@ai-sdk/provider-utils"
import type { Http } from "./ProviderRow.ts"
import type { ProviderSettings } from "./ProviderSettings.ts"

/**
 * Maximum size of a response. Responses of models have at most some hundred kilobytes; the limit protects against a runaway
 * server.
 */
const maxAnswerBytes = 32 * 1024 * 1024

const timeouts = { headersTimeout: 0, bodyTimeout: 0, connectTimeout: 15_000 }

export class Transport extends Context.Service<Transport, { readonly httpFor: (settings: ProviderSettings) => Http }>()(
  "aicr/llm/Transport"
) {
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
      return Transport.of({
        httpFor: (settings) => {
          const plain: FetchFunction = async (input, init) => {
            const url = input instanceof Request ? input.url : String(input)
            const response = await undiciFetch(url, {
              method: init?.method ?? "GET",
              headers: [...new Headers(init?.headers).entries()],
              body: readText(init?.body),
              signal: init?.signal ?? null,
              // A redirect could send the key to another host, so it counts as an error of the configured URL.
              redirect: "manual",
              dispatcher: dispatcher(url, settings.config.http_proxy)
            })
            const body = await read(response.body)
            const bodiless = response.status === 204 || response.status === 304
            return new Response(bodiless ? null : body, {
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
            fetch: (input, init) => plain(input, { ...init, body: withExtraBody(readText(init?.body), extra) })
          }
        }
      })
    })
  )
}

const read = async (stream: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null): Promise<Blob> => {
  const chunks: Array<Uint8Array<ArrayBuffer>> = []
  let size = 0
  for await (const chunk of stream ?? []) {
    size += chunk.byteLength
    if (size > maxAnswerBytes) throw new AnswerTooLarge()
    chunks.push(new Uint8Array(chunk))
  }
  return new Blob(chunks)
}

/** The provider sent more than the maximum response size. */
export class AnswerTooLarge extends Error {
  constructor() {
    super(`the response is larger than ${maxAnswerBytes / 1024 / 1024} MiB`)
  }
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
