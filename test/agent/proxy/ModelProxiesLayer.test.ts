/** The model proxy of a pass: each format of agents over each kind of provider, read by the SDK of the format's own provider. */
import { connect } from "node:net"
import { Deferred, Effect } from "effect"
import { generateText, jsonSchema, streamText, tool } from "ai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { withoutTools } from "../../../src/agent/proxy/AwaitTools.ts"
import type { WireFormat } from "../../../src/llm/WireGateway.ts"
import { faults, startFakeModel } from "../../harness/FakeModel.ts"
import type { FakeModel } from "../../harness/FakeModel.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { documentFor, protocols, publicKey } from "../../llm/Protocols.ts"
import { makeClient, withProxy } from "./ProxyFixture.ts"
import type { ProxyFixture } from "./ProxyFixture.ts"
import { inEnglish } from "../../../src/text/en.ts"

const formats: ReadonlyArray<WireFormat> = ["openai-chat", "openai-responses", "anthropic-messages", "gemini"]

let fake: FakeModel
beforeAll(async () => {
  fake = await startFakeModel({ text: "" }, { publicKey })
})
afterAll(() => fake.close())

const findProtocol = (name: string) => {
  const protocol = protocols.find((row) => row.name === name)
  if (protocol === undefined) throw new Error(name)
  return protocol
}
const documentOf = (name: string, more: Parameters<typeof documentFor>[2] = {}) =>
  documentFor(findProtocol(name), fake.url, more)

/** The provider kind whose API each format is. OpenAI itself, for the responses API, has no address that a test may use. */
const sameApi = { "openai-chat": "openai_compatible", "anthropic-messages": "anthropic", gemini: "google_ai_studio" }

const report_problem = {
  description: "report",
  inputSchema: jsonSchema({ type: "object", properties: { file: { type: "string" } }, required: ["file"] })
}

/** A conversation of two turns: the first calls a tool, the second gets its result. */
const conversation = [
  { role: "user" as const, content: "the diff" },
  {
    role: "assistant" as const,
    content: [
      { type: "text" as const, text: "I look." },
      { type: "tool-call" as const, toolCallId: "call_a", toolName: "report_problem", input: { file: "z.ts" } }
    ]
  },
  {
    role: "tool" as const,
    content: [
      {
        type: "tool-result" as const,
        toolCallId: "call_a",
        toolName: "report_problem",
        output: { type: "text" as const, value: "recorded-marker" }
      }
    ]
  }
]

const reply = {
  text: "thinking aloud, über",
  calls: [
    { name: "report_problem", input: { file: "a.ts", text: '"quotes"\n' } },
    { name: "report_problem", input: { file: "b.ts" } }
  ],
  usage: { input: 1000, output: 50, cached: 400 }
}
/** Their servers do not report tokens that were read from a cache. */
const kinds = ["openai_compatible", "anthropic", "google_ai_studio", "ollama", "azure_openai v1", "bedrock with keys"]
const pairs = formats.flatMap((format) => kinds.map((kind) => [format, kind] as const))

describe.each(pairs)("an agent with %s over %s", (format, kind) => {
  it("streams text, calls and usage, and its prompt arrives", async () => {
    fake.script(reply)
    const before = fake.requests.length
    await withProxy(documentOf(kind), { format }, async (fixture) => {
      const streamed = streamText({
        model: makeClient(format, fixture),
        instructions: "You review.",
        messages: conversation,
        tools: { report_problem: tool(report_problem) },
        maxRetries: 0,
        onError: () => {}
      })
      expect(await streamed.text).toBe(reply.text)
      const calls = await streamed.toolCalls
      expect(calls.map(({ input, toolName }) => ({ name: toolName, input }))).toEqual(reply.calls)
      const usage = await streamed.usage
      expect(usage).toMatchObject({ inputTokens: 1000, outputTokens: 50 })
      expect(await streamed.finishReason).toBe("tool-calls")
      expect(await fixture.report()).toMatchObject({
        usage: {
          requests: 1,
          inputTokens: 1000,
          outputTokens: 50,
          cachedTokens: usage.inputTokenDetails.cacheReadTokens
        },
        models: [`p/${findProtocol(kind).model ?? "m"}`],
        notices: []
      })
      const sent = fake.requests.slice(before)
      expect(sent).toHaveLength(1)
      expect(sent[0]?.path).toBe(findProtocol(kind).path)
      expect(sent[0]?.text).not.toContain(fixture.token)
      expect(JSON.stringify(sent[0]?.headers)).not.toContain(fixture.token)
      for (const text of ["You review.", "the diff", "I look.", "z.ts", "recorded-marker", '"report_problem"'])
        expect(sent[0]?.text).toContain(text)
    })
  })

  it("gets whole responses, and the end at the limit of tokens", async () => {
    fake.script({ text: "cut off", cutOff: true, usage: { input: 10, output: 5, cached: 0 } })
    await withProxy(documentOf(kind), { format }, async (fixture) => {
      const { finishReason, text, usage } = await generateText({
        model: makeClient(format, fixture),
        prompt: "the diff",
        maxRetries: 0
      })
      expect({ text, finishReason }).toEqual({ text: "cut off", finishReason: "length" })
      expect(usage).toMatchObject({ inputTokens: 10, outputTokens: 5 })
    })
  })
})

describe.each(Object.entries(sameApi))("%s over its own API", (name, kind) => {
  const format = formats.find((row) => row === name) ?? "openai-chat"
  const path =
    { "openai-chat": "/v1/chat/completions", "anthropic-messages": "/v1/messages" }[name] ??
    "/v1beta/models/m:streamGenerateContent?alt=sse"

  it("passes the bytes of a response on unchanged", async () => {
    fake.script(reply)
    await withProxy(documentOf(kind), { format }, async ({ post }) => {
      const body =
        format === "gemini"
          ? { contents: [{ role: "user", parts: [{ text: "x" }] }] }
          : { model: "any", stream: true, max_tokens: 100, messages: [{ role: "user", content: "x" }] }
      const direct = await fetch(`${fake.url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body)
      })
      const number = fake.requests.length - 1
      const passed = await post(path, body)
      const expected = (await direct.text()).replaceAll(`-${number}`, "-n").replaceAll(`_${number}`, "_n")
      expect(passed.text.replaceAll(`-${number + 1}`, "-n").replaceAll(`_${number + 1}`, "_n")).toBe(expected)
      expect(passed.headers["content-type"]).toBe("text/event-stream")
    })
  })
})

describe("a chain", () => {
  const chained = (more: Record<string, unknown> = {}) => {
    const first = documentOf("anthropic").llm
    const second = documentOf("openai_compatible").llm.providers.map((provider) => ({ ...provider, id: "q" }))
    return {
      llm: {
        ...first,
        providers: [...first.providers, ...second],
        model_chain: {
          default: [
            { provider: "p", model: "m" },
            { provider: "q", model: "n" }
          ]
        },
        ...more
      }
    }
  }

  it.each(formats)("falls back before the first byte, over another API, for %s", async (format) => {
    fake.script(({ path }) => (path.includes("messages") ? faults.overloaded : { text: "from the second" }))
    await withProxy(chained(), { format }, async (fixture) => {
      const streamed = streamText({ model: makeClient(format, fixture), prompt: "x", maxRetries: 0, onError: () => {} })
      expect(await streamed.text).toBe("from the second")
      expect(await fixture.report()).toMatchObject({
        models: ["q/n"],
        notices: [{ _tag: "FellBack", model: "p/m", kind: "unavailable" }],
        usage: { requests: 1 }
      })
    })
  })

  it("does not fall back after the first byte, and ends the stream with an error", async () => {
    fake.script(({ path }) =>
      path.includes("messages")
        ? {
            stream: [
              'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":70,"output_tokens":1}}}\n\n',
              'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"begun"}}\n\n'
            ]
          }
        : { text: "from the second" }
    )
    await withProxy(chained(), { format: "anthropic-messages" }, async ({ post, report }) => {
      const before = fake.requests.length
      const { text } = await post("/v1/messages", { stream: true, messages: [{ role: "user", content: "x" }] })
      expect(text).toContain("begun")
      expect(text).toMatch(/event: error\ndata: .*"overloaded_error"/)
      expect(fake.requests.length - before).toBe(1)
      expect(await report()).toMatchObject({
        usage: { requests: 1, inputTokens: 70 },
        failure: { reason: "retryable" }
      })
    })
  })
})

describe("money", () => {
  const priced = (per_run_usd: number) =>
    documentOf("anthropic", {
      llm: {
        budget: { per_run_usd },
        model_catalog: { enabled: false, overrides: { "p/m": { cost: { input: 1000, output: 1000 } } } }
      }
    })

  it("is refused at the cap in the form of the agent's API, and the pass is marked as stopped", async () => {
    fake.script({ text: "ok", usage: { input: 4000, output: 1000, cached: 0 } })
    await withProxy(priced(7), { format: "anthropic-messages" }, async ({ post, report }) => {
      const body = { messages: [{ role: "user", content: "x" }] }
      expect((await post("/v1/messages", body)).status).toBe(200)
      const refused = await post("/v1/messages", body)
      expect(refused.status).toBe(402)
      expect(JSON.parse(refused.text)).toMatchObject({ type: "error", error: { type: "billing_error" } })
      expect(await report()).toMatchObject({
        stopped: { _tag: "BudgetEndedReview" },
        usage: { requests: 1, costUsd: 5, byModel: { "p/m": { costUsd: 5 } } },
        failure: { reason: "failed" }
      })
    })
  })

  it("of a call that the agent aborts is what arrived of it, and the provider's request ends", async () => {
    let release = (): void => {}
    const held = new Promise<void>((done) => (release = done))
    fake.script({
      text: "a long text that is sent in two pieces",
      usage: { input: 300, output: 50, cached: 0 },
      pace: (event) => (event === 4 ? held : Promise.resolve())
    })
    await withProxy(priced(100), { format: "anthropic-messages" }, async (fixture) => {
      const aborted = fake.aborted()
      const body = JSON.stringify({ stream: true, messages: [{ role: "user", content: "x" }] })
      const agent = connect(fixture.proxy.socket)
      agent.write(
        `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${fixture.token}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      )
      let text = ""
      agent.on("data", (data) => (text += String(data)))
      await waitUntil(() => text.includes("text_delta"), { describe: () => text })
      agent.destroy()
      await waitUntil(() => fake.aborted() > aborted, { describe: () => "the provider's request is open" })
      await waitUntil(async () => (await fixture.report()).usage.requests === 1, { describe: () => "no usage" })
      const { usage } = await fixture.report()
      expect(usage.inputTokens).toBe(300)
      expect(usage.costUsd).toBeGreaterThan(0.3)
      release()
    })
  })

  it("is not spent beyond the number of calls", async () => {
    fake.script({ text: "ok" })
    await withProxy(
      documentOf("openai_compatible"),
      { format: "openai-chat", maxCalls: 2 },
      async ({ post, report }) => {
        const statuses = []
        for (let at = 0; at < 3; at++)
          statuses.push((await post("/v1/chat/completions", { messages: [{ role: "user", content: "x" }] })).status)
        expect(statuses).toEqual([200, 200, 402])
        expect(await report()).toMatchObject({ stopped: { _tag: "CallsEndedReview", count: 2 } })
      }
    )
  })
})

describe("failures", () => {
  it.each([
    ["openai-chat", faults.overflow, 400, /context_length_exceeded/],
    ["anthropic-messages", faults.overflow, 400, /prompt is too long/],
    ["gemini", faults.overflow, 400, /INVALID_ARGUMENT/],
    ["openai-responses", faults.serverError, 503, /server_error/],
    ["openai-chat", faults.unauthorized("test-key-123456"), 400, /model_not_available/],
    ["gemini", { status: 302, headers: { location: "http://169.254.169.254/" } }, 400, /FAILED_PRECONDITION/]
  ] as const)("reach %s in its own form, without the provider's key", async (format, fault, status, text) => {
    fake.script(fault)
    const kind = format === "openai-responses" ? "openai_compatible" : sameApi[format]
    const chat = { messages: [{ role: "user", content: "x" }] }
    const requests = {
      "openai-chat": ["/v1/chat/completions", chat],
      "openai-responses": ["/v1/responses", { input: "x" }],
      "anthropic-messages": ["/v1/messages", chat],
      gemini: ["/v1beta/models/m:generateContent", { contents: [{ parts: [{ text: "x" }] }] }]
    } as const
    await withProxy(documentOf(kind), { format }, async ({ post }) => {
      const [path, body] = requests[format]
      const refused = await post(path, body)
      expect(refused.status).toBe(status)
      expect(refused.text).toMatch(text)
      expect(refused.text).not.toContain("test-key")
    })
  })
})

describe("a search of the provider", () => {
  it.each(kinds.filter((kind) => kind !== "anthropic"))(
    "is removed for %s, which has no such tool, with one notice of the pass",
    async (kind) => {
      fake.script({ text: "fine" })
      const before = fake.requests.length
      const searching = { format: "anthropic-messages", webSearch: true } as const
      await withProxy(documentOf(kind), searching, async ({ post, report }) => {
        const search = { type: "web_search_20250305", name: "web_search", max_uses: 8 }
        const read = { name: "read", input_schema: { type: "object" } }
        const messages = [{ role: "user", content: "x" }]
        const choice = { type: "tool", name: "web_search" }
        for (const more of [{ tools: [read, search] }, { tools: [search], tool_choice: choice }]) {
          const { status, text } = await post("/v1/messages", { messages, stream: true, ...more })
          expect({ status, text }).toMatchObject({
            status: 200,
            text: expect.stringContaining('"stop_reason":"end_turn"')
          })
        }
        expect((await report()).notices.map(inEnglish)).toEqual([
          "the agent could not search the web: the API of the configured provider does not have its tool web_search_20250305"
        ])
      })
      const sent = fake.requests.slice(before).map(({ text }) => text)
      expect(sent).toHaveLength(2)
      expect(sent[0]).toContain('"read"')
      expect(sent.join("")).not.toContain("web_search")
    }
  )
})

describe("an agent that does not wait for its tools", () => {
  const skip = { type: "function", function: { name: "mcp__review_skip", parameters: { type: "object" } } }
  const body = (stream: boolean, tools: ReadonlyArray<unknown>) => ({
    model: "m",
    messages: [{ role: "user", content: "the diff" }],
    stream,
    tools
  })
  const path = "/v1/chat/completions"
  const withAwaited = (
    isListed: boolean,
    use: (fixture: ProxyFixture, listed: Deferred.Deferred<void>) => Promise<void>
  ) => {
    fake.script({ text: "fine" })
    const listed = Deferred.makeUnsafe<void>()
    if (isListed) Deferred.doneUnsafe(listed, Effect.void)
    const settings = { format: "openai-chat", awaitedTools: { names: ["skip"], listed } } as const
    return withProxy(documentOf("openai_compatible"), settings, (fixture) => use(fixture, listed))
  }

  it.each([
    ["a stream", true, 200],
    ["a whole response", false, 503]
  ])("gets the request to repeat a call for %s, as soon as it has the list", async (_, stream, status) => {
    await withAwaited(false, async ({ post, report }, listed) => {
      const before = fake.requests.length
      let hasEnded = false
      const refused = post(path, body(stream, [])).finally(() => (hasEnded = true))
      expect((await post(path, body(stream, [skip]))).text).not.toContain(withoutTools)
      expect(hasEnded).toBe(false)
      Deferred.doneUnsafe(listed, Effect.void)
      expect(await refused).toMatchObject({ status, text: expect.stringContaining(withoutTools) })
      expect(fake.requests.length).toBe(before + 1)
      expect(await report()).toMatchObject({ usage: { requests: 1 }, notices: [] })
    })
  })

  it("gets a response without tools after a call that had them", async () => {
    await withAwaited(true, async ({ post }) => {
      expect((await post(path, body(false, [skip]))).text).toContain("fine")
      expect((await post(path, body(false, []))).text).toContain("fine")
    })
  })

  it("gets a response without tools after five calls without them", async () => {
    await withAwaited(true, async ({ post }) => {
      for (let call = 0; call < 5; call++) expect((await post(path, body(false, []))).status).toBe(503)
      expect((await post(path, body(false, []))).text).toContain("fine")
    })
  })

  it("has failed, and may be repeated, if none of its calls had the tools", async () => {
    await withAwaited(true, async ({ post, report }) => {
      expect((await report()).failure).toBeUndefined()
      for (let call = 0; call < 6; call++) await post(path, body(false, []))
      expect(await report()).toMatchObject({
        usage: { requests: 1 },
        failure: { reason: "retryable", message: expect.stringContaining("had the tools of the review") }
      })
      await post(path, body(false, [skip]))
      expect((await report()).failure).toBeUndefined()
    })
  })
})
