/** Servers of a cluster that are unavailable while models are called: what is paid is kept, so that no call is repeated. */
import { describe, expect, it } from "vitest"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { honest, postedOn } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

const elapse = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

describe("a model call is paid once", () => {
  it.each<[what: string, outage: (at: ClusterInstallation, respond: () => void) => Promise<void>]>([
    [
      "NATS is cut off for 30 s, and the model responds in that time",
      async (at, respond) => {
        at.line.cut()
        await elapse(1000)
        respond()
        await elapse(29_000)
        at.line.mend()
      }
    ],
    [
      "Postgres is unavailable for 6 s, and the model responds in that time",
      async (at, respond) => {
        await at.postgres.stop()
        respond()
        await elapse(6000)
        await at.postgres.start()
      }
    ]
  ])(
    "while %s",
    async (_, outage) => {
      await using at = await ClusterInstallation.make({ repositories: 3, dailyUsd: 50 })
      await Promise.all([
        at.start("front", "ingress"),
        at.start("work", "executor"),
        at.start("middle", "actors,publisher")
      ])
      const responding = Promise.withResolvers<void>()
      at.model.script(async (request) => {
        await responding.promise
        return honest(request)
      })
      const pulls = await Promise.all(at.repositories.map((repository, index) => at.open(`paid-${index}`, repository)))
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
})
