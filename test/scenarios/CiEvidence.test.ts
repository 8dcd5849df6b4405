/**
 * SARIF that CI stored as an artifact reaches the comment. A review that waits for CI holds no slot, outlives kills, reads the artifact once
 * and pays for its model once.
 */
import { afterAll, beforeAll, expect, it } from "vitest"
import { giteaDialect } from "../../demo/DemoForgeGitea.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { getCi, startStorage, withCi } from "../harness/FakeCi.ts"
import type { FakeRun, FakeStorage } from "../harness/FakeCi.ts"
import { honest, Installation, markedLine, toFilePath } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"
import { makeZip } from "../harness/Zip.ts"

let storage: FakeStorage
beforeAll(async () => void (storage = await startStorage()))
afterAll(() => storage.close())

const sarifOn = (name: string) =>
  makeZip([
    {
      name: "eslint.sarif",
      content: JSON.stringify({
        runs: [
          {
            tool: { driver: { name: "ESLint" } },
            results: [
              {
                ruleId: "no-marker",
                message: { text: "marker" },
                locations: [
                  {
                    physicalLocation: {
                      artifactLocation: { uri: toFilePath(name) },
                      region: { startLine: markedLine }
                    }
                  }
                ]
              }
            ]
          }
        ]
      })
    }
  ])

const install = (waitMinutes: number, globs = ["sarif-*"]) =>
  Installation.make({
    queue: "sqlite",
    concurrency: 1,
    dialect: withCi("gitea", giteaDialect),
    review: { evidence: { ci: { artifacts: globs, wait_minutes: waitMinutes } } }
  })

/** A run of CI on the head of the pull request with one artifact, which it stores when it ends. */
const startRun = (pull: DemoPull, id: number, name: string): FakeRun => {
  const run: FakeRun = { id, head: pull.head, hasEnded: false, artifacts: [] }
  getCi(pull.repository).runs.push(run)
  run.artifacts.push({ id, name: "sarif-eslint", zip: sarifOn(name) })
  return run
}

const cited = "This line was also reported by `ESLint` rule `no-marker` in CI."
const commentsOn = (pull: DemoPull) => pull.reviews.flatMap(({ comments }) => comments.map(({ body }) => body))
const downloads = (id: number) => storage.requests.filter(({ url }) => url?.startsWith(`/blobs/${id}?`)).length
const waits = (at: Installation) => at.aicr.log.split('"review waits for CI"').length - 1

it("waits for CI without a slot and over a kill, then cites the results in the comment", async () => {
  await using at = await install(10)
  await at.aicr.start()
  const slow = await at.open("slow")
  const run = startRun(slow, 101, "slow")
  await at.forge.notify(slow, "opened")
  await waitUntil(() => waits(at) > 0, { describe: () => at.aicr.log })

  const fast = await at.open("fast")
  startRun(fast, 102, "fast").hasEnded = true
  await at.forge.notify(fast, "opened")
  await at.reviewed(fast)
  expect(commentsOn(fast)).toEqual([expect.stringContaining(cited)])

  const before = waits(at)
  await at.aicr.kill()
  await at.aicr.start()
  await waitUntil(() => waits(at) > before, { describe: () => at.aicr.log })
  expect(at.countModelCalls("slow")).toBe(0)
  run.hasEnded = true
  await at.reviewed(slow)
  expect(commentsOn(slow)).toEqual([expect.stringContaining(cited)])
  expect([at.countModelCalls("slow"), downloads(101)]).toEqual([1, 1])
})

it("reads again after a kill what the first attempt read, whatever CI has by then", async () => {
  await using at = await install(0)
  await at.aicr.start()
  const pull = await at.open("change")
  const run = startRun(pull, 103, "change")
  run.hasEnded = true
  const killed = Promise.withResolvers<void>()
  at.model.script(() => {
    killed.resolve(at.aicr.kill().then(() => undefined))
    return { cut: true }
  })
  await at.forge.notify(pull, "opened")
  await killed.promise
  run.artifacts.splice(0)
  at.model.script(honest)
  await at.aicr.start()
  await at.reviewed(pull)
  expect(commentsOn(pull)).toEqual([expect.stringContaining(cited)])
  expect(downloads(103)).toBe(1)
})

it("goes on without CI that has not ended, and names what is missing in the summary", async () => {
  await using at = await install(0, ["other"])
  await at.aicr.start()
  const pull = await at.open("change")
  startRun(pull, 104, "change")
  await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  const summary = pull.comments.map(({ body }) => body).join("\n")
  expect(summary).toContain("1 of 1 CI runs of this commit had not ended; what they store later was not read.")
  expect(summary).toContain("No artifact of the CI runs matches review.evidence.ci.artifacts.")
  expect(commentsOn(pull)).toEqual([expect.not.stringContaining("also reported")])
})
