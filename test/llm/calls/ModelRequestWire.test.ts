/** Fields of requests on the wire, per provider: reasoning effort, limit of output, forced tools, the key of the prompt cache. */
import type { FetchFunction } from "@ai-sdk/provider-utils"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Redacted } from "effect"
import { Gateway } from "../../../src/llm/Gateway.ts"
import type { GatewayRequest } from "../../../src/llm/Gateway.ts"
import { gatewayLayer } from "../../../src/llm/GatewayLayer.ts"
import { sendRequest } from "../../../src/llm/calls/ModelRequest.ts"
import { providers } from "../../../src/llm/providers/Providers.ts"
import { Reception } from "../../../src/llm/calls/ResponseReader.ts"
import { receivedUsage } from "../../../src/llm/calls/Spending.ts"
import { startFakeModel } from "../../harness/FakeModel.ts"
import type { Recorded, Script } from "../../harness/FakeModel.ts"
import { owned } from "../../harness/Owners.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { documentFor, env, protocols, publicKey } from "../Protocols.ts"
import type { ProtocolCase } from "../Protocols.ts"

const tool = { name: "report_problem", description: "report", parameters: { type: "object", properties: {} } }

const fakeModel = (script: Script) =>
  Effect.acquireRelease(
    Effect.promise(() => startFakeModel(script, { publicKey })),
    (fake) => Effect.promise(() => fake.close())
  )

const request = (document: unknown): GatewayRequest => ({
  snapshot: testSnapshot(document, env),
  group: "default",
  role: "any",
  system: "You review.",
  messages: [{ role: "user", text: "the diff" }],
  tools: [tool],
  toolChoice: "required",
  deadlineMillis: 20_000
})

const catalog = (name: string) => ({
  model_catalog: { overrides: { [name]: { limit: { context: 100_000, output: 5_000 } } } }
})

/** Sends one request, and returns it as the provider received it. */
const send = (protocol: ProtocolCase, provider: Readonly<Record<string, unknown>>, llm = {}) =>
  Effect.gen(function* () {
    const fake = yield* fakeModel({ calls: [{ name: "report_problem", input: {} }] })
    const document = documentFor(protocol, fake.url, { provider, llm })
    yield* Gateway.use((gateway) => gateway.call(request(document)))
    const [sent] = fake.requests
    return sent ?? assert.fail("nothing was sent")
  }).pipe(Effect.scoped, Effect.provide([gatewayLayer, Logger.layer([])]), owned)

const bodyOf = ({ body }: Recorded): string => JSON.stringify(body)

type Format = "chat" | "responses" | "anthropic" | "gemini" | "bedrock"
const formatOf = ({ path }: ProtocolCase): Format =>
  path.includes("completions")
    ? "chat"
    : path.includes("converse")
      ? "bedrock"
      : path.includes("enerateContent")
        ? "gemini"
        : "anthropic"

const effort: Record<Format, RegExp> = {
  chat: /"reasoning_effort":"high"/,
  responses: /"reasoning":\{"effort":"high"/,
  anthropic: /"output_config":\{"effort":"high"\}/,
  gemini: /"thinkingLevel":"high"/,
  bedrock:
    /"output_config":\{"effort":"high"\}|"reasoningConfig":\{[^}]*"maxReasoningEffort":"high"|"reasoning_effort":"high"/
}
const limit: Record<Format, RegExp> = {
  chat: /"max(_completion)?_tokens":5000\b/,
  responses: /"max_output_tokens":5000\b/,
  anthropic: /"max_tokens":5000\b/,
  gemini: /"maxOutputTokens":5000\b/,
  bedrock: /"maxTokens":5000\b/
}
const forced: Record<Format, RegExp> = {
  chat: /"tool_choice":"required"/,
  responses: /"tool_choice":"required"/,
  anthropic: /"tool_choice":\{"type":"any"/,
  gemini: /"functionCallingConfig":\{"mode":"ANY"/,
  bedrock: /"toolChoice":\{"any":\{\}\}/
}

describe.each(protocols)("a request to $name", (protocol) => {
  const format = formatOf(protocol)
  const name = `p/${protocol.model ?? "m"}`

  it.live("states the effort, the limit of output of the catalog, and that a tool is required", () =>
    Effect.gen(function* () {
      const body = bodyOf(yield* send(protocol, { reasoning_effort: "high" }, catalog(name)))
      for (const pattern of [effort[format], limit[format], forced[format]]) assert.match(body, pattern)
    })
  )

  it.live("has the key of the prompt cache only where the server accepts it", () =>
    Effect.gen(function* () {
      const { body } = yield* send(protocol, {})
      const key = typeof body === "object" && body !== null && "prompt_cache_key" in body ? body.prompt_cache_key : ""
      assert.match(String(key), protocol.name === "azure_openai v1" ? /^aicr-./ : /^$/)
    })
  )
})

const spec = {
  contextWindow: 100_000,
  maxOutputTokens: 5_000,
  price: undefined,
  toolCall: undefined,
  supportedEfforts: undefined,
  defaultEffort: undefined
}

/** Sends a request to OpenAI's own host, which a fake server replaces. */
const sendToOpenAi = (script: Script, receipt: Reception) =>
  Effect.gen(function* () {
    const fake = yield* fakeModel(script)
    const toFake: FetchFunction = (url, init) => fetch(String(url).replace("https://api.openai.com", fake.url), init)
    const config = { id: "p", kind: "openai_compatible", reasoning_effort: "high" } as const
    const settings = { config, key: Redacted.make("test-key-123456"), credentials: {}, missing: [] }
    const response = yield* sendRequest(
      (own) => providers.openai_compatible.connect(own, { fetch: toFake, plain: toFake }),
      request({}),
      { entry: { provider: "p", model: "m", role: "any" }, settings, spec },
      "run-1",
      receipt
    )
    return { response, sent: fake.requests[0] ?? assert.fail("nothing was sent") }
  }).pipe(Effect.scoped)

describe("a request to OpenAI itself", () => {
  it.live("has all of these, and a key of the prompt cache per review", () =>
    Effect.gen(function* () {
      const { response, sent } = yield* sendToOpenAi({ text: "half", cutOff: true }, new Reception())
      for (const pattern of [effort.responses, limit.responses, forced.responses]) assert.match(bodyOf(sent), pattern)
      assert.deepInclude(sent.body, { prompt_cache_key: "aicr-run-1", store: false })
      assert.isTrue(response.isCutOff)
    })
  )

  it.live("that is aborted is charged with an estimate of what arrived", () =>
    Effect.gen(function* () {
      const receipt = new Reception()
      const pace = (at: number) => (at < 3 ? Promise.resolve() : new Promise<void>(() => {}))
      const call = yield* Effect.forkChild(sendToOpenAi({ text: "hello world!", pace }, receipt))
      yield* receipt.begun
      yield* Fiber.interrupt(call)
      const usage = receivedUsage(receipt, spec, 3_000)
      assert.deepStrictEqual([usage?.inputTokens, usage?.outputTokens], [1_000, 2])
    })
  )
})
