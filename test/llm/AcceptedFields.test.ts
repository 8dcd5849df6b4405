/** Servers that refuse a field of a request: it is sent again once in another form, and so are later requests. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { Gateway } from "../../src/llm/Gateway.ts"
import { gatewayLayer } from "../../src/llm/GatewayLayer.ts"
import { startFakeModel } from "../harness/FakeModel.ts"
import type { Recorded } from "../harness/FakeModel.ts"
import { testOwners } from "../harness/Owners.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"
import { documentFor, env, protocols, publicKey } from "./Protocols.ts"
import type { ProtocolCase } from "./Protocols.ts"

type Body = Readonly<Record<string, unknown>>
const bodyOf = ({ body }: Recorded): Body => ({ ...Object(body) })
const rolesOf = (body: Body): ReadonlyArray<unknown> =>
  (Array.isArray(body["messages"]) ? body["messages"] : []).map((message) => Object(message)["role"])

const chat = protocols.filter(({ path }) => path.includes("chat/completions"))
const compatible = chat.filter(({ name }) => name === "openai_compatible")
const tool = {
  name: "report_problem",
  description: "report",
  parameters: { type: "object", properties: { file: { type: "string" } }, required: ["file"] }
}

interface Server {
  readonly name: string
  /** Returns the error of the server, if it refuses the body. */
  readonly refuses: (body: Body) => Readonly<Record<string, unknown>> | string | undefined
  /** Requests of the first call. */
  readonly requests: number
  readonly accepted: (body: Body) => boolean
  readonly protocols?: ReadonlyArray<ProtocolCase>
}

const servers: ReadonlyArray<Server> = [
  {
    name: "a forced choice of tools, in the words of DeepSeek",
    refuses: ({ tool_choice }) =>
      tool_choice === "required"
        ? { message: "deepseek-v4-pro does not support this tool_choice", type: "invalid_request_error", param: null }
        : undefined,
    requests: 2,
    accepted: ({ tool_choice }) => tool_choice === "auto"
  },
  {
    name: "every choice of tools, in the words of DashScope",
    refuses: ({ tool_choice }) =>
      tool_choice === undefined
        ? undefined
        : { message: "<400> InvalidParameter: The tool_choice parameter does not support being set in thinking mode" },
    requests: 3,
    accepted: ({ tool_choice }) => tool_choice === undefined
  },
  {
    name: "max_tokens, in the words of OpenAI",
    refuses: ({ max_tokens }) =>
      max_tokens === undefined
        ? undefined
        : {
            message:
              "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            param: "max_tokens"
          },
    requests: 2,
    accepted: ({ max_completion_tokens, max_tokens }) => max_completion_tokens === 4000 && max_tokens === undefined,
    protocols: compatible
  },
  {
    name: "both names of the limit of tokens, as text",
    refuses: (body) => {
      const name = ["max_tokens", "max_completion_tokens"].find((one) => body[one] !== undefined)
      return name === undefined ? undefined : `Unrecognized request argument supplied: ${name}`
    },
    requests: 3,
    accepted: (body) => body["max_completion_tokens"] === undefined && body["max_tokens"] === undefined
  },
  {
    name: "stream_options",
    refuses: ({ stream_options }) =>
      stream_options === undefined ? undefined : { message: "Unrecognized request argument supplied: stream_options" },
    requests: 2,
    accepted: ({ stream_options, tool_choice }) => stream_options === undefined && tool_choice === "required"
  },
  {
    name: "messages of the system",
    refuses: (body) =>
      rolesOf(body).includes("system") ? { message: "System role not supported for this model" } : undefined,
    requests: 2,
    accepted: (body) => String(rolesOf(body)) === "user" && JSON.stringify(body).includes("You review.")
  }
]

const call = (document: unknown) =>
  Gateway.use((gateway) =>
    gateway.call({
      snapshot: testSnapshot(document, env),
      group: "default",
      role: "any",
      system: "You review.",
      messages: [{ role: "user", text: "the diff" }],
      tools: [tool],
      toolChoice: "required",
      deadlineMillis: 20_000
    })
  )

const started = (refuses: Server["refuses"], status: number) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      startFakeModel(
        (request) => {
          const error = refuses(bodyOf(request))
          return error === undefined ? { text: "hello" } : { status, body: JSON.stringify({ error }) }
        },
        { publicKey }
      )
    ),
    (fake) => Effect.promise(() => fake.close())
  )

const layers = Layer.mergeAll(gatewayLayer, Logger.layer([]), testOwners)

describe("a server that refuses", () => {
  for (const { accepted, name, protocols: own = chat, refuses, requests } of servers)
    for (const protocol of own)
      it.live(`${name}: ${protocol.name}`, () =>
        Effect.gen(function* () {
          const fake = yield* started(refuses, protocol.kind === "ollama" ? 422 : 400)
          const document = documentFor(protocol, fake.url, { provider: { max_output_tokens: 4000 } })
          yield* call(document)
          assert.strictEqual(fake.requests.length, requests)
          assert.isTrue(accepted(bodyOf(fake.requests.at(-1) ?? assert.fail("no request"))))
          yield* call(document)
          assert.strictEqual(fake.requests.length, requests + 1)
        }).pipe(Effect.provide(layers))
      )

  const [plain = assert.fail("no protocol")] = compatible

  it.live.each([
    ["names no field", { message: "bad request" }, 1],
    ["names a field that is needed", { message: "messages is too long for this server" }, 1],
    [
      "names the limit, and means the length of the prompt",
      { message: "maximum context length is 8192, with max_tokens" },
      1
    ],
    ["refuses every form", { message: "tool_choice is not supported" }, 3]
  ] as const)("%s: the call fails after as many requests as there are forms", ([, error, requests]) =>
    Effect.gen(function* () {
      const fake = yield* started(() => error, 400)
      const document = documentFor(plain, fake.url)
      assert.oneOf((yield* Effect.flip(call(document))).reason, ["invalid", "overflow"])
      assert.strictEqual(fake.requests.length, requests)
      yield* Effect.flip(call(document))
      assert.strictEqual(fake.requests.length, requests + 1)
    }).pipe(Effect.provide(layers))
  )

  it.live("what refused_fields names is sent in its other form from the first request on", () =>
    Effect.gen(function* () {
      const fake = yield* started(() => undefined, 400)
      const provider = {
        refused_fields: ["tool_choice", "max_tokens", "system", "stream_options"],
        max_output_tokens: 4000
      }
      yield* call(documentFor(plain, fake.url, { provider }))
      const [first = assert.fail("no request")] = fake.requests.map(bodyOf)
      const { max_completion_tokens, max_tokens, stream_options, tool_choice } = first
      assert.deepStrictEqual(
        [tool_choice, max_tokens, max_completion_tokens, stream_options],
        ["auto", undefined, 4000, undefined]
      )
      assert.deepStrictEqual(rolesOf(first), ["user"])
    }).pipe(Effect.provide(layers))
  )
})
