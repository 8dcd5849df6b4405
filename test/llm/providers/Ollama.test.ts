/** Prompts that Ollama would cut go to its own API, whose window can be set and whose stream is converted. */
import { createServer } from "node:http"
import type { ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { Gateway } from "../../../src/llm/Gateway.ts"
import type { GatewayRequest, Message } from "../../../src/llm/Gateway.ts"
import { gatewayLayer } from "../../../src/llm/GatewayLayer.ts"
import { windowFor } from "../../../src/llm/providers/Ollama.ts"
import { owned } from "../../harness/Owners.ts"

interface Seen {
  readonly path: string
  readonly body: Record<string, unknown>
}

/** A recorded response of Ollama's own API, a JSON object per line. */
const recorded = [
  '{"model":"m","created_at":"2026-01-02T03:04:05.1Z","message":{"role":"assistant","content":"","thinking":"so "},"done":false}',
  '{"model":"m","created_at":"2026-01-02T03:04:05.2Z","message":{"role":"assistant","content":"","thinking":"be it"},"done":false}',
  '{"model":"m","created_at":"2026-01-02T03:04:05.3Z","message":{"role":"assistant","content":"Grüße "},"done":false}',
  '{"model":"m","created_at":"2026-01-02T03:04:05.4Z","message":{"role":"assistant","content":"all"},"done":false}',
  '{"model":"m","created_at":"2026-01-02T03:04:05.5Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"skip","arguments":{"reason":"nothing"}}}]},"done":false}',
  '{"model":"m","created_at":"2026-01-02T03:04:05.6Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"skip","arguments":{"reason":"twice"}}}]},"done":false}',
  '{"model":"m","created_at":"2026-01-02T03:04:05.7Z","message":{"role":"assistant","content":""},"done_reason":"stop","done":true,"total_duration":61,"load_duration":9,"prompt_eval_count":21000,"prompt_eval_duration":7,"eval_count":40,"eval_duration":44}'
]
  .map((line) => `${line}\n`)
  .join("")

const whole = {
  id: "1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "short" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 }
}

const seen: Array<Seen> = []
let aborted = 0
type Respond = (response: ServerResponse) => void
/** Writes a body in pieces of this many bytes, which divide lines and characters. */
const inPieces =
  (text: string, size: number): Respond =>
  (response) => {
    const bytes = Buffer.from(text)
    response.setHeader("content-type", "application/x-ndjson")
    for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size))
    response.end()
  }
/** Responds to /api/chat. */
let respond: Respond = inPieces(recorded, 7)

const server = createServer((request, response) => {
  let text = ""
  request.on("data", (chunk) => (text += chunk))
  response.once("close", () => {
    if (!response.writableFinished) aborted++
  })
  request.on("end", () => {
    seen.push({ path: request.url ?? "", body: JSON.parse(text) })
    if (request.url === "/api/chat") return respond(response)
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify(whole))
  })
})

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
afterAll(() => new Promise((resolve) => server.close(resolve)))

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === "object" && address !== null ? address.port : 0

const call = (
  messages: ReadonlyArray<Message>,
  provider: Record<string, unknown> = {},
  more: Partial<GatewayRequest> = {}
) =>
  Effect.gen(function* () {
    const snapshot = yield* toSnapshot(
      {
        llm: {
          providers: [
            { id: "o", kind: "ollama", base_url: `http://127.0.0.1:${portOf(server.address())}`, ...provider }
          ],
          model_chain: { default: [{ provider: "o", model: "m" }] },
          retry: { max_attempts: 1, give_up_after_seconds: 60 }
        },
        triggers: [{ name: "t", kind: "manual" }],
        workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "a/b" } } } }
      },
      {}
    )
    seen.length = 0
    return yield* (yield* Gateway).call({
      snapshot,
      group: "default",
      role: "any",
      system: "be brief",
      messages,
      tools: [{ name: "skip", description: "ends", parameters: { type: "object", properties: {} } }],
      deadlineMillis: 10_000,
      ...more
    })
  }).pipe(Effect.provide(gatewayLayer), owned)

const long = "const a = 1\n".repeat(4000)

const longPrompt: ReadonlyArray<Message> = [{ role: "user", text: long }]

describe("Ollama", () => {
  beforeEach(() => {
    respond = inPieces(recorded, 7)
  })

  it("gets prompts that fit its default window over the API of chat completions", async () => {
    const response = await Effect.runPromise(call([{ role: "user", text: "hello" }]))
    expect([seen[0]?.path, response.text]).toEqual(["/v1/chat/completions", "short"])
  })

  it("gets the window that a long prompt needs, with tool calls and their results", async () => {
    const response = await Effect.runPromise(
      call(
        [
          ...longPrompt,
          { role: "assistant", text: "", calls: [{ id: "c1", name: "skip", input: { reason: "so" } }] },
          { role: "tool", results: [{ id: "c1", name: "skip", output: "not yet" }] }
        ],
        { max_output_tokens: 500, reasoning_effort: "high" }
      )
    )
    expect(seen[0]?.path).toBe("/api/chat")
    expect(seen[0]?.body).toMatchObject({
      model: "m",
      stream: true,
      think: "high",
      options: { num_ctx: 32_768, num_predict: 500 },
      tools: [{ type: "function", function: { name: "skip" } }]
    })
    expect(seen[0]?.body["messages"]).toEqual([
      { role: "system", content: "be brief" },
      { role: "user", content: long },
      { role: "assistant", content: "", tool_calls: [{ function: { name: "skip", arguments: { reason: "so" } } }] },
      { role: "tool", content: "not yet", tool_name: "skip" }
    ])
    expect(response.text).toBe("Grüße all")
    expect(response.calls).toMatchObject([
      { name: "skip", input: { reason: "nothing" } },
      { name: "skip", input: { reason: "twice" } }
    ])
    expect(response.usage).toMatchObject({ inputTokens: 21_000, outputTokens: 40 })
  })

  it("gets no larger window than the model supports", async () => {
    await Effect.runPromise(call(longPrompt, { context_window: 16_384 }))
    expect(seen[0]?.body).toMatchObject({ options: { num_ctx: 16_384 } })
  })

  it("streams: a tool call is handled before the response ends", async () => {
    const handled = Promise.withResolvers<void>()
    const lines = recorded.split("\n")
    respond = (response) => {
      response.write(`${lines.slice(0, 6).join("\n")}\n`)
      void handled.promise.then(() => response.end(lines.slice(6).join("\n")))
    }
    const onToolCall = () => Effect.sync(() => handled.resolve())
    const { calls } = await Effect.runPromise(call(longPrompt, {}, { onToolCall }))
    expect(calls).toHaveLength(2)
  })

  it("may be silent for long before its response, but not within it", async () => {
    const [first] = recorded.split("\n")
    respond = (response) => void response.write(`${first}\n`)
    const before = aborted
    const error = await Effect.runPromise(Effect.flip(call(longPrompt, { timeout_ms: 100 })))
    expect(error).toMatchObject({ reason: "timeout", message: expect.stringContaining("sent nothing for 100 ms") })
    expect(aborted).toBe(before + 1)
  })

  it("reports a response that was cut at its limit", async () => {
    respond = inPieces(
      '{"model":"m","message":{"role":"assistant","content":"half"},"done":false}\n{"model":"m","message":{"content":""},"done":true,"done_reason":"length"}',
      1000
    )
    expect(await Effect.runPromise(call(longPrompt))).toMatchObject({ text: "half", isCutOff: true })
  })

  it.each([
    ["an error within the response", `${recorded.split("\n")[0]}\n{"error":"the runner has terminated"}\n`, /runner/],
    ["an end without the last line", recorded.split("\n").slice(0, 3).join("\n"), /without a finish reason/],
    ["a line that is not JSON", "<html>\n", /./]
  ])("%s fails the call", async (_, body, message) => {
    respond = inPieces(body, 1000)
    const error = await Effect.runPromise(Effect.flip(call(longPrompt)))
    expect(error).toMatchObject({ reason: "unavailable", message: expect.stringMatching(message) })
  })

  it("reports why it refuses a request", async () => {
    respond = (response) => {
      response.writeHead(404, { "content-type": "application/json" }).end('{"error":"model \'m\' not found"}')
    }
    const error = await Effect.runPromise(Effect.flip(call(longPrompt)))
    expect(error).toMatchObject({ reason: "not_configured", message: expect.stringContaining("model 'm' not found") })
  })

  it("reports how long a busy server wants to be left alone", async () => {
    respond = (response) => {
      response.writeHead(503, { "retry-after": "900" }).end('{"error":"server busy"}')
    }
    const error = await Effect.runPromise(Effect.flip(call(longPrompt)))
    expect(error).toMatchObject({ retryAfterMillis: 900_000 })
  })

  it.each([
    [1000, undefined, undefined, undefined],
    [20_000, undefined, undefined, 16_384],
    [20_000, 200, undefined, 16_384],
    [9000, 5000, undefined, 16_384],
    [300_000, 1000, undefined, 131_072],
    [300_000, 1000, 65_536, 65_536]
  ])("%i characters and %s output tokens with a maximum of %s: %s", (characters, output, most, expected) => {
    expect(windowFor(characters, output, most)).toBe(expected)
  })
})
