/** Evidence of model calls in real files: what is kept, what is taken out of it, what bounds it. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { Budget } from "../../src/llm/Budget.ts"
import { Catalog } from "../../src/llm/Catalog.ts"
import { layerMemory } from "../../src/llm/catalog/MemoryCatalogCache.ts"
import { Evidence } from "../../src/llm/Evidence.ts"
import { Gateway } from "../../src/llm/Gateway.ts"
import type { GatewayRequest } from "../../src/llm/Gateway.ts"
import * as GatewayLayer from "../../src/llm/GatewayLayer.ts"
import { withoutKnownSecrets } from "../../src/llm/evidence/KeptText.ts"
import { Limiter } from "../../src/llm/Limiter.ts"
import { ModelRun } from "../../src/llm/ModelRun.ts"
import * as FileObjects from "../../src/store/objects/FileObjects.ts"
import { faults, startFakeModel } from "../harness/FakeModel.ts"
import type { Script } from "../harness/FakeModel.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"
import { folder } from "../store/Folder.ts"

const layers = (root: string) =>
  GatewayLayer.layer.pipe(
    Layer.provide([Budget.layerMemory, Limiter.layerMemory, Catalog.layer.pipe(Layer.provide(layerMemory))]),
    Layer.provideMerge(Evidence.layer.pipe(Layer.provide(FileObjects.layerFiles({ root }))))
  )

const fakeModel = (script: Script) =>
  Effect.acquireRelease(
    Effect.promise(() => startFakeModel(script)),
    (fake) => Effect.promise(() => fake.close())
  )

const call = (url: string, messages: GatewayRequest["messages"]) =>
  Gateway.use((gateway) =>
    gateway.call({
      snapshot: testSnapshot({
        llm: {
          providers: [{ id: "p", kind: "openai_compatible", base_url: `${url}/v1` }],
          model_chain: { default: [{ provider: "p", model: "m" }] },
          retry: { max_attempts: 1 }
        }
      }),
      group: "default",
      role: "heavy",
      system: "You review.",
      messages,
      tools: [{ name: "report_problem", description: "report", parameters: { type: "object" } }],
      deadlineMillis: 10_000
    })
  ).pipe(Effect.provideService(ModelRun, { id: "run-1", repository: "r" }))

const filesUnder = (path: string): ReadonlyArray<string> =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const token = `ghp_${"a1".repeat(20)}`

describe("evidence", () => {
  it.live("stores prompts, responses, usage and failures of a run, each text once, in order", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const fake = yield* fakeModel([
        { calls: [{ name: "report_problem", input: { file: "a.ts" } }], usage: { input: 70, output: 7, cached: 10 } },
        faults.serverError,
        { text: "done" }
      ])
      yield* Effect.gen(function* () {
        const evidence = yield* Evidence
        const first: GatewayRequest["messages"] = [{ role: "user", text: "the diff" }]
        const answer = yield* call(fake.url, first)
        const second: GatewayRequest["messages"] = [
          ...first,
          { role: "assistant", text: "", calls: answer.calls, native: answer.native },
          { role: "tool", results: answer.calls.map(({ id, name }) => ({ id, name, output: "recorded" })) }
        ]
        yield* Effect.flip(call(fake.url, second))
        yield* call(fake.url, second)
        const calls = yield* evidence.calls("run-1")
        assert.deepStrictEqual(
          calls.map(({ model, messages }) => [model, messages.length]),
          [
            ["p/m", 1],
            ["p/m", 3],
            ["p/m", 3]
          ]
        )
        assert.deepInclude(calls[0]?.response?.usage, { inputTokens: 70, outputTokens: 7, cachedTokens: 10 })
        assert.deepStrictEqual(
          calls[0]?.response?.calls.map(({ name, input }) => ({ name, input })),
          [{ name: "report_problem", input: { file: "a.ts" } }]
        )
        assert.strictEqual(calls[1]?.failure?.kind, "unavailable")
        assert.strictEqual(calls[2]?.response?.text, "done")
        assert.strictEqual(yield* evidence.text("run-1", calls[0]?.system ?? ""), "You review.")
        const texts = yield* Effect.forEach(calls[2]?.messages ?? [], (name) => evidence.text("run-1", name))
        assert.deepStrictEqual<unknown>(JSON.parse(texts[0] ?? ""), first[0])
        assert.include(texts[2], "recorded")
        assert.strictEqual(readdirSync(join(root, "runs/run-1/texts")).length, 5)
      }).pipe(Effect.provide(layers(root)))
      for (const file of filesUnder(root)) assert.strictEqual(statSync(file).mode & 0o077, 0)
    }).pipe(Effect.scoped, Effect.provide(Logger.layer([])))
  )

  it.live("secrets of known forms are not in it, from whichever side they came", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const fake = yield* fakeModel({
        text: `I saw ${token}`,
        calls: [{ name: "report_problem", input: { quote: `const key = "AKIAIOSFODNN7EXAMPLE"` } }]
      })
      yield* call(fake.url, [{ role: "user", text: `+ token = "${token}"\n+ password: "hunter2-hunter2"` }]).pipe(
        Effect.provide(layers(root))
      )
      const all = filesUnder(root)
        .map((file) => readFileSync(file, "utf8"))
        .join("\n")
      for (const secret of [token, "AKIAIOSFODNN7EXAMPLE", "hunter2"]) assert.notInclude(all, secret)
      assert.include(all, "[GitHub token removed]")
    }).pipe(Effect.scoped, Effect.provide(Logger.layer([])))
  )

  it.live("a folder that cannot be written does not fail the review", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "file")
      writeFileSync(path, "")
      const fake = yield* fakeModel({ text: "hello" })
      const answer = yield* call(fake.url, [{ role: "user", text: "x" }]).pipe(Effect.provide(layers(path)))
      assert.strictEqual(answer.text, "hello")
    }).pipe(Effect.scoped, Effect.provide(Logger.layer([])))
  )

  it.live("bounded: a text is cut, and a run stops being kept", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const run = { id: "big", repository: "r" }
      yield* Effect.gen(function* () {
        const evidence = yield* Evidence
        for (let at = 0; at < 40; at++) {
          const text = `${at}${"x".repeat(2_500_000)}`
          yield* evidence.record({
            run,
            model: "p/m",
            at,
            millis: 1,
            request: { system: "s", messages: [{ role: "user", text }], tools: [], group: "g", role: "any" },
            outcome: { _tag: "Failed", kind: "timeout", why: { _tag: "CallTimeUsedUp" } }
          })
        }
        const calls = yield* evidence.calls("big")
        assert.isBelow(calls.length, 40)
        assert.match((yield* evidence.text("big", calls[0]?.messages[0] ?? "")) ?? "", /x\\n\(cut\)"}$/)
      }).pipe(Effect.provide(layers(root)))
      const size = filesUnder(root).reduce((sum, file) => sum + statSync(file).size, 0)
      assert.isBelow(size, 70_000_000)
    }).pipe(Effect.scoped, Effect.provide(Logger.layer([])))
  )
})

describe("withoutKnownSecrets", () => {
  it.each([
    [`x ${token} y`, "x [GitHub token removed] y"],
    ["glpat-ABCDEFGHIJ0123456789", "[GitLab token removed]"],
    ["-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "[private key removed]"],
    ["postgres://user:secret-1@db/x", "postgres://user:[password removed]@db/x"],
    ["sk-proj-0123456789abcdefghij", "[API key removed]"],
    ["a eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0 b", "a [signed token removed] b"],
    ["x-eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0", "x-[signed token removed]"],
    ['api_key = "abcd-efgh-1234"', 'api_key = "[secret removed]"'],
    ['{"password\\":\\"abcd-efgh-1234\\"}', '{"password\\":\\"[secret removed]\\"}'],
    ["Authorization: Bearer abcdefgh12345678", "Authorization: Bearer [credential removed]"]
  ])("%s", (given, expected) => assert.strictEqual(withoutKnownSecrets(given), expected))

  it.each([
    "const password = readPassword()",
    "https://example.com/a@b",
    "skeleton-keys-are-not-secrets",
    "eyJ",
    "a.eyJzdWIiOiIx.c2lnbmF0"
  ])("%s stays", (text) => assert.strictEqual(withoutKnownSecrets(text), text))
})
