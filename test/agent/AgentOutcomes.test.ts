/** Invalid output of a model, followed to the findings: real git, engine, agent and gateway over HTTP. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { nativeAgentLayer } from "../../src/agent/AgentLayer.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { reviewChange } from "../../src/engine/ReviewChange.ts"
import { gatewayLayer } from "../../src/llm/GatewayLayer.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import { layerGit } from "../harness/GitLayer.ts"
import { localLimits } from "../../src/vcs/process/ProcessLimits.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import type { FakeModel } from "../harness/FakeModel.ts"
import { testSnapshot, testWorkspace } from "../harness/TestSnapshot.ts"
import { makeRepository, temporaryFolder } from "../vcs/Repository.ts"
import { testOwners } from "../harness/Owners.ts"
import { inEnglish } from "../../src/text/en.ts"
import { testThreads } from "../harness/Threads.ts"

const repository = makeRepository()
repository.write("src/a.ts", "export const a = 1\n")
const base = repository.commit()
const added = Array.from({ length: 60 }, (_, at) => `export const value${at} = compute(${at}, "${at}")`)
repository.write("src/a.ts", `export const a = 1\n${added.join("\n")}\n`)
const head = repository.commit()

let fake: FakeModel
beforeAll(async () => {
  fake = await startFakeModel()
})
afterAll(() => fake.close())

const run = (problems: ReadonlyArray<unknown>): Promise<Analysis> => {
  fake.script(review(problems))
  return Effect.gen(function* () {
    const checkout = yield* Vcs.use((vcs) =>
      vcs.checkout({
        url: repository.path,
        mirror: "outcomes",
        authorization: undefined,
        head,
        base,
        headRef: undefined,
        baseRef: undefined,
        rules: undefined,
        compare: "merge-base"
      })
    )
    return yield* reviewChange({
      snapshot: testSnapshot({
        llm: {
          providers: [{ id: "p", kind: "openai_compatible", base_url: `${fake.url}/v1` }],
          model_chain: { default: [{ provider: "p", model: "m" }] }
        }
      }),
      workspace: testWorkspace(),
      checkout,
      title: "Values",
      description: undefined,
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

const problem = (at: number, more: Record<string, unknown> = {}) => ({
  file: "src/a.ts",
  line: at + 2,
  severity: "high",
  category: "correctness",
  message: `value${at} is computed wrongly`,
  quote: added[at],
  ...more
})

describe("invalid output of a model", () => {
  it("lines off by 20 do not matter: the quote decides", async () => {
    const { findings } = await run([problem(30, { line: 52 }), problem(5, { line: 1 })])
    assert.deepStrictEqual(findings.map(({ anchor }) => anchor?.line).toSorted(), [32, 7])
  })

  it("an unknown file and code that is not there get no line", async () => {
    const { findings } = await run([
      problem(1, { file: "src/unknown.ts" }),
      problem(2, { quote: "nothing like this stands anywhere" })
    ])
    assert.strictEqual(findings.length, 2)
    for (const { anchor } of findings) assert.isUndefined(anchor)
  })

  it("thousands of findings become at most max_problems, and the reader learns of it", async () => {
    const many = Array.from({ length: 2000 }, (_, at) =>
      // Medium ones are published without verification.
      problem(at % 60, {
        severity: "medium",
        message: `number ${at}`,
        category: `kind ${at}`,
        quote: `${added[at % 60]}`
      })
    )
    const { findings, notices } = await run(many)
    assert.isAtMost(findings.length, 50)
    assert.match(notices.map(inEnglish).join(), /1500 further problems/)
  })
})
