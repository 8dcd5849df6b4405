/** The HTTP side: proxies, responses that are too large, and OpenAI's own Responses API through a stand-in for its host. */
import { assert, describe, it } from "@effect/vitest"
import { generateText } from "ai"
import type { FetchFunction } from "@ai-sdk/provider-utils"
import { Effect, Redacted } from "effect"
import { createServer } from "node:http"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { providers } from "../../../src/llm/providers/Providers.ts"
import type { ProviderSettings } from "../../../src/llm/providers/ProviderSettings.ts"
import { isLoopback, Transport } from "../../../src/llm/providers/Transport.ts"
import { startFakeModel } from "../../harness/FakeModel.ts"

const settings = (more: Partial<ProviderSettings["config"]> = {}): ProviderSettings => ({
  config: { id: "p", kind: "openai_compatible", ...more },
  key: Redacted.make("test-key-123456"),
  credentials: {},
  missing: []
})

const listening = (server: Server) =>
  Effect.acquireRelease(
    Effect.callback<string>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(
          typeof address === "object" && address !== null
            ? Effect.succeed(`http://127.0.0.1:${address.port}`)
            : Effect.die("no address")
        )
      })
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )

const answering = (handle: (request: IncomingMessage, response: ServerResponse) => void) =>
  listening(createServer(handle))

const fetchText = (url: string, more: Partial<ProviderSettings["config"]> = {}) =>
  Effect.gen(function* () {
    const transport = yield* Transport
    const response = yield* Effect.tryPromise(() =>
      transport.httpFor(settings(more)).fetch(url, { method: "POST", body: "{}" })
    )
    return yield* Effect.tryPromise(() => response.text())
  }).pipe(Effect.provide(Transport.layer))

describe("transport", () => {
  it.live("a response over 64 MiB is cut off while it comes", () =>
    Effect.gen(function* () {
      let sent = 0
      const block = Buffer.alloc(1024 * 1024)
      const url = yield* answering((_, response) => {
        const more = (): void => {
          while (sent < 512 && !response.destroyed) {
            sent++
            if (!response.write(block)) return void response.once("drain", more)
          }
          response.end()
        }
        more()
      })
      const error = yield* Effect.flip(fetchText(url))
      assert.match(String(error.cause), /larger than 64 MiB/)
      assert.isBelow(sent, 200)
    })
  )

  it.live("http_proxy of the provider carries the request, also for a host that only the proxy resolves", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const http_proxy = yield* answering((request, response) => {
        asked.push(request.url ?? "")
        response.end("hello")
      })
      const url = "http://only-the-proxy-knows.invalid/v1"
      assert.strictEqual(yield* fetchText(url, { http_proxy }), "hello")
      assert.deepStrictEqual(asked, [url])
    })
  )

  it.live("extra_body is added to what the SDK sends", () =>
    Effect.gen(function* () {
      const url = yield* answering((request, response) => void request.pipe(response))
      assert.strictEqual(yield* fetchText(url, { extra_body: { top_k: 1 } }), '{"top_k":1}')
    })
  )

  it("loopback is never behind the environment's proxy", () => {
    for (const url of ["http://localhost:1/", "http://127.0.0.1:1", "http://127.9.9.9", "http://[::1]:1/"])
      assert.isTrue(isLoopback(url), url)
    for (const url of ["http://example.com", "http://10.0.0.1", "http://localhost.example"])
      assert.isFalse(isLoopback(url), url)
  })
})

describe("OpenAI itself", () => {
  it.live("speaks the Responses API, and nothing is stored there", () =>
    Effect.promise(async () => {
      await using fake = await startFakeModel({
        text: "hello",
        usage: { input: 10, output: 5, cached: 4 }
      })
      const seen: Array<string> = []
      const toFake: FetchFunction = (url, init) => {
        seen.push(String(url))
        return fetch(String(url).replace("https://api.openai.com", fake.url), init)
      }
      const connection = await providers.openai_compatible.connect(
        settings({ reasoning_effort: "low", organization: "org-1" }),
        { fetch: toFake, plain: toFake }
      )
      const answer = await generateText({
        model: connection.model("gpt-6-astra"),
        prompt: "hi",
        maxRetries: 0,
        providerOptions: connection.options("run-1")
      })
      assert.strictEqual(answer.text, "hello")
      assert.strictEqual(answer.usage.inputTokenDetails.cacheReadTokens, 4)
      assert.deepStrictEqual(seen, ["https://api.openai.com/v1/responses"])
      const [sent] = fake.requests
      assert.strictEqual(sent?.headers["authorization"], "Bearer test-key-123456")
      assert.strictEqual(sent?.headers["openai-organization"], "org-1")
      assert.deepInclude(sent?.body, { store: false, model: "gpt-6-astra" })
    })
  )
})
