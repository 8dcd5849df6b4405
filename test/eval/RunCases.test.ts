/** Runs the bundled labelled changes through the whole engine, with scripted models, so that every figure is predictable. */
import { afterEach, describe, expect, it } from "vitest"
import { Effect, Layer, Logger } from "effect"
import { nativeAgentLayer } from "../../src/agent/AgentLayer.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import { readCase } from "../../eval/EvalCase.ts"
import type { EvalCase, ExpectedProblem } from "../../eval/EvalCase.ts"
import { runCases } from "../../eval/RunCases.ts"
import { scoreAll, scoreCase } from "../../eval/Score.ts"
import { noUsage } from "../../src/domain/Analysis.ts"
import { gatewayLayer } from "../../src/llm/GatewayLayer.ts"
import { layerLocal } from "../../src/vcs/LocalLayer.ts"
import * as GitScratchRepository from "../../src/vcs/git/GitScratchRepository.ts"
import { bundledCases, changedPaths } from "../harness/BundledCases.ts"
import { faults, review, startFakeModel, verdictsOn } from "../harness/FakeModel.ts"
import { takeSample } from "../harness/Samples.ts"
import { testThreads } from "../harness/Threads.ts"
import type { FakeModel, Recorded } from "../harness/FakeModel.ts"
import type { Reply } from "../harness/FakeModelReply.ts"

/** The labels of all changes are checked in EvalCase.test.ts. */
const cases = takeSample("AICR_TEST_CASES", bundledCases, 5)
const expectedCount = cases.reduce((sum, { expected }) => sum + expected.length, 0)
/** Even fewer, where the behaviour of the model matters and not the change. */
const some = bundledCases.filter((_, index) => index % 10 === 0)
const expectedOfSome = some.reduce((sum, { expected }) => sum + expected.length, 0)
const clean = cases.filter(({ expected }) => expected.length === 0)

let fake: FakeModel | undefined
afterEach(async () => {
  await fake?.close()
  fake = undefined
})

const caseIn = (request: Recorded): EvalCase => {
  const found = bundledCases.find((one) => request.text.includes(`=== ${changedPaths(one)[0]} (`))
  if (found === undefined) throw new Error("no change is in this request")
  return found
}
const linesOf = (one: EvalCase, { file, side, first, last }: ExpectedProblem): ReadonlyArray<string> =>
  (one[side === "new" ? "after" : "before"].get(file ?? "") ?? "").split("\n").slice((first ?? 1) - 1, last)

const right = (one: EvalCase): ReadonlyArray<unknown> =>
  one.expected.map((problem) => ({
    file: problem.file,
    severity: problem.severity ?? "medium",
    category: problem.categories[0],
    message: problem.why,
    quote: linesOf(one, problem).join("\n")
  }))
/** A finding about a new line without an expected problem. */
const wrong = (one: EvalCase): unknown => {
  const path = changedPaths(one)[0] ?? ""
  const others = [
    ...(one.before.get(path) ?? "").split("\n"),
    ...one.expected.flatMap((problem) => linesOf(one, problem))
  ]
  const quote = (one.after.get(path) ?? "").split("\n").find((line) => line.trim().length > 1 && !others.includes(line))
  return { file: path, severity: "low", category: "style", message: "I would not write it so", quote }
}

/** Confirms every finding in the verification, and reviews by the script. */
const evaluated = async (answer: (one: EvalCase) => Reply, given: ReadonlyArray<EvalCase> = cases) => {
  const model = (fake = await startFakeModel((request): Reply => {
    const reply: Reply = verdictsOn(request.text) ?? answer(caseIn(request))
    return "status" in reply ? reply : { ...reply, usage: { input: 1000, output: 100, cached: 0 } }
  }))
  const progress: Array<number> = []
  const score = await Effect.gen(function* () {
    const snapshot = yield* toSnapshot(
      {
        llm: {
          providers: [{ id: "p", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "k" }],
          model_chain: { default: [{ provider: "p", model: "m" }] },
          model_catalog: { overrides: { "p/m": { cost: { input: 10, output: 100 } } } }
        },
        triggers: [{ name: "t", kind: "manual" }],
        workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "a/b" } } } },
        agent: { default: "native-llm" },
        // Problems for maintainers only are scored like the rest.
        outputs: { channels: [{ name: "ops", kind: "feishu_bot", webhook_url: "https://chat.test/hook" }] },
        review: { output_language: "en", log_thinking: false, private: { channel: "ops", severity: "info" } }
      },
      {}
    )
    const workspace = snapshot.workspaces.get("w")
    if (workspace === undefined) return yield* Effect.die("no workspace")
    return yield* runCases({
      snapshot,
      workspace,
      cases: given,
      concurrency: 3,
      progress: (_, done) => Effect.sync(() => progress.push(done))
    })
  }).pipe(
    Effect.provide([
      layerLocal,
      testThreads,
      GitScratchRepository.layer,
      nativeAgentLayer.pipe(Layer.provideMerge(gatewayLayer)),
      Logger.layer([])
    ]),
    Effect.runPromise
  )
  expect(progress).toEqual(given.map((_, index) => index + 1))
  return { score, requests: model.requests.length }
}

describe("an evaluation", () => {
  it("of a perfect model is perfect, and costs the sum of its responses", async () => {
    const { score, requests } = await evaluated((one) => review(right(one)))
    expect(score).toMatchObject({
      cases: cases.length,
      expected: expectedCount,
      met: expectedCount,
      missed: 0,
      wrong: 0,
      precision: 1,
      recall: 1,
      lineAccuracy: 1,
      failed: 0,
      clean: clean.length,
      silent: clean.length,
      models: ["p/m"]
    })
    // 1000 tokens at 10 dollars a million and 100 at 100.
    expect(score.usage.costUsd).toBeCloseTo(requests * 0.02)
    expect(score.usage.requests).toBe(requests)
    expect(requests).toBeGreaterThan(cases.length)
    const categories = [...score.byCategory.values()]
    expect(categories.reduce((sum, { expected }) => sum + expected, 0)).toBe(expectedCount)
    expect(categories.every(({ recall }) => recall === 1)).toBe(true)
    expect([...score.byLanguage.values()].reduce((sum, one) => sum + one.cases, 0)).toBe(cases.length)
  }, 120_000)

  it("of a noisy model loses precision and no recall, and nothing is left alone", async () => {
    const { score } = await evaluated((one) => review([...right(one), wrong(one)]), some)
    expect(score).toMatchObject({ met: expectedOfSome, wrong: some.length, recall: 1, lineAccuracy: 1, silent: 0 })
    expect(score.precision).toBeCloseTo(expectedOfSome / (expectedOfSome + some.length))
    expect(score.byCategory.get("maintainability")).toMatchObject({
      expected: 0,
      wrong: some.length,
      precision: 0,
      recall: undefined
    })
    expect(score.byCategory.get("security")).toMatchObject({ wrong: 0, precision: 1 })
  }, 120_000)

  it("of a silent model finds nothing and leaves all clean changes alone", async () => {
    const { score } = await evaluated(() => review([]), some)
    expect(score).toMatchObject({
      met: 0,
      missed: expectedOfSome,
      wrong: 0,
      precision: undefined,
      recall: 0,
      lineAccuracy: undefined,
      silent: some.filter(({ expected }) => expected.length === 0).length
    })
  }, 120_000)

  it("counts findings next to their line, lost ones, and reviews that fail", async () => {
    const four = bundledCases.filter(({ name }) =>
      ["ts-cache-key", "go-nil-map", "py-timezone", "c-clean-const"].includes(name)
    )
    const { score } = await evaluated((one) => {
      switch (one.name) {
        case "ts-cache-key": {
          const [label] = one.expected
          return review([
            {
              file: label?.file,
              severity: "low",
              category: "security",
              message: "beside it",
              quote: "  if (cached !== undefined) return cached"
            }
          ])
        }
        case "go-nil-map":
          return faults.badRequest
        default:
          return review(right(one))
      }
    }, four)
    expect(score).toMatchObject({ cases: 4, expected: 3, met: 2, missed: 1, wrong: 0, failed: 1, clean: 1, silent: 1 })
    expect(score.lineAccuracy).toBe(0.5)
    expect(score.scored.find(({ failed }) => failed !== undefined)?.name).toBe("go-nil-map")
  }, 60_000)
})

const label = (
  first: number,
  last: number,
  category: string,
  more: Partial<ExpectedProblem> = {}
): ExpectedProblem => ({
  file: "a.ts",
  side: "new",
  first,
  last,
  categories: [category],
  severity: undefined,
  why: "it is so",
  ...more
})
const found = (line: number | undefined, category: string, more: Partial<Finding["anchor"]> = {}): Finding => ({
  fingerprint: `${line}-${category}`,
  problem: { file: "a.ts", severity: "high", category, message: "m" },
  ...(line === undefined ? {} : { anchor: { path: "a.ts", side: "new", line, ...more } })
})
const base: EvalCase = {
  name: "c",
  title: "t",
  description: undefined,
  language: "TypeScript",
  kind: "k",
  before: new Map(),
  after: new Map(),
  needs: [],
  looksWrong: undefined,
  expected: [],
  tolerated: []
}
const scored = (
  expected: ReadonlyArray<ExpectedProblem>,
  findings: ReadonlyArray<Finding>,
  tolerated: ReadonlyArray<ExpectedProblem> = []
) => {
  const one = scoreCase({ ...base, expected, tolerated }, { findings, usage: noUsage, models: [], seconds: 1 })
  return [one.met.length, one.met.filter(({ onLine }) => onLine).length, one.missed.length, one.wrong.length]
}

describe("what a finding meets: found, on line, missed, wrong", () => {
  it.each([
    ["its line", [label(5, 6, "security")], [found(6, "security")], [1, 1, 0, 0]],
    ["a range over it", [label(5, 5, "security")], [found(9, "security", { start: 3 })], [1, 1, 0, 0]],
    ["another name of the category", [label(5, 5, "security")], [found(5, "sql-injection")], [1, 1, 0, 0]],
    ["ten lines off", [label(5, 5, "security")], [found(15, "security")], [1, 0, 0, 0]],
    ["eleven lines off", [label(5, 5, "security")], [found(16, "security")], [0, 0, 1, 1]],
    ["another category", [label(5, 5, "security")], [found(5, "performance")], [0, 0, 1, 1]],
    ["another file", [label(5, 5, "security")], [found(5, "security", { path: "b.ts" })], [0, 0, 1, 1]],
    ["the other side", [label(5, 5, "security")], [found(5, "security", { side: "old" })], [1, 0, 0, 0]],
    ["no line", [label(5, 5, "security")], [found(undefined, "security")], [1, 0, 0, 0]],
    ["one for two", [label(5, 5, "security"), label(7, 7, "security")], [found(6, "security")], [1, 0, 1, 0]],
    ["two for one", [label(5, 5, "security")], [found(5, "security"), found(6, "security")], [1, 1, 0, 1]],
    [
      "each its nearest",
      [label(5, 5, "security"), label(8, 8, "security")],
      [found(8, "security"), found(6, "security")],
      [2, 1, 0, 0]
    ]
  ])("%s", (_, expected, findings, figures) => {
    expect(scored(expected, findings)).toEqual(figures)
  })

  it("what is tolerated is neither found nor wrong", () => {
    const tolerated = [label(5, 5, "performance")]
    expect(scored([], [found(5, "performance"), found(5, "style")], tolerated)).toEqual([0, 0, 0, 1])
    expect(scored([label(5, 5, "performance")], [], tolerated)).toEqual([0, 0, 1, 0])
  })

  it("a label without lines by its words, and it has no part in the line accuracy", () => {
    const why = "The retry of the payment is not idempotent: a customer is charged twice"
    const said = (message: string): Finding => {
      const finding = found(5, "concurrency")
      return { ...finding, problem: { ...finding.problem, message } }
    }
    const vague = { ...label(0, 0, "x"), first: undefined, last: undefined, categories: [], why }
    const anywhere = { ...vague, file: undefined }
    const same = said(
      "Customers may be charged again: the payment is retried although it is not idempotent; a customer pays twice"
    )
    expect(scored([vague], [same])).toEqual([1, 0, 0, 0])
    expect(scored([anywhere], [same])).toEqual([1, 0, 0, 0])
    expect(scored([anywhere], [said("The name of the variable is hard to read")])).toEqual([0, 0, 1, 1])
    expect(scored([{ ...vague, file: "b.ts" }], [same])).toEqual([0, 0, 1, 1])
    const one = scoreCase(
      { ...base, expected: [anywhere] },
      { findings: [same], usage: noUsage, models: [], seconds: 1 }
    )
    expect(scoreAll([one])).toMatchObject({ met: 1, recall: 1, lineAccuracy: undefined })
  })

  it("nothing evaluated has no shares", () => {
    expect(scoreAll([])).toMatchObject({ cases: 0, precision: undefined, recall: undefined, lineAccuracy: undefined })
  })
})

describe("a labelled change", () => {
  const given = (expected: ReadonlyArray<object>, more: object = {}) =>
    readCase("one", {
      title: "t",
      language: "Go",
      kind: "k",
      files: [{ path: "a.go", before: "a\nb\n", after: "a\n  x()\nb\n  x()\n" }],
      expected,
      ...more
    })
  it.each([
    [
      "code that is not there",
      [{ file: "a.go", code: "y()", category: "c", why: "w" }],
      /one: expected.0: a.go has no lines "y\(\)"/
    ],
    ["code that is there twice", [{ file: "a.go", code: "x()", category: "c", why: "w" }], /2 times; take more lines/],
    [
      "a file that is not there",
      [{ file: "b.go", code: "x()", category: "c", why: "w" }],
      /file b.go not found on this side/
    ],
    ["no category", [{ file: "a.go", code: "a", why: "w" }], /one: expected.0.category/],
    ["an unknown key", [{ file: "a.go", code: "a", category: "c", why: "w", lien: 3 }], /lien/]
  ])("with %s is refused with the place", (_, expected, message) => {
    const read = given(expected)
    expect("name" in read ? "" : read.join("\n")).toMatch(message)
  })
  it("that needs code of a changed file, or gives a file twice, is refused", () => {
    const needs = given([], { needs: [{ file: "a.go", code: "a" }] })
    expect("name" in needs ? "" : needs.join()).toContain("one: needs.0: a.go is changed")
    const files = [{ path: "a.go", before: "a", after: "b", same: "c" }]
    const twice = given([], { files })
    expect("name" in twice ? "" : twice.join()).toContain("one: a.go: write either same, or before and after")
  })
  it("finds the code that it needs in files on both sides", () => {
    const files = [
      { path: "a.go", after: "a\n" },
      { path: "b.go", same: "x\ny\n" }
    ]
    const read = given([], { files, needs: [{ file: "b.go", code: "y" }] })
    expect("name" in read ? read.needs : read).toEqual([{ file: "b.go", side: "new", first: 2, last: 2 }])
  })
  it("that changes nothing is refused, and lines are found by their code", () => {
    const same = given([], { files: [{ path: "a.go", before: "a", after: "a" }] })
    expect("name" in same ? "" : same.join()).toContain("nothing is changed")
    const read = given([{ file: "a.go", code: "b\nx()", category: "c", why: "w" }])
    expect("name" in read ? read.expected : read).toMatchObject([{ first: 3, last: 4, side: "new" }])
  })
})
