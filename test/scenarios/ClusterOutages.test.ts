/** Servers of a cluster that are unavailable while models are called: what is paid is kept, so that no call is repeated. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { honest, postedOn } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

const elapse = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

describe("servers are unavailable", () => {
  let at: ClusterInstallation
  beforeAll(async () => {
    at = await ClusterInstallation.make({ repositories: 3, dailyUsd: 50 })
    await Promise.all([
      at.start("front", "ingress"),
      at.start("work", "executor"),
      at.start("middle", "actors,publisher")
    ])
  }, 120_000)
  afterAll(() => at[Symbol.asyncDispose](), 60_000)

  it.each<[what: string, outage: (cluster: ClusterInstallation, respond: () => void) => Promise<void>]>([
    [
      // Longer than the timeout of a message to the ledger.
      "NATS is cut off for 22 s, and the model responds in that time",
      async ({ line }, respond) => {
        line.cut()
        await elapse(1000)
        respond()
        await elapse(21_000)
        line.mend()
      }
    ],
    [
      "Postgres is unavailable for 6 s, and the model responds in that time",
      async ({ postgres }, respond) => {
        await postgres.stop()
        respond()
        await elapse(6000)
        await postgres.start()
      }
    ]
  ])(
    "%s: each call is paid once",
    async (name, outage) => {
      const branch = name.slice(0, name.indexOf(" ")).toLowerCase()
      const responding = Promise.withResolvers<void>()
      at.model.script(async (request) => {
        await responding.promise
        return honest(request)
      })
      const pulls = await Promise.all(
        at.repositories.map((repository, index) => at.open(`${branch}-${index}`, repository))
      )
      for (const pull of pulls) await at.deliver(pull)
      await waitUntil(() => pulls.every((pull) => at.countModelCalls(pull.headBranch) === 1), {
        timeout: 40_000,
        describe: () => at.logs(20)
      })
      await outage(at, () => responding.resolve())
      await at.reviewed(pulls, 60_000)
      await at.settled(90_000)
      expect(pulls.map((pull) => at.countModelCalls(pull.headBranch))).toEqual(pulls.map(() => 1))
      expect(pulls.map((pull) => postedOn(pull))).toMatchObject(
        pulls.map((pull) => ({ reviews: [pull.head], summaries: 1 }))
      )
    },
    240_000
  )

  it("while Redis and then Postgres are unavailable, each node logs a failure once, not at each attempt and delivery", async () => {
    at.model.script(honest)
    const pulls = await Promise.all(at.repositories.map((repository, index) => at.open(`before-${index}`, repository)))
    for (const pull of pulls) await at.deliver(pull)
    await at.reviewed(pulls, 60_000)
    const start = new Map([...at.nodes].map(([name, { log }]) => [name, log.length]))

    await at.redis.kill()
    for (const [index, repository] of at.repositories.entries()) {
      for (const round of [1, 2]) {
        const pull = await at.open(`without-redis-${index}-${round}`, repository)
        pulls.push(pull)
        await at.deliver(pull)
      }
    }
    // Schedulers scan again after 5 seconds.
    await elapse(12_000)
    await at.redis.start()
    await at.postgres.stop()
    const refused = await Promise.all(
      at.repositories.map((repository, index) => at.open(`without-${index}`, repository))
    )
    pulls.push(...refused)
    const deliveries = refused.map((pull) => at.deliver(pull))
    await elapse(6000)
    await at.postgres.start()
    await Promise.all(deliveries)
    await at.reviewed(pulls, 60_000)

    const counts = new Map<string, number>()
    for (const [name, { log }] of at.nodes) {
      for (const line of log.slice(start.get(name)).split("\n")) {
        if (!/^\{"level":"(?:warn|error)"/.test(line)) continue
        const { event_id, msg, operation, run_id, step, target, workspace } = Object(JSON.parse(line))
        const key = [name, msg, step, operation, workspace, target, event_id, run_id].filter(Boolean).join(" ")
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
    }
    // A minute may end in between.
    expect([...counts].filter(([, count]) => count > 2)).toEqual([])
    const stored = [...counts.keys()].filter((key) => key.includes("events of deliveries not stored"))
    expect(stored).toEqual(["front events of deliveries not stored"])
  }, 240_000)
})
