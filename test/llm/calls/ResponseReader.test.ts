/** Streamed responses over every protocol: early calls, forced tools, the limit of output, and hostile streams. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Logger } from "effect"
import { Gateway } from "../../../src/llm/Gateway.ts"
import type { GatewayRequest, ToolCall } from "../../../src/llm/Gateway.ts"
import { gatewayLayer } from "../../../src/llm/GatewayLayer.ts"
import { startFakeModel } from "../../harness/FakeModel.ts"
import type { Script } from "../../harness/FakeModel.ts"
import { testOwners } from "../../harness/Owners.ts"
import type { Owners } from "../../harness/Owners.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { documentFor, env, protocols, publicKey } from "../Protocols.ts"
import type { ProtocolCase } from "../Protocols.ts"

const tool = { name: "report_problem", description: "report", parameters: { type: "object", properties: {} } }

const fakeModel = (script: Script) =>
  Effect.acquireRelease(
    Effect.promise(() => startFakeModel(script, { publicKey })),
    (fake) => Effect.promise(() => fake.close())
  )

const call = (protocol: ProtocolCase, url: string, more: Partial<GatewayRequest> = {}, provider = {}) =>
  Gateway.use((gateway) =>
    gateway.call({
      snapshot: testSnapshot(documentFor(protocol, url, { provider }), env),
      group: "default",
      role: "any",
      system: "You review.",
      messages: [{ role: "user", text: "the diff" }],
      tools: [tool],
      deadlineMillis: 20_000,
      ...more
    })
  )

const run = <A, E>(effect: Effect.Effect<A, E, Gateway | Owners>) =>
  effect.pipe(Effect.provide([gatewayLayer, Logger.layer([]), testOwners]))

const twoCalls = [
  { name: "report_problem", input: { file: "a.ts" } },
  { name: "aicr.report_problem", input: { file: "b.ts" } }
]

describe.each(protocols)("a response streamed by $name", (protocol) => {
  it.live("notifies of its beginning, hands over each call when it is complete, and all of them at the end", () =>
    Effect.gen(function* () {
      let finish = (): void => {}
      const held = new Promise<void>((resolve) => {
        finish = resolve
      })
      const events = new Map<number, () => Promise<void>>()
      // The last event is held back until the first call arrived.
      const last = { chat: 8, responses: 0, anthropic: 8, gemini: 2, bedrock: 8 }[protocolOf(protocol)]
      events.set(last, () => held)
      const fake = yield* fakeModel({ calls: twoCalls, pace: (at) => events.get(at)?.() ?? Promise.resolve() })
      const first = yield* Deferred.make<ToolCall>()
      const begun = yield* Deferred.make<void>()
      const onBegin = Effect.asVoid(Deferred.succeed(begun, undefined))
      const received: Array<ToolCall> = []
      const onToolCall = (one: ToolCall) => {
        received.push(one)
        return Effect.asVoid(Deferred.succeed(first, one))
      }
      const fiber = yield* Effect.forkChild(call(protocol, fake.url, { onBegin, onToolCall }))
      yield* Deferred.await(begun)
      const early = yield* Deferred.await(first)
      assert.deepStrictEqual([early.name, early.input], ["report_problem", { file: "a.ts" }])
      assert.isUndefined(fiber.pollUnsafe())
      finish()
      const answer = yield* Fiber.join(fiber)
      assert.deepStrictEqual(received, [...answer.calls])
      assert.deepStrictEqual(
        received.map(({ name, input }) => [name, input]),
        [
          ["report_problem", { file: "a.ts" }],
          ["report_problem", { file: "b.ts" }]
        ]
      )
    }).pipe(Effect.scoped, run)
  )

  it.live("a forced tool is requested, and text of a model is still accepted", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "no tool for me" })
      const answer = yield* call(protocol, fake.url, { toolChoice: "required" })
      yield* call(protocol, fake.url)
      assert.strictEqual(answer.text, "no tool for me")
      assert.match(fake.requests[0]?.text ?? "", /"required"|"any"|"ANY"|\{"any":\{\}\}/)
      assert.notMatch(fake.requests[1]?.text ?? "", /"required"|"any"|"ANY"|\{"any":\{\}\}/)
    }).pipe(Effect.scoped, run)
  )

  it.live("a response that ended at its limit is marked as cut off", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel([{ text: "half of", cutOff: true }, { text: "whole" }])
      assert.isTrue((yield* call(protocol, fake.url)).isCutOff)
      assert.isUndefined((yield* call(protocol, fake.url)).isCutOff)
    }).pipe(Effect.scoped, run)
  )

  it.live("a limit of output is always sent", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      yield* call(protocol, fake.url)
      assert.include(fake.requests[0]?.text, "16384")
    }).pipe(Effect.scoped, run)
  )
})

const protocolOf = ({ path }: ProtocolCase) =>
  path.includes("completions")
    ? "chat"
    : path.includes("converse")
      ? "bedrock"
      : path.includes("Generate") || path.includes("generate")
        ? "gemini"
        : "anthropic"

const [chat] = protocols
if (chat === undefined) throw new Error("no protocol")

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const forever = async function* (piece: string, millis: number) {
  while (true) {
    yield piece
    await new Promise((resolve) => setTimeout(resolve, millis))
  }
}
const many = function* (piece: string, count: number) {
  for (let at = 0; at < count; at++) yield piece
}
const toolDelta = (text: string) =>
  chunk({ tool_calls: [{ index: 0, id: "c", function: { name: "report_problem", arguments: text } }] })

describe("hostile streams", () => {
  it.live.each<readonly [string, Script, Partial<GatewayRequest>, Record<string, unknown>, string, RegExp]>([
    [
      "a piece now and then, forever",
      { stream: forever(chunk({ content: "x" }), 20) },
      { deadlineMillis: 300 },
      {},
      "timeout",
      /time for this call/
    ],
    [
      "silence in the middle",
      { text: "hello", pace: (at) => new Promise((go) => void (at < 3 && go())) },
      {},
      { timeout_ms: 100 },
      "timeout",
      /sent nothing for 100 ms/
    ],
    ["1 GB", { stream: many(`: ${"x".repeat(65_000)}\n\n`, 16_000) }, {}, {}, "invalid", /larger than 64 MiB/],
    [
      "text without end",
      { stream: many(chunk({ content: "x".repeat(50_000) }), 16_000) },
      {},
      {},
      "invalid",
      /larger than 4 million characters/
    ],
    [
      "tool input of 50 MB",
      { stream: many(toolDelta("x".repeat(50_000)), 1000) },
      {},
      {},
      "invalid",
      /larger than 4 million characters/
    ],
    [
      "tool input of 50 MB in one event",
      { stream: [toolDelta("x".repeat(50_000_000))] },
      {},
      {},
      "invalid",
      /larger than 4 million characters/
    ],
    ["events that are no JSON", { stream: ["data: {oops\n\n"] }, {}, {}, "unavailable", /JSON/],
    [
      "an end without a reason",
      { stream: [chunk({ content: "half" })] },
      {},
      {},
      "unavailable",
      /without a finish reason/
    ],
    [
      "status 200 with an error",
      { status: 200, body: '{"error":{"message":"no such parameter","code":400}}' },
      {},
      {},
      "invalid",
      /no such parameter/
    ],
    [
      "an error in the stream",
      { stream: [chunk({ content: "half" }), 'data: {"error":{"message":"the backend died"}}\n\n'] },
      {},
      {},
      "unavailable",
      /backend died/
    ]
  ])("%s", ([, script, request, provider, reason, message]) =>
    Effect.gen(function* () {
      const fake = yield* fakeModel(script)
      const error = yield* Effect.flip(call(chat, fake.url, request, provider))
      assert.strictEqual(error.reason, reason)
      assert.match(error.message, message)
    }).pipe(Effect.scoped, run)
  )

  it.live("a server that ignores streaming is understood", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({
        id: "1",
        choices: [
          {
            index: 0,
            finish_reason: "tool_calls",
            message: {
              role: "assistant",
              content: "so",
              tool_calls: [{ id: "c", type: "function", function: { name: "report_problem", arguments: "{}" } }]
            }
          }
        ],
        usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
      })
      const fake = yield* fakeModel({ status: 200, body })
      const answer = yield* call(chat, fake.url)
      assert.deepStrictEqual(
        [answer.text, answer.calls, answer.usage.inputTokens],
        ["so", [{ id: "c", name: "report_problem", input: {} }], 7]
      )
    }).pipe(Effect.scoped, run)
  )
})
