import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { Agent } from "../../../src/agent/Agent.ts"
import type { Brief } from "../../../src/agent/Agent.ts"
import { nativeAgentLayer } from "../../../src/agent/AgentLayer.ts"
import { analyseNatively } from "../../../src/agent/native/NativeLlm.ts"
import { gatewayLayer } from "../../../src/llm/GatewayLayer.ts"
import { faults, review, startFakeModel } from "../../harness/FakeModel.ts"
import type { FakeModel, Script } from "../../harness/FakeModel.ts"
import type { Reply } from "../../harness/FakeModelReply.ts"
import { testSnapshot, testWorkspace } from "../../harness/TestSnapshot.ts"
import { fakeCheckout, fakeCode } from "../FakeCheckout.ts"
import { testOwners } from "../../harness/Owners.ts"
import type { Owners } from "../../harness/Owners.ts"
import { inEnglish } from "../../../src/text/en.ts"

const fakeModel = (script: Script) =>
  Effect.acquireRelease(
    Effect.promise(() => startFakeModel(script)),
    (fake) => Effect.promise(() => fake.close())
  )

const brief = (
  fakes: ReadonlyArray<FakeModel>,
  more: Partial<Brief> = {},
  retry: Record<string, unknown> = { max_attempts: 1 }
): Brief => ({
  snapshot: testSnapshot({
    llm: {
      providers: fakes.map(({ url }, at) => ({ id: `p${at}`, kind: "openai_compatible", base_url: `${url}/v1` })),
      model_chain: fakes.length === 0 ? {} : { default: fakes.map((_, at) => ({ provider: `p${at}`, model: "m" })) },
      retry
    }
  }),
  workspace: testWorkspace(),
  system: "You review.",
  prompt: "the diff",
  checkout: fakeCheckout({ "src/a.ts": "one\ntwo\nthree", ".git/config": "secret" }),
  code: fakeCode,
  ...more
})

const layers = Layer.mergeAll(nativeAgentLayer.pipe(Layer.provide(gatewayLayer)), Logger.layer([]), testOwners)
const run = <A, E>(effect: Effect.Effect<A, E, Agent | Owners>) => effect.pipe(Effect.provide(layers))
const analyse = (given: Brief) => Agent.use((agent) => agent.analyse(given))

const problem = (more: Record<string, unknown> = {}) => ({
  file: "src/a.ts",
  line: 2,
  severity: "high",
  category: "correctness",
  message: "two is wrong",
  quote: "two",
  ...more
})

const summary = { name: "publish_summary", input: { markdown: "Reviewed." } }
const report = (input: unknown, name = "report_problem") => ({ name, input })

describe("native agent", () => {
  it.live("reads problems and summary of one response", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel(review([problem(), problem({ quote: "three", message: "three is wrong" })]))
      const found = yield* analyse(brief([fake]))
      assert.deepStrictEqual(
        found.problems.map(({ message }) => message),
        ["two is wrong", "three is wrong"]
      )
      assert.strictEqual(found.summary, "Reviewed.")
      assert.deepStrictEqual(found.models, ["p0/m"])
      assert.deepStrictEqual(found.notices, [])
      assert.deepInclude(found.usage, { requests: 1, inputTokens: 100, outputTokens: 20 })
    }).pipe(Effect.scoped, run)
  )

  it.live("continues until the summary, over several responses", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel([
        { calls: [report(problem())] },
        { calls: [report(problem({ quote: "three" }))] },
        { calls: [summary] }
      ])
      const found = yield* analyse(brief([fake]))
      assert.strictEqual(found.problems.length, 2)
      assert.strictEqual(found.usage.requests, 3)
    }).pipe(Effect.scoped, run)
  )

  it.live("a list of reports: the valid ones count, and the reply names the others", () =>
    Effect.gen(function* () {
      const listed = (...problems: ReadonlyArray<unknown>) => report({ problems }, "report_problems")
      const fake = yield* fakeModel([
        {
          calls: [
            listed(problem(), problem({ quote: "three", severity: "awful" }), problem({ line: null }), "prose"),
            summary
          ]
        },
        { calls: [listed(problem({ quote: "three", message: "three is wrong" }))] }
      ])
      const found = yield* analyse(brief([fake]))
      assert.deepStrictEqual(
        found.problems.map(({ message }) => message),
        ["two is wrong", "three is wrong"]
      )
      assert.strictEqual(found.summary, "Reviewed.")
      assert.deepStrictEqual(found.unusable, [{ reason: "report", count: 1 }])
      const sent = fake.requests[1]?.text ?? ""
      for (const part of [
        "1: recorded",
        "2: error: not accepted. severity",
        "3: duplicate",
        "4: error: not accepted"
      ]) {
        assert.include(sent, part)
      }
    }).pipe(Effect.scoped, run)
  )

  it.live("names with a server prefix, dots and dashes are understood", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({
        calls: [
          report(problem({ quote: "one" }), "mcp__aicr__report_problem"),
          report(problem({ quote: "two" }), "aicr.report.problem"),
          report(problem({ quote: "three" }), "report-problem"),
          { ...summary, name: "aicr_publish_summary" }
        ]
      })
      const found = yield* analyse(brief([fake]))
      assert.strictEqual(found.problems.length, 3)
      assert.strictEqual(found.usage.requests, 1)
    }).pipe(Effect.scoped, run)
  )

  it.live("null for absent fields and input as JSON text are understood", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({
        calls: [report(JSON.stringify(JSON.stringify(problem({ end_line: null, suggestion: null })))), summary]
      })
      const found = yield* analyse(brief([fake]))
      assert.strictEqual(found.problems.length, 1)
      assert.strictEqual(found.problems[0]?.end_line, undefined)
    }).pipe(Effect.scoped, run)
  )

  it.live("the same report twice is one problem", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel(review([problem(), problem({ message: "two  is wrong " }), problem()]))
      assert.strictEqual((yield* analyse(brief([fake]))).problems.length, 1)
    }).pipe(Effect.scoped, run)
  )

  it.live("an invalid report gets one chance to be repaired; the valid ones and the summary are kept", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel([
        review([problem(), problem({ severity: "awful", quote: "three" })]),
        { calls: [report(problem({ severity: "low", quote: "three" }))] }
      ])
      const found = yield* analyse(brief([fake]))
      assert.deepStrictEqual(
        found.problems.map(({ severity }) => severity),
        ["high", "low"]
      )
      assert.strictEqual(found.summary, "Reviewed.")
      assert.deepStrictEqual(found.notices, [])
      assert.include(fake.requests[1]?.text, "error: not accepted. severity")
    }).pipe(Effect.scoped, run)
  )

  it.live("a report that stays invalid is counted as lost", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel(review([problem(), { nonsense: true }]))
      const found = yield* analyse(brief([fake]))
      assert.strictEqual(found.problems.length, 1)
      assert.deepStrictEqual(found.unusable, [{ reason: "report", count: 1 }])
      assert.strictEqual(fake.requests.length, 2)
    }).pipe(Effect.scoped, run)
  )

  const unusable: ReadonlyArray<readonly [string, Reply]> = [
    ["prose", { text: "The change has a bug in line 2." }],
    ["nothing at all", { text: "" }],
    ["unknown tools", { calls: [{ name: "post_comment", input: { text: "bug" } }] }],
    ["inputs that are no JSON", { calls: [report('{"file": "src/a.ts", "mess')] }]
  ]

  it.live.each(unusable)("%s: repaired once, then the next model from the start", ([, reply]) =>
    Effect.gen(function* () {
      const first = yield* fakeModel(reply)
      const second = yield* fakeModel(review([problem()]))
      const found = yield* analyse(brief([first, second]))
      assert.strictEqual(first.requests.length, 2)
      assert.strictEqual(second.requests.length, 1)
      assert.strictEqual(found.problems.length, 1)
      assert.match(found.notices.map(inEnglish).join(), /fell back from p0\/m/)
      assert.deepStrictEqual(found.models, ["p0/m", "p1/m"])
    }).pipe(Effect.scoped, run)
  )

  it.live.each(unusable)("%s from every model: the run fails and prose is no review", ([, reply]) =>
    Effect.gen(function* () {
      const first = yield* fakeModel(reply)
      const second = yield* fakeModel(reply)
      const error = yield* Effect.flip(analyse(brief([first, second])))
      assert.strictEqual(error.reason, "failed")
      assert.include(error.message, "p0/m: ")
      assert.include(error.message, "p1/m: ")
      assert.notInclude(error.message, "check the name of the model")
    }).pipe(Effect.scoped, run)
  )

  it.live.each<readonly [string, Reply, string]>([
    ["prose", { text: "The change has a bug in line 2." }, "choose one that calls tools"],
    ["nothing at all", { text: "" }, "check the limit of its output"],
    ["inputs that cannot be read", { calls: [report("{")] }, "choose a stronger one"],
    ["a filter of the provider", faults.refusal, "or its filter refuses the text"]
  ])("%s each time: the failure names the next step", ([, reply, advice]) =>
    Effect.gen(function* () {
      const fake = yield* fakeModel(reply)
      const { message } = yield* Effect.flip(analyse(brief([fake])))
      assert.include(message, advice)
      assert.notInclude(message, "check the name of the model")
    }).pipe(Effect.scoped, run)
  )

  it.live("prose after valid reports: the reports are kept, without a summary", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel([{ calls: [report(problem())] }, { text: "That is all." }])
      const found = yield* analyse(brief([fake]))
      assert.strictEqual(found.problems.length, 1)
      assert.strictEqual(found.summary, undefined)
      assert.match(found.notices.map(inEnglish).join(), /without a summary/)
      assert.strictEqual(fake.requests.length, 3)
    }).pipe(Effect.scoped, run)
  )

  it.live("skip ends a pass that shows nothing to review; next to problems it is ignored", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ calls: [{ name: "skip", input: { reason: "only deletions" } }] })
      assert.strictEqual((yield* analyse(brief([fake], { maySkip: true }))).skipped, "only deletions")
      fake.script({ calls: [report(problem()), { name: "skip", input: { reason: "nothing" } }] })
      const found = yield* analyse(brief([fake], { maySkip: true }))
      assert.strictEqual(found.skipped, undefined)
      assert.strictEqual(found.problems.length, 1)
    }).pipe(Effect.scoped, run)
  )

  it.live("skip is refused where there are lines to review, and is no end then", () =>
    Effect.gen(function* () {
      const skip = { name: "skip", input: { reason: "only a version bump" } }
      const fake = yield* fakeModel([{ calls: [skip] }, { calls: [summary] }])
      const found = yield* analyse(brief([fake]))
      assert.deepStrictEqual([found.skipped, found.summary, found.unusable], [undefined, "Reviewed.", undefined])
      assert.include(fake.requests[1]?.text, "the change has lines to review")
      fake.script({ calls: [skip] })
      assert.strictEqual((yield* Effect.flip(analyse(brief([fake])))).reason, "failed")
      const requests = fake.requests.length
      fake.script({ calls: [report(problem()), skip] })
      assert.strictEqual((yield* analyse(brief([fake]))).failure?.reason, "failed")
      assert.strictEqual(fake.requests.length - requests, 2)
    }).pipe(Effect.scoped, run)
  )

  it.live("10 000 reports in one response are bounded and counted", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 10_000 }, (_, at) => problem({ quote: `line ${at}` }))
      const fake = yield* fakeModel(review(many))
      const found = yield* analyse(brief([fake]))
      assert.strictEqual(found.problems.length, 500)
      assert.match(found.notices.map(inEnglish).join(), /^9500 further problems/)
    }).pipe(Effect.scoped, run)
  )

  it.live("a model that never ends is stopped by the step limit", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ calls: [report(problem())] })
      const limited = analyseNatively({ steps: 3, tokens: 1_000_000, millis: 60_000 })
      const found = yield* limited(brief([fake])).pipe(Effect.provide(gatewayLayer))
      assert.strictEqual(fake.requests.length, 3)
      assert.match(found.notices.map(inEnglish).join(), /within 3 steps/)
    }).pipe(Effect.scoped, run)
  )

  it.live("tokens are limited per pass", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({
        calls: [{ name: "fetch_more_context", input: { path: "src/a.ts", reason: "look" } }],
        usage: { input: 600, output: 0, cached: 0 }
      })
      const limited = analyseNatively({ steps: 50, tokens: 1_000, millis: 60_000 })
      const error = yield* Effect.flip(limited(brief([fake])).pipe(Effect.provide(gatewayLayer)))
      assert.match(error.message, /limit of 1000 tokens/)
      assert.strictEqual(fake.requests.length, 2)
    }).pipe(Effect.scoped, run)
  )

  it.live("time is limited per pass, and a long refusal does not fail the pass", () =>
    Effect.gen(function* () {
      const stalled = { text: "so", pace: (event: number) => new Promise<void>((go) => void (event < 3 && go())) }
      const fake = yield* fakeModel(stalled)
      const limited = analyseNatively({ steps: 50, tokens: 1_000, millis: 200 })
      const error = yield* Effect.flip(limited(brief([fake])).pipe(Effect.provide(gatewayLayer)))
      assert.strictEqual(error.reason, "retryable")
      fake.script(faults.unauthorized())
      assert.strictEqual((yield* Effect.flip(analyse(brief([fake])))).reason, "failed")
      fake.script(faults.rateLimited("9"))
      const busy = yield* Effect.flip(analyse(brief([fake], {}, { give_up_after_seconds: 5 })))
      assert.strictEqual(busy.reason, "throttled")
      assert.strictEqual(busy.retryAfterMillis, 9_000)
    }).pipe(Effect.scoped, run)
  )

  it.live("after a fallback the conversation stays with the model that responded", () =>
    Effect.gen(function* () {
      const first = yield* fakeModel(faults.serverError)
      const second = yield* fakeModel([{ calls: [report(problem())] }, { calls: [summary] }])
      const found = yield* analyse(brief([first, second]))
      assert.strictEqual(first.requests.length, 1)
      assert.strictEqual(second.requests.length, 2)
      assert.deepStrictEqual(found.notices.map(inEnglish), ["fell back from p0/m: unavailable"])
    }).pipe(Effect.scoped, run)
  )
})

describe("extra context", () => {
  const ask = (path: string, more: Record<string, unknown> = {}, name = "fetch_more_context") => ({
    name,
    input: { path, reason: "to see", ...more }
  })
  const exchange = (
    calls: ReadonlyArray<{ readonly name: string; readonly input: unknown }>,
    given: Partial<Brief> = {}
  ) =>
    Effect.gen(function* () {
      const fake = yield* fakeModel([{ calls }, { calls: [summary] }])
      yield* analyse(brief([fake], given))
      return fake.requests[1]?.text ?? ""
    })

  it.live("lines and blame of the reviewed revision reach the model", () =>
    Effect.gen(function* () {
      const sent = yield* exchange([ask("src/a.ts", { range: "2-3" }), ask("src/a.ts", { range: "1-1" }, "try_blame")])
      assert.include(sent, "lines 2 to 3 of 3:\\n2: two\\n3: three")
      assert.include(sent, "1: abcdef012345 2023-11-14 Ada")
    }).pipe(Effect.scoped, run)
  )

  it.live.each(["../../etc/passwd", "/etc/passwd", "src/../.git/config", ".git/config", "a//b", "a\\b", "src/a.ts/."])(
    "the path %s is refused",
    (path) =>
      Effect.gen(function* () {
        const sent = yield* exchange([ask(path), ask(path, {}, "try_blame")])
        assert.strictEqual(sent.split("refused: the path must be relative").length, 3)
        assert.notInclude(sent, "secret")
      }).pipe(Effect.scoped, run)
  )

  it.live("fetch_extra limits files, bytes and paths; passes over one checkout share them", () =>
    Effect.gen(function* () {
      const checkout = fakeCheckout({ "src/a.ts": "x".repeat(50), "src/b.ts": "y", "docs/c.md": "z" })
      const workspace = testWorkspace({
        review: { fetch_extra: { max_files: 1, max_bytes: 1000, allow_paths: ["src/**"] } }
      })
      const first = yield* exchange([ask("docs/c.md"), ask("src/a.ts")], { checkout, workspace })
      assert.include(first, "does not allow this path")
      assert.include(first, "x".repeat(50))
      const second = yield* exchange([ask("src/b.ts"), ask("src/a.ts")], { checkout, workspace })
      assert.include(second, "limit of 1 extra files")
      assert.include(second, "x".repeat(50))
      const tight = testWorkspace({ review: { fetch_extra: { max_bytes: 60 } } })
      const third = yield* exchange([ask("src/a.ts")], {
        checkout: fakeCheckout({ "src/a.ts": "x".repeat(50) }),
        workspace: tight
      })
      assert.notInclude(third, "x".repeat(50))
      assert.include(third, "cut: the limit of extra context is used up")
    }).pipe(Effect.scoped, run)
  )
})

describe("agent modes", () => {
  it.effect("a document without model groups is an error that names what to add", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(analyse(brief([], { workspace: testWorkspace({ modelChain: undefined }) })))
      assert.include(error.message, "add llm.providers and llm.model_chain")
    }).pipe(run)
  )
})
