/** A review for which the budget allows no model call: a notice is published once, and the status of the commit shows the reason. */
import { describe, expect, it } from "vitest"
import type { ApiRequest } from "../../demo/DemoForgeDialect.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { honest, Installation, postedOn } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

const reason = "Not reviewed: the budget for model calls is exhausted"
const notice = "The change was not reviewed, because the budget for model calls is exhausted."

const lastStatus = (pull: DemoPull) => pull.repository.statuses.get(pull.head)?.at(-1)

const refused = (at: Installation, pull: DemoPull) =>
  waitUntil(() => lastStatus(pull)?.description === reason, {
    timeout: 60_000,
    describe: () => `${JSON.stringify([lastStatus(pull), postedOn(pull)])}\n${at.aicr.log}`
  })

const summariesOf = (pull: DemoPull) => pull.comments.filter((one) => one.user.login === "aicr").map(({ body }) => body)

const isSummary = ({ method, path }: ApiRequest): boolean => method === "POST" && path.endsWith("/comments")

describe("a review that the budget refuses before its first model call", () => {
  it.each(["per_run_usd", "per_repo_daily_usd", "per_author_daily_usd", "per_team_daily_usd"])(
    "publishes a notice once, also after a second delivery: %s",
    async (cap) => {
      await using at = await Installation.make({ queue: "sqlite", team: "payments", budget: { [cap]: 0.000_001 } })
      await at.aicr.start()
      const pull = await at.open("change")
      await at.forge.notify(pull, "opened")
      await refused(at, pull)
      await at.forge.notify(pull, "synchronized")
      await at.settled()

      expect(at.model.requests).toHaveLength(0)
      expect(summariesOf(pull)).toEqual([expect.stringContaining(notice)])
      expect(postedOn(pull)).toEqual({ reviews: [], comments: [], summaries: 1 })
      expect(lastStatus(pull)).toMatchObject({ description: reason })
      expect(lastStatus(pull)?.state).not.toBe("success")
      expect(at.aicr.log).toMatch(new RegExp(`"_tag":"BudgetUsedUp"[^}]*"cap":"${cap}"`))
    },
    120_000
  )

  it.each([
    ["before the notice is posted", "onRequest"],
    ["after the notice is posted, before its response", "onAnswer"]
  ] as const)(
    "publishes one notice if the process is killed %s",
    async (_, hook) => {
      await using at = await Installation.make({ queue: "sqlite", budget: { per_repo_daily_usd: 0.000_001 } })
      await at.aicr.start()
      const pull = await at.open("change")
      const killed = Promise.withResolvers<void>()
      let armed = true
      at.host[hook] = (request) => {
        if (!armed || !isSummary(request)) return undefined
        armed = false
        killed.resolve(at.aicr.kill().then(() => undefined))
        return { kind: "cut" }
      }
      await at.forge.notify(pull, "opened")
      await killed.promise
      await at.aicr.start()
      await refused(at, pull)
      await at.settled()
      expect(summariesOf(pull)).toEqual([expect.stringContaining(notice)])
      expect(at.model.requests).toHaveLength(0)
    },
    120_000
  )
})

it("near the cap a review waits for the cost of a call in flight, and is reviewed once that turns out lower", async () => {
  // Between the estimates of one call and of two; the cost of both calls is far below.
  await using at = await Installation.make({
    queue: "sqlite",
    budget: { per_repo_daily_usd: 0.011 },
    perWorkspaceConcurrency: 2
  })
  const responding = Promise.withResolvers<void>()
  at.model.script(async (request) => {
    await responding.promise
    return honest(request)
  })
  await at.aicr.start()
  const pulls = [await at.open("first"), await at.open("second")]
  for (const pull of pulls) await at.forge.notify(pull, "opened")
  await waitUntil(() => at.aicr.log.includes("model call waits for the cost of calls in flight"), {
    timeout: 60_000,
    describe: () => at.aicr.log
  })
  // The call that was reserved first may not have arrived yet.
  await waitUntil(() => at.model.requests.length > 0, { describe: () => at.aicr.log })
  expect(at.model.requests).toHaveLength(1)
  responding.resolve()
  await at.reviewed(...pulls)
  await at.settled()
  expect(pulls.map((pull) => postedOn(pull).summaries)).toEqual([1, 1])
  expect(at.model.requests).toHaveLength(2)
}, 120_000)
