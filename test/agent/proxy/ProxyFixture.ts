/** A model proxy over a real gateway, and clients of every format over its socket. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAnthropic } from "@ai-sdk/anthropic"
import { createGoogle } from "@ai-sdk/google"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type { FetchFunction } from "@ai-sdk/provider-utils"
import { Effect, Logger, Redacted } from "effect"
import type { Layer } from "effect"
import { Agent, fetch as undiciFetch } from "undici"
import { ModelProxies } from "../../../src/agent/proxy/ModelProxy.ts"
import type { ModelProxyReport, ModelProxyRequest, OpenModelProxy } from "../../../src/agent/proxy/ModelProxy.ts"
import { modelProxiesLayer } from "../../../src/agent/proxy/ModelProxiesLayer.ts"
import { gatewayLayer } from "../../../src/llm/GatewayLayer.ts"
import { ModelRun } from "../../../src/llm/ModelRun.ts"
import type { ModelAccount } from "../../../src/llm/ModelRun.ts"
import type { WireFormat, WireGateway } from "../../../src/llm/WireGateway.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { env } from "../../llm/Protocols.ts"
import { overSocket } from "../mcp/ToolFixture.ts"
import type { Response as Received } from "../mcp/ToolFixture.ts"

export interface ProxyFixture {
  readonly proxy: OpenModelProxy
  readonly token: string
  readonly report: () => Promise<ModelProxyReport>
  /** Sends a body as JSON, with the token. */
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Received>
  readonly get: (path: string) => Promise<Received>
}

export interface ProxyServices {
  readonly account?: ModelAccount
  readonly gateway?: Layer.Layer<WireGateway>
}

export const withProxy = async (
  document: unknown,
  settings: Partial<ModelProxyRequest> & Pick<ModelProxyRequest, "format">,
  use: (fixture: ProxyFixture) => Promise<void>,
  { account = { id: "test", repository: "test" }, gateway = gatewayLayer }: ProxyServices = {}
): Promise<void> => {
  const root = mkdtempSync(join(tmpdir(), "aicr-proxy-"))
  const request: ModelProxyRequest = {
    snapshot: testSnapshot(document, env),
    group: "default",
    role: "heavy",
    maxCalls: 100,
    webSearch: false,
    ...settings
  }
  const program = Effect.gen(function* () {
    const proxy = yield* (yield* ModelProxies).open(request)
    const token = Redacted.value(proxy.token)
    const send = (path: string, method: string, body = "", headers: Record<string, string> = {}) =>
      overSocket(proxy.socket, path, {
        method,
        body,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers }
      })
    yield* Effect.promise(() =>
      use({
        proxy,
        token,
        report: () => Effect.runPromise(proxy.report),
        post: (path, body, headers) => send(path, "POST", JSON.stringify(body), headers),
        get: (path) => send(path, "GET")
      })
    )
  })
  try {
    await Effect.runPromise(
      Effect.scoped(program).pipe(
        Effect.provide(modelProxiesLayer(root)),
        Effect.provideService(ModelRun, account),
        Effect.provide([gateway, Logger.layer([])])
      )
    )
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** The model of a proxy as an SDK of the format's provider sees it. */
export const makeClient = (format: WireFormat, { proxy, token }: Pick<ProxyFixture, "proxy" | "token">) => {
  const dispatcher = new Agent({ connect: { socketPath: proxy.socket } })
  const fetch: FetchFunction = async (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    const response = await undiciFetch(url, {
      method: init?.method ?? "GET",
      headers: [...new Headers(init?.headers).entries()],
      body: typeof init?.body === "string" ? init.body : null,
      signal: init?.signal ?? null,
      dispatcher
    })
    return new Response(response.body === null ? null : (response.body as ReadableStream<Uint8Array>), {
      status: response.status,
      headers: [...response.headers.entries()]
    })
  }
  const at = { baseURL: "http://127.0.0.1/v1", apiKey: token, fetch }
  switch (format) {
    case "openai-chat":
      return createOpenAICompatible({ name: "client", includeUsage: true, ...at }).chatModel(proxy.model)
    case "openai-responses":
      return createOpenAI(at).responses(proxy.model)
    case "anthropic-messages":
      return createAnthropic(at).languageModel(proxy.model)
    case "gemini":
      return createGoogle({ ...at, baseURL: "http://127.0.0.1/v1beta" }).languageModel(proxy.model)
  }
}
