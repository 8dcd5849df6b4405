/** Every setting of a provider, for every kind: what the server receives, or the warning that it receives nothing. */
import { createServer } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { Gateway } from "../../../src/llm/Gateway.ts"
import type { GatewayRequest } from "../../../src/llm/Gateway.ts"
import { gatewayLayer } from "../../../src/llm/GatewayLayer.ts"
import { providerProblems } from "../../../src/llm/providers/ProviderProblems.ts"
import { startFakeModel } from "../../harness/FakeModel.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { documentFor, env, protocols, publicKey } from "../Protocols.ts"
import type { ProtocolCase } from "../Protocols.ts"
import { testOwners } from "../../harness/Owners.ts"

/** The request that one call with these settings makes. */
const sentWith = (protocol: ProtocolCase, provider: Record<string, unknown>, more: Partial<GatewayRequest> = {}) =>
  Effect.gen(function* () {
    const fake = yield* Effect.acquireRelease(
      Effect.promise(() => startFakeModel({ text: "hello" }, { publicKey })),
      (started) => Effect.promise(() => started.close())
    )
    const snapshot = testSnapshot(documentFor(protocol, fake.url, { provider }), env)
    yield* Gateway.use((gateway) =>
      gateway.call({
        snapshot,
        group: "default",
        role: "any",
        system: "You review.",
        messages: [{ role: "user", text: "the diff" }],
        tools: [],
        deadlineMillis: 5_000,
        ...more
      })
    )
    const [sent] = fake.requests
    if (sent === undefined) return yield* Effect.die("nothing was sent")
    return { ...sent, warnings: providerProblems(snapshot).map(({ path }) => path) }
  }).pipe(Effect.scoped, Effect.provide([gatewayLayer, Logger.layer([]), testOwners]))

type Family = "chat" | "anthropic" | "gemini" | "bedrock claude" | "bedrock"
const families: Readonly<Record<string, Family>> = {
  openai_compatible: "chat",
  "azure_openai v1": "chat",
  "azure_openai by deployment": "chat",
  anthropic: "anthropic",
  google_ai_studio: "gemini",
  ollama: "chat",
  "vertex_ai with an API key": "gemini",
  "vertex_ai with a service account": "gemini",
  "Claude on vertex_ai": "anthropic",
  "bedrock with keys": "bedrock claude",
  "bedrock with an API key": "bedrock",
  copilot: "chat"
}

/** Setting, then a piece of the body per family; undefined: the model behind it has no such thing. */
const bodies: ReadonlyArray<readonly [Record<string, unknown>, Readonly<Record<Family, string | undefined>>]> = [
  [
    { reasoning_effort: "high" },
    {
      chat: '"reasoning_effort":"high"',
      anthropic: '"output_config":{"effort":"high"}',
      gemini: '"thinkingConfig":{"thinkingLevel":"high"}',
      "bedrock claude": '"output_config":{"effort":"high"}',
      bedrock: '"maxReasoningEffort":"high"'
    }
  ],
  [
    { thinking_level: "low" },
    {
      chat: '"reasoning_effort":"low"',
      anthropic: '"thinking":{"type":"adaptive"}',
      gemini: '"thinkingConfig":{"thinkingLevel":"low"}',
      "bedrock claude": '"thinking":{"type":"adaptive"}',
      bedrock: '"maxReasoningEffort":"low"'
    }
  ],
  [
    { thinking_budget_tokens: 2048 },
    {
      chat: '"budget_tokens":2048',
      anthropic: '"budget_tokens":2048',
      gemini: '"thinkingBudget":2048',
      "bedrock claude": '"budget_tokens":2048',
      bedrock: undefined
    }
  ],
  [
    { max_output_tokens: 777 },
    {
      chat: 'tokens":777',
      anthropic: '"max_tokens":777',
      gemini: '"maxOutputTokens":777',
      "bedrock claude": '"maxTokens":777',
      bedrock: '"maxTokens":777'
    }
  ],
  [
    { extra_body: { custom_field: { a: 1 } } },
    {
      chat: '"custom_field":{"a":1}',
      anthropic: '"custom_field":{"a":1}',
      gemini: '"custom_field":{"a":1}',
      "bedrock claude": '"custom_field":{"a":1}',
      bedrock: '"custom_field":{"a":1}'
    }
  ]
]

describe.each(protocols)("settings of $name", (protocol) => {
  const family = families[protocol.name] ?? "chat"

  it.live.each(bodies)("%j", ([setting, expected]) =>
    Effect.gen(function* () {
      const { text } = yield* sentWith(protocol, setting)
      const plain = yield* sentWith(protocol, {})
      const part = expected[family]
      if (part === undefined) return assert.strictEqual(text, plain.text)
      assert.include(text, part)
      assert.notInclude(plain.text, part)
    })
  )

  it.live("extra_headers, organization and api_version arrive, or a warning names them", () =>
    Effect.gen(function* () {
      const setting = { extra_headers: { "x-team": "reviews" }, organization: "org-1", api_version: "2031-02-03" }
      const { headers, path, warnings } = yield* sentWith(protocol, setting)
      assert.strictEqual(headers["x-team"], "reviews")
      for (const [field, value] of [
        ["organization", "org-1"],
        ["api_version", "2031-02-03"]
      ] as const) {
        const arrived = `${path} ${JSON.stringify(headers)}`.includes(value)
        const warned = warnings.includes(`llm.providers[0].${field}`)
        assert.isTrue(arrived || warned, `${field} is accepted and ignored`)
      }
    })
  )

  it.live("http_proxy carries the call and whatever signs in before it", () =>
    Effect.gen(function* () {
      const through: Array<string> = []
      const proxy = createServer()
      proxy.on("connect", (request, socket) => {
        through.push(String(request.url))
        socket.end("HTTP/1.1 502 no\r\n\r\n")
      })
      proxy.on("request", (request, response) => {
        through.push(String(request.url))
        response.writeHead(502).end()
      })
      yield* Effect.callback<void>((resume) => void proxy.listen(0, "127.0.0.1", () => resume(Effect.void)))
      const address = proxy.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      yield* Effect.exit(sentWith(protocol, { http_proxy: `http://127.0.0.1:${port}` }))
      assert.isAtLeast(through.length, 1)
      proxy.close()
      proxy.closeAllConnections()
    })
  )
})

describe("prompt caching", () => {
  const named = (name: string): ProtocolCase => {
    const found = protocols.find((one) => one.name === name)
    if (found === undefined) throw new Error(`no protocol ${name}`)
    return found
  }
  it.live("Anthropic: on, and off where it is switched off", () =>
    Effect.gen(function* () {
      const on = yield* sentWith(named("anthropic"), { cache_control: "ephemeral" })
      const off = yield* sentWith(named("anthropic"), { cache_control: "off" })
      assert.include(on.text, '"cache_control":{"type":"ephemeral"}')
      assert.notInclude(off.text, "cache_control")
    })
  )
  it.live.each([
    ["a call of one step", false, 2],
    ["a conversation that may continue", true, 3]
  ] as const)(
    "Claude: %s is marked after system and common part, and at its end if it goes on",
    ([, continues, marks]) =>
      Effect.gen(function* () {
        const messages = [{ role: "user", common: "the change", text: "the question" }] as const
        const request = { messages, continues }
        const anthropic = yield* sentWith(named("anthropic"), {}, request)
        const vertex = yield* sentWith(named("Claude on vertex_ai"), {}, request)
        for (const { text } of [anthropic, vertex]) {
          assert.strictEqual(text.split('"cache_control"').length - 1, marks)
          assert.include(text, '"text":"the change","cache_control"')
        }
        const model = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
        const bedrock = yield* sentWith({ ...named("bedrock with keys"), model }, {}, request)
        assert.strictEqual(bedrock.text.split('"cachePoint"').length - 1, marks)
        assert.include(bedrock.text, '{"text":"the change"},{"cachePoint"')
        const other = yield* sentWith(named("bedrock with an API key"), {}, request)
        assert.notInclude(other.text, "cachePoint")
        assert.include(other.text, '"the change\\n\\nthe question"')
      })
  )
})
