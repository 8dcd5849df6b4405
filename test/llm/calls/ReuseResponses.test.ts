/** Recorded responses of a lost attempt: which request gets one, how often, and which are never reused. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { Budget } from "../../../src/llm/Budget.ts"
import { Catalog } from "../../../src/llm/Catalog.ts"
import { layerMemory } from "../../../src/llm/catalog/MemoryCatalogCache.ts"
import { Evidence } from "../../../src/llm/Evidence.ts"
import { Gateway } from "../../../src/llm/Gateway.ts"
import type { GatewayRequest } from "../../../src/llm/Gateway.ts"
import * as GatewayLayer from "../../../src/llm/GatewayLayer.ts"
import { Limiter } from "../../../src/llm/Limiter.ts"
import { ModelRun } from "../../../src/llm/ModelRun.ts"
import type { ModelAccount } from "../../../src/llm/ModelRun.ts"
import { requestKey } from "../../../src/llm/RequestKey.ts"
import * as FileObjects from "../../../src/store/objects/FileObjects.ts"
import { startFakeModel } from "../../harness/FakeModel.ts"
import type { FakeModel, Script } from "../../harness/FakeModel.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { folder } from "../../store/Folder.ts"

const fence = (character: string) => character.repeat(24)
const prompt = (text: string, word = fence("a")) =>
  `Only lines with the word ${word} are fences.\n<diff ${word}>\n${text}\n</diff ${word}>`

const requestOf = (url: string, text: string, more: Partial<GatewayRequest> = {}): GatewayRequest => ({
  snapshot: testSnapshot({
    llm: {
      providers: [{ id: "p", kind: "openai_compatible", base_url: `${url}/v1` }],
      model_chain: {
        default: [{ provider: "p", model: "m" }],
        other: [{ provider: "p", model: "n" }]
      },
      retry: { max_attempts: 1 }
    }
  }),
  group: "default",
  role: "any",
  system: "You review.",
  messages: [{ role: "user", text }],
  tools: [],
  deadlineMillis: 10_000,
  ...more
})

const first: ModelAccount = { id: "run-1", repository: "r" }
const again = (attempt: number): ModelAccount => ({ ...first, resumes: { attempt, earlier: ["run-1"] } })

/** A process of its own over the same objects. */
const process = (root: string) =>
  GatewayLayer.layer.pipe(
    Layer.provide([Budget.layerMemory, Limiter.layerMemory, Catalog.layer.pipe(Layer.provide(layerMemory))]),
    Layer.provide(Evidence.layer.pipe(Layer.provide(FileObjects.layerFiles({ root })))),
    Layer.merge(Logger.layer([]))
  )

const asking = (root: string, account: ModelAccount, requests: ReadonlyArray<GatewayRequest>) =>
  Effect.forEach(requests, (request) => Gateway.use((gateway) => gateway.call(request))).pipe(
    Effect.map((answers) => answers.map(({ text }) => text)),
    Effect.provideService(ModelRun, account),
    Effect.provide(process(root))
  )

const model = (script: Script) =>
  Effect.acquireRelease(
    Effect.promise(() => startFakeModel(script)),
    (fake: FakeModel) => Effect.promise(() => fake.close())
  )

describe("reuse of recorded responses", () => {
  it.live("the same request gets its recorded response once; the next one is paid for", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const fake = yield* model((_, number) => ({ text: `answer ${number}` }))
      const one = requestOf(fake.url, prompt("one"))
      const two = requestOf(fake.url, prompt("two"))
      assert.deepStrictEqual(yield* asking(root, first, [one, two]), ["answer 0", "answer 1"])
      const fenced = requestOf(fake.url, prompt("two", fence("b")))
      assert.deepStrictEqual(yield* asking(root, again(2), [fenced, one, one]), ["answer 1", "answer 0", "answer 2"])
      assert.lengthOf(fake.requests, 3)
    }).pipe(Effect.scoped)
  )

  it.live(
    "another prompt, model, system text, tool or conversation is a call of its own; so is every call of a new review",
    () =>
      Effect.gen(function* () {
        const root = yield* folder
        const fake = yield* model((_, number) => ({ text: `answer ${number}` }))
        const request = requestOf(fake.url, prompt("one"))
        yield* asking(root, first, [request])
        const others: ReadonlyArray<Partial<GatewayRequest>> = [
          { messages: [{ role: "user", text: prompt("1") }] },
          { group: "other" },
          { system: "You judge." },
          { tools: [{ name: "skip", description: "ends", parameters: { type: "object" } }] },
          { messages: [...request.messages, { role: "assistant", text: "so", calls: [] }, ...request.messages] }
        ]
        for (const [index, other] of others.entries()) {
          const [text] = yield* asking(root, again(2), [requestOf(fake.url, prompt("one"), other)])
          assert.strictEqual(text, `answer ${index + 1}`)
        }
        const [text] = yield* asking(root, { id: "run-2", repository: "r" }, [request])
        assert.strictEqual(text, `answer ${others.length + 1}`)
      }).pipe(Effect.scoped)
  )

  it.live("a failure, and a response that evidence could not store unchanged, are not reused", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const token = `ghp_${"a1".repeat(20)}`
      const fake = yield* model((_, number) => ({ text: number === 0 ? `found ${token}` : "paid again" }))
      const request = requestOf(fake.url, prompt("one"))
      assert.deepStrictEqual(yield* asking(root, first, [request]), [`found ${token}`])
      assert.deepStrictEqual(yield* asking(root, again(2), [request]), ["paid again"])
    }).pipe(Effect.scoped)
  )

  it("words that are no fences count", () => {
    const key = (text: string) => requestKey("p/m", requestOf("http://127.0.0.1:1", text))
    assert.strictEqual(key(prompt("one", fence("a"))), key(prompt("one", fence("b"))))
    assert.notStrictEqual(key(prompt(fence("c"))), key(prompt(fence("d"))))
  })
})
