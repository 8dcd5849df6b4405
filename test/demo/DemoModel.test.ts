import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Schema } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { nativeAgentLayer } from "../../src/agent/AgentLayer.ts"
import { demoChangeFolder, readDemoChange } from "../../demo/DemoChange.ts"
import { demoModelName, startDemoModel } from "../../demo/DemoModel.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { reviewChange } from "../../src/engine/ReviewChange.ts"
import { gatewayLayer } from "../../src/llm/GatewayLayer.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import { layerGit } from "../harness/GitLayer.ts"
import { localLimits } from "../../src/vcs/process/ProcessLimits.ts"
import { testSnapshot, testWorkspace } from "../harness/TestSnapshot.ts"
import { makeRepository, temporaryFolder } from "../vcs/Repository.ts"
import { testOwners } from "../harness/Owners.ts"
import { testThreads } from "../harness/Threads.ts"

const Faults = Schema.Struct({
  faults: Schema.Array(
    Schema.Struct({
      path: Schema.String,
      line: Schema.Int,
      category: Schema.String,
      what: Schema.String
    })
  )
})
const { faults } = Schema.decodeUnknownSync(Schema.fromJsonString(Faults))(
  readFileSync(join(demoChangeFolder, "faults.json"), "utf8")
)

type Files = Readonly<Record<string, string | null>>

/** The whole way: real git, the engine's prompt, the gateway over HTTP, the demo model, anchoring. */
const review = (base: Files, head: Files): Promise<Analysis> => {
  const repository = makeRepository()
  const commit = (files: Files) => {
    for (const [path, text] of Object.entries(files)) {
      if (text === null) repository.remove(path)
      else repository.write(path, text)
    }
    return repository.commit()
  }
  const from = commit(base)
  const to = commit(head)
  return Effect.gen(function* () {
    const url = yield* startDemoModel
    const checkout = yield* Vcs.use((vcs) =>
      vcs.checkout({
        url: repository.path,
        mirror: "demo",
        authorization: undefined,
        head: to,
        base: from,
        headRef: undefined,
        baseRef: undefined,
        rules: undefined,
        compare: "merge-base"
      })
    )
    return yield* reviewChange({
      snapshot: testSnapshot({
        llm: {
          providers: [{ id: "demo", kind: "openai_compatible", base_url: url }],
          model_chain: { default: [{ provider: "demo", model: demoModelName }] }
        }
      }),
      workspace: testWorkspace({ review: { max_problems: 200, include: ["**/*"] } }),
      checkout,
      title: "A change",
      description: "What it does",
      filters: { watchPath: [], include: [], exclude: [] }
    })
  }).pipe(
    Effect.scoped,
    Effect.provide([
      nativeAgentLayer.pipe(Layer.provideMerge(gatewayLayer)),
      layerGit({ root: temporaryFolder(), limits: () => localLimits, allowLocal: true }),
      Logger.layer([]),
      testOwners,
      testThreads
    ]),
    Effect.runPromise
  )
}

const placesOf = (analysis: Analysis): ReadonlyArray<string> =>
  analysis.findings
    .map(({ anchor, problem }) =>
      anchor === undefined
        ? `${problem.file} without a line`
        : `${anchor.path}:${anchor.start ?? anchor.line}-${anchor.line} ${problem.category}`
    )
    .toSorted()

describe("the bundled change", () => {
  let analysis: Analysis
  beforeAll(async () => {
    const change = await readDemoChange()
    analysis = await review(change.base, change.head)
  })

  it("every fault is found on its own line, and nothing else", () => {
    const expected = faults.map(({ path, line, category }) => `${path}:${line}-${line} ${category}`)
    assert.deepStrictEqual(placesOf(analysis), expected.toSorted())
  })

  it("has faults in three languages and clean files next to them", () => {
    const extensions = new Set(faults.map(({ path }) => path.split(".").at(-1)))
    assert.deepStrictEqual([...extensions].toSorted(), ["go", "py", "ts"])
    const clean = analysis.coverage.reviewed.filter((path) => !faults.some((fault) => fault.path === path))
    assert.isAtLeast(clean.length, 2)
  })

  it("states in every output that it is not a language model", () => {
    assert.deepStrictEqual(analysis.models, [`demo/${demoModelName}`])
    assert.include(analysis.summary, "static rules, not a language model")
    for (const { problem } of analysis.findings) assert.include(problem.message, "not by a language model")
  })

  it("serious findings get their second look", () => {
    assert.deepStrictEqual(analysis.notices, [])
  })

  it("the same faults are found under other names and in other places", async () => {
    const change = await readDemoChange()
    const filler = (path: string) =>
      path.endsWith(".py") ? "# moved\n".repeat(17) : path.endsWith(".md") ? "" : "// moved\n".repeat(17)
    const moved = Object.fromEntries(
      Object.entries(change.head).flatMap(([path, text]) =>
        text === null ? [] : [[`elsewhere/x${path.replaceAll("/", "_")}`, filler(path) + text]]
      )
    )
    const found = await review({ "README.md": "x\n" }, moved)
    assert.deepStrictEqual(
      placesOf(found),
      faults
        .map(
          ({ path, line, category }) => `elsewhere/x${path.replaceAll("/", "_")}:${line + 17}-${line + 17} ${category}`
        )
        .toSorted()
    )
  })

  it("the reverted change has no faults", async () => {
    const change = await readDemoChange()
    const back: Files = Object.fromEntries(Object.keys(change.head).map((path) => [path, change.base[path] ?? null]))
    const whole: Files = { ...change.base, ...change.head }
    const found = await review(whole, back)
    assert.deepStrictEqual(placesOf(found), [])
    assert.notMatch(found.summary, /matche?s?/)
  })
})

describe("clean code", () => {
  it("this repository's own sources, reviewed as new files, give next to no problems", async () => {
    const repository = makeRepository()
    const root = join(import.meta.dirname, "../..")
    const files = repository
      .git("-C", root, "ls-files", "src", "actors", "demo", "eval")
      .split("\n")
      // The rules hold the patterns that they look for, and texts about credentials look like their values.
      .filter((path) => path.endsWith(".ts") && !/^(?:demo\/rules|demo\/change|src\/text)\//.test(path))
    const sources = Object.fromEntries(files.map((path) => [path, readFileSync(join(root, path), "utf8")]))
    assert.isAbove(files.length, 50)
    const lines = Object.values(sources).reduce((sum, text) => sum + text.split("\n").length, 0)
    const found = await review({ "README.md": "x\n" }, sources)
    assert.isAtMost(found.findings.length / lines, 3 / 10_000, placesOf(found).join("\n"))
  }, 300_000)
})
