/**
 * The end of pull requests, from the delivery to the outcomes of their findings: in the merged tree, by what people did until then, within a
 * minute, and without a model. A merge that no delivery reported is found by the search for missed changes.
 */
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { adminEnv, AdminSession } from "../harness/AdminSession.ts"
import { Installation, renderContent, toFilePath } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

const repository = "team/one"
let at: Installation
const requests: Array<string> = []
beforeAll(async () => {
  at = await Installation.make({ queue: "memory", catchUpSeconds: 1, env: adminEnv })
  at.forge.setPermission(repository, "kim", "write")
  at.host.onRequest = ({ method, path }) => {
    requests.push(`${method} ${path}`)
    return undefined
  }
  await at.aicr.start()
})
afterAll(() => at[Symbol.asyncDispose]())

interface OutcomeRow {
  readonly outcome: string
  readonly settled: string | null
  readonly settled_at: number | null
  readonly merged_by: string | null
  readonly dismissed_by: string | null
}

const outcomeOf = (name: string): OutcomeRow | undefined => {
  const database = new DatabaseSync(join(at.directory, "aicr.db"), { readOnly: true })
  try {
    const row = database
      .prepare("SELECT outcome, settled, settled_at, merged_by, dismissed_by FROM finding_outcomes WHERE path = ?")
      .get(toFilePath(name))
    return row === undefined ? undefined : (row as unknown as OutcomeRow)
  } finally {
    database.close()
  }
}

const reviewed = async (name: string): Promise<DemoPull> => {
  const pull = await at.open(name)
  await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  await waitUntil(() => outcomeOf(name) !== undefined, { timeout: 10_000, describe: () => at.aicr.log })
  return pull
}

/** Merges as one commit with this content of the file; null leaves the file out. */
const squash = async (pull: DemoPull, name: string, content: string | null, person: string) => {
  const files = content === null ? { "other.txt": name } : { [toFilePath(name)]: content }
  const mergeCommit = await at.forge.push(repository, { branch: "main", message: `Merge ${name}`, files })
  at.forge.edit(pull, { state: "closed", merged: true, mergeCommit, mergedBy: at.forge.user(person) })
}

const settled = (name: string) =>
  waitUntil(() => outcomeOf(name)?.settled !== null, { timeout: 60_000, describe: () => at.aicr.log })

it("decides what became of each finding, within a minute of the end of its change", async () => {
  const names = ["kept", "repaired", "dropped", "closed", "dismissed", "own"] as const
  const pulls = await Promise.all(names.map(reviewed))
  const calls = at.model.requests.length
  const [kept, repaired, dropped, closed, dismissed, own] = pulls
  if (!kept || !repaired || !dropped || !closed || !dismissed || !own) throw new Error("six pull requests")

  await squash(kept, "kept", renderContent("kept", 1), "kim")
  await squash(repaired, "repaired", "export const first = 1\nexport const repaired = check()\n", "kim")
  await squash(dropped, "dropped", null, "kim")
  at.forge.close(closed, false)
  const comment = dismissed.reviews.flatMap(({ comments }) => comments)[0]
  if (comment === undefined) throw new Error("a comment at the line")
  // In the last minute, without a delivery.
  comment.resolver = at.forge.user("kim")
  await squash(dismissed, "dismissed", renderContent("dismissed", 1), "kim")
  await squash(own, "own", renderContent("own", 1), "dana")
  const end = Date.now()
  for (const pull of pulls) await at.forge.notify(pull, "closed")
  await Promise.all(names.map(settled))

  const merged = { settled: "merged", dismissed_by: null, merged_by: "maintainer" }
  expect(outcomeOf("kept")).toMatchObject({ ...merged, outcome: "open_at_merge" })
  expect(outcomeOf("repaired")).toMatchObject({ ...merged, outcome: "fixed" })
  expect(outcomeOf("dropped")).toMatchObject({ ...merged, outcome: "fixed" })
  expect(outcomeOf("closed")).toMatchObject({ settled: "closed", outcome: "open", merged_by: null })
  expect(outcomeOf("dismissed")).toMatchObject({ ...merged, outcome: "dismissed", dismissed_by: "maintainer" })
  // Who opened a change moves nothing by merging it.
  expect(outcomeOf("own")).toMatchObject({ ...merged, outcome: "open_at_merge", merged_by: "author" })
  for (const name of names) expect((outcomeOf(name)?.settled_at ?? Infinity) - end).toBeLessThan(60_000)
  expect(at.model.requests).toHaveLength(calls)

  const session = await AdminSession.open(at.aicr.url)
  const { body } = await session.get("/stats")
  expect(JSON.stringify(body)).toContain('"open_at_merge":2')
  const counted = async () => {
    const metrics = await (await fetch(`${at.aicr.url}/metrics`)).text()
    const outcomes = metrics.matchAll(/^aicr_settled_findings_total\{.*outcome="(\w+)".*\} (\d+)$/gm)
    const [, ends] = /^aicr_settling_duration_seconds_count(?:\{.*\})? (\d+)$/m.exec(metrics) ?? []
    return [...[...outcomes].map(([, outcome, count]) => `${outcome} ${count}`).toSorted(), `ends ${ends}`].join(", ")
  }
  let last = ""
  await waitUntil(
    async () => {
      last = await counted()
      return last === "dismissed 1, fixed 2, open 1, open_at_merge 2, ends 6"
    },
    { describe: () => last }
  )
}, 120_000)

it("decides about a merge that no delivery reported", async () => {
  const pull = await reviewed("undelivered")
  await squash(pull, "undelivered", renderContent("undelivered", 1), "kim")
  await settled("undelivered")
  expect(outcomeOf("undelivered")).toMatchObject({ outcome: "open_at_merge", settled: "merged" })
}, 120_000)

it("reads the pull request, its comments and who merged it once, and nothing of a change that is open again", async () => {
  const pull = await reviewed("counted")
  await squash(pull, "counted", renderContent("counted", 1), "kim")
  await at.settled()
  requests.length = 0
  await at.forge.notify(pull, "closed")
  await settled("counted")
  const own = requests.filter((path) => path.includes(`/${pull.number}`) || path.includes("/collaborators/"))
  expect(own.filter((path) => !path.startsWith("GET"))).toEqual([])
  expect(own.length).toBeLessThanOrEqual(5)
}, 120_000)
