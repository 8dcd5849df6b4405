/**
 * Nodes are killed while they decide about the findings of an ended change: one that is restarted decides when the claim ends, and each finding
 * counts once. At one of two requests by default, and at both with AICR_TEST_HOST_KILLS=all.
 */
import { afterAll, beforeAll, expect, it } from "vitest"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { renderContent, toFilePath } from "../harness/Installation.ts"
import { takeTurn } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

/** Requests of the decision at which the nodes are killed: that of the pull request, and that of its comments. */
const moments = ["pull", "comments"] as const
const tried = takeTurn("AICR_TEST_HOST_KILLS", moments)

let at: ClusterInstallation
beforeAll(async () => {
  at = await ClusterInstallation.make({ repositories: tried.length, slots: 2 })
  await at.start("front", "ingress,actors,publisher")
  for (const name of workers) await at.start(name, "executor")
}, 120_000)
afterAll(() => at[Symbol.asyncDispose](), 60_000)

const workers = ["work-1", "work-2"]

const outcomes = (name: string) =>
  at.query<{ outcome: string; settled: string | null }>(
    `SELECT outcome, settled FROM finding_outcomes WHERE path = '${toFilePath(name)}'`
  )

const counted = async () => {
  const [row] = await at.query<{ findings: string; open: string }>(
    "SELECT SUM(findings) AS findings, SUM(findings_open_at_merge) AS open FROM rollups WHERE scope = 'instance' AND grain = 'all'"
  )
  return [Number(row?.findings), Number(row?.open)]
}

it.each(tried.map((moment, index) => ({ moment, index, repository: `team/r${index}` })))(
  "an end is decided about although the nodes are killed at the read of the $moment",
  async ({ index, moment, repository }) => {
    const name = `app-${index}`
    const pull = await at.open(name, repository)
    await at.deliver(pull)
    await at.reviewed([pull], 60_000)
    await waitUntil(async () => (await outcomes(name)).length === 1, { timeout: 20_000, describe: () => at.logs(40) })
    const files = { [toFilePath(name)]: renderContent(name, 1) }
    const mergeCommit = await at.forge.push(repository, { branch: "main", message: "Merge", files })
    at.forge.edit(pull, { state: "closed", merged: true, mergeCommit, mergedBy: at.forge.user("kim") })
    await at.settled()

    let kills = 0
    const restarted = Promise.withResolvers<void>()
    const kill = async () => {
      const [first, second] = workers.map((worker) => at.node(worker))
      // One stays down, so that the other one takes over what it claimed.
      await Promise.all([first?.kill(), second?.kill()])
      await second?.start()
      restarted.resolve()
    }
    const path = moment === "pull" ? new RegExp(`/pulls/${pull.number}$`) : new RegExp(`/pulls/${pull.number}/reviews`)
    at.host.onRequest = (request) => {
      if (request.method !== "GET" || !path.test(request.path) || kills++ > 0) return undefined
      void kill()
      return { kind: "lost" }
    }
    at.forge.setWebhookUrl(`${at.node("front").url}/webhooks/gitea`)
    await at.forge.notify(pull, "closed")
    await restarted.promise
    await waitUntil(async () => (await outcomes(name))[0]?.settled === "merged", {
      timeout: 150_000,
      describe: () => at.logs(40)
    })
    at.host.onRequest = () => undefined
    expect(await outcomes(name)).toMatchObject([{ outcome: "open_at_merge" }])
    expect(await counted()).toEqual([index + 1, index + 1])
    await at.node(workers[0] ?? "").start()
  },
  300_000
)
