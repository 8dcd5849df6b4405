/**
 * A service starts for the first time at a host with 10,000 open pull requests: it reviews none of them, in a few requests, and later those
 * that were opened or changed. AICR_TEST_CATCH_UP=all tries every host instead of Gitea.
 */
import { expect, it, onTestFinished } from "vitest"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { DownHost } from "../harness/DownHost.ts"
import { isWhole } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

const count = 10_000
const hosts = isWhole("AICR_TEST_CATCH_UP") ? (["gitea", "forgejo", "github", "gitlab"] as const) : (["gitea"] as const)

/** Adds pull requests with the head of one, each updated a minute before the one before it. */
const fill = (pull: DemoPull): void => {
  const newest = Date.parse(pull.changedAt)
  for (let n = 1; n <= count; n++) {
    const time = new Date(newest - n * 60_000).toISOString()
    const number = pull.number + n
    const copy = { ...pull, id: 1_000_000 + n, number, title: `Old ${n}`, createdAt: time, changedAt: time }
    pull.repository.pulls.set(number, { ...copy, comments: [], reviews: [] })
  }
}

it.each(hosts)(
  "a first start on %s reviews nothing of 10,000 old pull requests",
  async (kind) => {
    const host = await DownHost.start(kind, { before: async (open) => fill(await open("old")) })
    onTestFinished(() => host[Symbol.asyncDispose]())
    const { aicr, forge } = host
    await waitUntil(() => host.searchedAt() > 0, { timeout: 60_000, describe: () => aicr.log })
    // Gitea and Forgejo list by creation: the latest update is searched for.
    expect(forge.requests.length).toBeLessThanOrEqual(12)
    await aicr.stop()
    expect(host.runs().size).toBe(0)

    const opened = await host.open("opened")
    const [changed] = [...opened.repository.pulls.values()].filter(({ title }) => title === "Old 5000")
    if (changed === undefined) throw new Error("no old pull request")
    forge.edit(changed, { title: "Changed" })
    const before = forge.requests.length
    await aicr.start()
    await host.waitForReviews([opened, changed])
    await aicr.stop()
    expect([...host.runs().values()].flat()).toEqual(["succeeded", "succeeded"])
    const read = forge.requests.slice(before).filter(({ path }) => /\/(pulls|merge_requests)\/\d+$/.test(path))
    expect(new Set(read.map(({ path }) => path)).size).toBe(2)
    forge.expectContract()
  },
  300_000
)
