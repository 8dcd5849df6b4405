/** Replays of recorded responses: which request gets which response, and how a changed request is reported. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Evidence } from "../../src/llm/Evidence.ts"
import type { StoredCall } from "../../src/llm/Evidence.ts"
import type { GatewayRequest, ToolSpec } from "../../src/llm/Gateway.ts"
import { messageText } from "../../src/llm/evidence/KeptText.ts"
import { recordedResponses } from "../../src/llm/RecordedGateway.ts"
import { owned } from "../harness/Owners.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"

const tool = (description: string): ToolSpec => ({
  name: "report_problem",
  description,
  parameters: { type: "object", properties: {} }
})

const request = (more: Partial<GatewayRequest> = {}): GatewayRequest => ({
  snapshot: testSnapshot({}),
  group: "default",
  role: "any",
  system: "You review.",
  messages: [{ role: "user", text: "the diff" }],
  tools: [tool("reports")],
  deadlineMillis: 1000,
  ...more
})

const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }

/** Replays requests over records of others; returns the responses and the differences. */
const replayed = (recorded: ReadonlyArray<GatewayRequest>, requests: ReadonlyArray<GatewayRequest>, isCutOff = false) =>
  Effect.gen(function* () {
    const texts = new Map<string, string>()
    const named = (text: string): string => {
      const name = createHash("sha256").update(text).digest("hex")
      texts.set(name, text)
      return name
    }
    const calls = recorded.map(({ messages, system, tools }, at): StoredCall => ({
      version: 1,
      model: "p/m",
      at,
      millis: 1,
      group: "default",
      role: "any",
      system: named(system),
      tools: named(JSON.stringify(tools)),
      messages: messages.map((message) => named(messageText(message))),
      response: { text: `response ${at}`, calls: [], usage, ...(isCutOff ? { isCutOff } : {}) }
    }))
    const evidence = Layer.mock(Evidence, {
      calls: () => Effect.succeed(calls),
      text: (_, name) => Effect.succeed(texts.get(name))
    })
    const { compareRequests, gateway } = yield* recordedResponses("run-1").pipe(Effect.provide(evidence))
    const responses = yield* Effect.forEach(requests, (one) => Effect.option(gateway.call(one)))
    return {
      responses: responses.map((one) => (one._tag === "Some" ? one.value : undefined)),
      ...compareRequests()
    }
  }).pipe(owned)

describe("replayed responses", () => {
  it.effect("go to the request with the same tools, texts and messages", () =>
    Effect.gen(function* () {
      const first = request()
      const second = request({ tools: [tool("reports one problem")] })
      const { changed, responses, same } = yield* replayed([first, second], [second, first])
      assert.deepStrictEqual(
        responses.map((one) => one?.text),
        ["response 1", "response 0"]
      )
      assert.deepStrictEqual([same, changed], [2, []])
    })
  )

  it.effect("go to a request whose tools are defined differently, which counts as changed", () =>
    Effect.gen(function* () {
      const { changed, responses, same } = yield* replayed([request()], [request({ tools: [tool("reports all")] })])
      assert.strictEqual(responses[0]?.text, "response 0")
      assert.strictEqual(same, 0)
      assert.deepStrictEqual(changed, [
        { part: "tools", before: '  "description": "reports",', after: '  "description": "reports all",' }
      ])
    })
  )

  it.effect("do not go to a request with other tools, or twice to the same one", () =>
    Effect.gen(function* () {
      const { responses, unanswered } = yield* replayed([request()], [request({ tools: [] }), request(), request()])
      assert.deepStrictEqual(
        responses.map((one) => one?.text),
        [undefined, "response 0", undefined]
      )
      assert.strictEqual(unanswered, 2)
    })
  )

  it.effect("are reported as cut where they were", () =>
    Effect.gen(function* () {
      const { responses } = yield* replayed([request()], [request()], true)
      assert.isTrue(responses[0]?.isCutOff)
    })
  )
})
