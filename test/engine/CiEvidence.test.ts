/** SARIF of CI becomes bounded results without secrets, which every attempt at the run and every replay reads again. */
import { Effect } from "effect"
import { expect, it } from "vitest"
import { loadCiEvidence, parseCiFiles, storeCiEvidence } from "../../src/engine/CiEvidence.ts"
import { layerFiles } from "../../src/store/objects/FileObjects.ts"
import { testThreads } from "../harness/Threads.ts"
import { temporaryFolder } from "../vcs/Repository.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import type { Reason } from "../../src/domain/Reason.ts"

const secret = `ghp_${"A1b2C3d4".repeat(5)}`
const sarif = (count: number, message = "wrong") =>
  JSON.stringify({
    runs: [
      {
        tool: { driver: { name: "Tool" } },
        results: Array.from({ length: count }, (_, at) => ({
          ruleId: "r",
          message: { text: message },
          locations: [{ physicalLocation: { artifactLocation: { uri: "src/a.ts" }, region: { startLine: at + 1 } } }]
        }))
      }
    ]
  })
const parse = (files: ReadonlyArray<string>, notices: ReadonlyArray<Reason> = []) =>
  Effect.runPromise(Effect.provide(parseCiFiles(files, notices), testThreads))

it("has the results of all files without secrets, and names files that are not SARIF once", async () => {
  const { notices, results } = await parse(
    [sarif(1, `token ${secret}`), "no SARIF", sarif(2), "[]"],
    [verbatimReason("before")]
  )
  expect(results.map(({ message, start }) => [message, start])).toEqual([
    ["token [secret removed]", 1],
    ["wrong", 1],
    ["wrong", 2]
  ])
  expect(notices).toEqual([verbatimReason("before"), { _tag: "CiFileInvalid" }])
})

it("has at most 5,000 results", async () => {
  const { notices, results } = await parse([sarif(4000), sarif(4000), sarif(1)])
  expect(results).toHaveLength(5000)
  expect(notices).toEqual([{ _tag: "CiResultsOverLimit", limit: 5000 }])
})

it("is stored with the run", async () => {
  const objects = layerFiles({ root: temporaryFolder() })
  const evidence = await parse([sarif(1)], [verbatimReason("missing")])
  const loaded = await Effect.runPromise(
    Effect.provide(
      Effect.gen(function* () {
        const before = yield* loadCiEvidence("run-1")
        yield* storeCiEvidence("run-1", evidence)
        return [before, yield* loadCiEvidence("run-1"), yield* loadCiEvidence("run-2")]
      }),
      objects
    )
  )
  expect(loaded).toEqual([undefined, evidence, undefined])
})
