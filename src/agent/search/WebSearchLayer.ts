/** Sends queries to search providers: one request each, without redirects, with a bounded response. */
import { Effect, Layer } from "effect"
import { Agent, EnvHttpProxyAgent, request } from "undici"
import type { Dispatcher } from "undici"
import type { SearchCall } from "./SearchProviders.ts"
import { SearchFailure, WebSearch } from "./WebSearch.ts"

const maxResponseBytes = 1024 * 1024

/** The time of a request is limited by its caller. */
const timeouts = { connect: { timeout: 10_000 }, headersTimeout: 0, bodyTimeout: 0 }

const readBody = async (body: Dispatcher.ResponseData["body"]): Promise<string> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > maxResponseBytes) throw new SearchFailure({ status: "too_large" })
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString("utf8")
}

const exchange = async ({ body, headers, method, url }: SearchCall, dispatcher: Dispatcher, signal: AbortSignal) => {
  const response = await request(url, {
    method,
    headers: { accept: "application/json", "user-agent": "aicr", ...headers },
    body: body ?? null,
    dispatcher,
    signal
  })
  const { statusCode } = response
  if (statusCode >= 200 && statusCode <= 299) return readBody(response.body)
  // The text of an error is not read: it may quote the request.
  response.body.on("error", () => undefined).destroy()
  throw new SearchFailure({ status: statusCode >= 300 && statusCode <= 399 ? "redirected" : `http_${statusCode}` })
}

const isLoopback = (url: string): boolean => /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname)

/** `remote` connects to all servers that are not on this machine. The default uses the proxy of the environment. */
export const webSearchLayer = (
  scrub: (text: string) => string,
  remote: () => Dispatcher = () => new EnvHttpProxyAgent(timeouts)
): Layer.Layer<WebSearch> =>
  Layer.effect(
    WebSearch,
    Effect.gen(function* () {
      const made = { direct: undefined as Dispatcher | undefined, remote: undefined as Dispatcher | undefined }
      yield* Effect.addFinalizer(() =>
        Effect.promise(() => Promise.all([made.direct?.destroy(), made.remote?.destroy()]))
      )
      const dispatcher = (url: string): Dispatcher =>
        isLoopback(url) ? (made.direct ??= new Agent(timeouts)) : (made.remote ??= remote())
      return WebSearch.of({
        scrub,
        send: (call) =>
          Effect.tryPromise({
            try: (signal) => exchange(call, dispatcher(call.url), signal),
            catch: (cause) => (cause instanceof SearchFailure ? cause : new SearchFailure({ status: "unreachable" }))
          })
      })
    })
  )
