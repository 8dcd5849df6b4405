/** The summary of the first review at GitHub is the text of that review; where that is not possible both are written, each once. */
import { Effect } from "effect"
import { afterEach, expect, it } from "vitest"
import type { Publication } from "../../../src/domain/Publication.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import { TakesLineComments } from "../../../src/forge/WriteOwner.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import { file, repoName, run, startHost } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { fault } from "../../harness/FakeForge.ts"
import { newTraffic } from "../../harness/Owners.ts"
import { listSummaries } from "../../harness/Summaries.ts"
import { analysis, change, channel, finding, input, workspace } from "../Fixtures.ts"
import { makeChannelContext, orDie, publishAll } from "../Publishing.ts"
import type { Setup } from "../Publishing.ts"

const kind = channelTable((host) => forgeTable[host].bodyLimit).github_pr_review
const at = (n: number, line: number): Finding => finding(n, { file }, { path: file, side: "new", line })
const both = [at(1, 20), at(2, 29)]
/** A line that is not part of the diff. */
const misplaced = at(9, 3)

let host: Host | undefined
afterEach(async () => {
  const violations = host?.forge.violations
  await host?.forge.stop()
  host = undefined
  expect(violations).toEqual([])
})

const begin = async (own: Parameters<typeof channel>[0] = {}) => {
  const here = await startHost("github")
  host = here
  here.forge.setPermission(repoName, "ann", "write")
  const history: Array<Publication> = []
  const setup = { forge: here.forge, kind, channel: channel({ kind: "github_pr_review", ...own }), history }
  const given = (findings: ReadonlyArray<Finding>, runId: string) =>
    input(findings, {
      runId,
      change: { ...change, provider: "github", head: here.pull.head },
      head: here.pull.head,
      workspace: workspace({}, { output_language: "en" }),
      analysis: analysis(findings, { coverage: { reviewed: [file], skipped: [], lines: 3 } })
    })
  let reviews = 0
  const review = async (findings: ReadonlyArray<Finding>, more: Partial<Setup> = {}) => {
    await here.forge.push(repoName, {
      branch: "feature/x",
      message: "more",
      files: { [`${++reviews}.txt`]: "x\n" }
    })
    return publishAll({ ...setup, ...more }, given(findings, `run-${reviews}`))
  }
  const lines = () => here.pull.reviews.flatMap(({ comments }) => comments.map(({ line }) => line)).toSorted()
  return { given, here, history, lines, review, setup }
}

const shapes = (rows: ReadonlyArray<Publication>) => rows.map(({ operation, status }) => `${operation._tag} ${status}`)

it("is posted with its comments by one write, updated in place, and found again without records", async () => {
  const { here, lines, review } = await begin()
  const first = await review(both)
  expect(shapes(first)).toEqual(["Summary sent", "Threads nothing_to_do"])
  expect(here.forge.writes().map(({ path }) => path.split("/").at(-1))).toEqual(["reviews"])
  expect(first[0]?.posted).toHaveLength(2)
  expect(first[0]?.hostId).toBe(`review-${here.pull.reviews[0]?.id}`)
  const second = await review([...both, at(3, 30)])
  expect(shapes(second)).toEqual(["Summary sent", "Review sent", "Threads nothing_to_do"])
  await review([...both, at(3, 30)], { history: [] })
  expect(here.pull.comments).toEqual([])
  expect(listSummaries(here.pull).map(({ body }) => body.includes("**3 problems found"))).toEqual([true])
  expect(listSummaries(here.pull)[0]?.body).toContain(here.pull.head.slice(0, 7))
  expect(lines()).toEqual([20, 29, 30])
})

it("keeps what a person wrote into the text of the review", async () => {
  const { here, review } = await begin()
  await review(both)
  const [summary] = here.pull.reviews
  if (summary !== undefined) here.pull.reviews[0] = { ...summary, body: `${summary.body}\n\nWe talked about this.` }
  await review(both, { touched: [{ by: "ann", action: "edited", at: 10 }] })
  expect(listSummaries(here.pull)[0]?.body).toMatch(/-->\n\nWe talked about this\.$/)
})

it.each([
  ["a line", "line must be part of the diff"],
  ["a request for changes", "Can not request changes on your own pull request"]
])("is a comment, with the review after it, where GitHub refuses %s", async (_, message) => {
  const { here, lines, review } = await begin()
  here.forge.fail(/^POST .*\/reviews$/, fault.answered(422, { message: "Unprocessable Entity", errors: [message] }))
  const sent = await review(both)
  expect(shapes(sent)).toEqual(["Summary sent", "Review sent", "Threads nothing_to_do"])
  expect([here.pull.comments.length, lines()]).toEqual([1, [20, 29]])
  expect(here.pull.reviews[0]?.body).not.toContain('"fp":"summary"')
  expect(sent.map(({ posted }) => posted?.length)).toEqual([undefined, 2, undefined])
})

it("is a comment for each review where reviews have summaries of their own", async () => {
  const { here, review } = await begin({ review_update_strategy: "always_new" })
  expect(shapes(await review(both))).toEqual(["Summary sent", "Review sent", "Threads nothing_to_do"])
  await review([...both, at(3, 30)])
  expect(here.pull.comments).toHaveLength(2)
})

it("is alone on a closed change, whose review follows as an operation that is dropped", async () => {
  const { given, here, setup } = await begin()
  const [planned] = kind.plan(given(both, "run-1"), setup.channel, { lineComments: true, summary: true })
  if (planned === undefined) throw new Error("no plan")
  const { targetKey } = given(both, "run-1")
  const row = { ...planned, id: "1", runId: "run-1", targetKey, channel: "c", status: "pending" } as const
  const to = makeChannelContext(
    setup,
    given(both, "run-1"),
    forgeTable.github.client(here.forge.profile(), newTraffic())
  )
  const sent = await run(
    Effect.provideService(
      orDie(kind.send(to, { ...row, position: 0, attempts: 0 }, undefined)),
      TakesLineComments,
      Effect.succeed(false)
    )
  )
  expect(sent.next?.map(({ operation }) => operation._tag)).toEqual(["Review"])
  expect([here.pull.comments.length, here.pull.reviews.length]).toEqual([1, 0])
})

it.each([
  ["that GitHub accepts", both],
  ["with a line that GitHub refuses", [...both, misplaced]]
])("is written once, and so is each comment, when any request of a first review %s fails", async (_, found) => {
  const faults = [fault.lost, fault.cut, fault.broken]
  for (let step = 1, all = 1; step <= all; step++) {
    const { here, lines, review } = await begin()
    let seen = 0
    here.forge.intercept(() => (++seen === step ? faults[step % faults.length] : undefined))
    await review(found)
    all = seen
    expect(listSummaries(here.pull)).toHaveLength(1)
    expect(lines()).toEqual([20, 29])
    const text = listSummaries(here.pull)[0]?.body ?? ""
    expect(text.split(misplaced.fingerprint).length - 1).toBe(found.length - 2)
    expect(here.forge.violations).toEqual([])
    await here.forge.stop()
  }
})
