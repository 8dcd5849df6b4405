/** A prompt that Ollama would cut is sent where its window can be set. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { Gateway } from "../../src/llm/Gateway.ts"
import type { Message } from "../../src/llm/Gateway.ts"
import { gatewayLayer } from "../../src/llm/GatewayLayer.ts"
import { windowFor } from "../../src/llm/Ollama.ts"
import { owned } from "../harness/Owners.ts"

interface Seen {
  readonly path: string
  readonly body: Record<string, unknown>
}

const seen: Array<Seen> = []
let fails = false
const server = createServer((request, response) => {
  let text = ""
  request.on("data", (chunk) => (text += chunk))
  request.on("end", () => {
    seen.push({ path: request.url ?? "", body: JSON.parse(text) })
    response.setHeader("content-type", "application/json")
    if (fails) {
      response.statusCode = 404
      response.end(JSON.stringify({ error: "model 'm' not found" }))
      return
    }
    response.end(
      JSON.stringify(
        request.url === "/api/chat"
          ? {
              model: "m",
              done: true,
              done_reason: "stop",
              prompt_eval_count: 21_000,
              eval_count: 40,
              message: {
                role: "assistant",
                content: "",
                thinking: "so be it",
                tool_calls: [{ function: { name: "skip", arguments: { reason: "nothing" } } }]
              }
            }
          : {
              id: "1",
              object: "chat.completion",
              created: 1,
              model: "m",
              choices: [{ index: 0, message: { role: "assistant", content: "short" }, finish_reason: "stop" }],
              usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 }
            }
      )
    )
  })
})

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
afterAll(() => new Promise((resolve) => server.close(resolve)))

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === "object" && address !== null ? address.port : 0

const ask = (messages: ReadonlyArray<Message>, provider: Record<string, unknown> = {}) =>
  Effect.gen(function* () {
    const snapshot = yield* toSnapshot(
      {
        llm: {
          providers: [
            { id: "o", kind: "ollama", base_url: `http://127.0.0.1:${portOf(server.address())}`, ...provider }
          ],
          model_chain: { default: [{ provider: "o", model: "m" }] }
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
      deadlineMillis: 10_000
    })
  }).pipe(Effect.provide(gatewayLayer), owned)

const long = "const a = 1\n".repeat(4000)

describe("Ollama", () => {
  it("answers what fits the usual window where others are asked too", async () => {
    const answer = await Effect.runPromise(ask([{ role: "user", text: "hello" }]))
    expect([seen[0]?.path, answer.text]).toEqual(["/v1/chat/completions", "short"])
  })

  it("is given the window that a long prompt needs, tool calls and their results included", async () => {
    const answer = await Effect.runPromise(
      ask(
        [
          { role: "user", text: long },
          { role: "assistant", text: "", calls: [{ id: "c1", name: "skip", input: { reason: "so" } }] },
          { role: "tool", results: [{ id: "c1", name: "skip", output: "not yet" }] }
        ],
        { max_output_tokens: 500, reasoning_effort: "high" }
      )
    )
    expect(seen[0]?.path).toBe("/api/chat")
    expect(seen[0]?.body).toMatchObject({
      model: "m",
      stream: false,
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
    expect(answer.calls).toMatchObject([{ name: "skip", input: { reason: "nothing" } }])
    expect(answer.usage).toMatchObject({ inputTokens: 21_000, outputTokens: 40 })
  })

  it("is asked for no more than the model takes", async () => {
    await Effect.runPromise(ask([{ role: "user", text: long }], { context_window: 16_384 }))
    expect(seen[0]?.body).toMatchObject({ options: { num_ctx: 16_384 } })
  })

  it("says why it does not answer", async () => {
    fails = true
    const failed = await Effect.runPromise(Effect.flip(ask([{ role: "user", text: long }])))
    fails = false
    expect(failed).toMatchObject({ reason: "not_configured", message: expect.stringContaining("no such model") })
  })

  it.each([
    [1000, undefined, undefined, undefined],
    [20_000, undefined, undefined, 16_384],
    [20_000, 200, undefined, 16_384],
    [9000, 5000, undefined, 16_384],
    [300_000, 1000, undefined, 131_072],
    [300_000, 1000, 65_536, 65_536]
  ])("%i characters and %s tokens of answer with %s at most: %s", (characters, output, most, expected) => {
    expect(windowFor(characters, output, most)).toBe(expected)
  })
})
