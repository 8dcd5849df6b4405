/** A cluster whose NATS loses everything it stores: truth is in the records, so that the cluster rebuilds what it needs. */
import { expect, it } from "vitest"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { honest, postedOn } from "../harness/Installation.ts"
import { OtherRelease } from "../harness/OtherRelease.ts"
import { waitUntil } from "../harness/Wait.ts"

it("NATS without its data: nodes report missing locks, then create it again and review without a restart", async () => {
  using impatient = new OtherRelease("0.1.0", [
    ["nats/NatsLockHealth.ts", "stuckMillis = 60_000", "stuckMillis = 2000"]
  ])
  await using at = await ClusterInstallation.make({ repositories: 4, dailyUsd: 50 })
  const last = await at.add("middle-2", "actors,publisher")
  last.setProgram(impatient.folder)
  await Promise.all([
    at.start("front", "ingress"),
    at.start("work", "executor"),
    at.start("middle-1", "actors,publisher"),
    last.start()
  ])
  const before = await at.open("before", at.repositories[0] ?? "")
  await at.deliver(before)
  await at.reviewed([before], 60_000)

  await at.nats.kill()
  at.nats.loseData()
  // Connected, but without anything that stores locks.
  await at.nats.start({ storing: false })
  const readiness = async (name: string) => (await fetch(`${at.node(name).url}/readyz`)).text()
  await waitUntil(async () => (await readiness("middle-1")).includes('"not_ready":["locks"]'), {
    timeout: 30_000,
    describe: () => at.logs(20)
  })
  // After a minute, here two seconds, a restart may help.
  const liveness = async (name: string) => {
    const response = await fetch(`${at.node(name).url}/healthz`)
    return [response.status, Object(await response.json()).failed]
  }
  await waitUntil(async () => (await liveness("middle-2"))[0] === 503, { timeout: 30_000, describe: () => at.logs(20) })
  expect(await liveness("middle-2")).toEqual([503, ["locks"]])
  expect(await liveness("middle-1")).toEqual([200, undefined])
  expect(await liveness("front")).toEqual([200, undefined])
  await at.nats.stop()
  await at.nats.start()
  await waitUntil(async () => (await liveness("middle-2"))[0] === 200, { timeout: 60_000, describe: () => at.logs(20) })

  const pulls = await Promise.all(at.repositories.map((repository, index) => at.open(`after-${index}`, repository)))
  for (const pull of pulls) await at.deliver(pull)
  await at.reviewed(pulls, 60_000)
  await at.settled()
  expect(pulls.map((pull) => postedOn(pull))).toMatchObject(
    pulls.map((pull) => ({ reviews: [pull.head], summaries: 1 }))
  )
}, 240_000)

it("NATS without its data while it holds the queue: what waits and what runs is reviewed once", async () => {
  await using at = await ClusterInstallation.make({
    repositories: 2,
    dailyUsd: 50,
    queue: "nats",
    slots: 1,
    maxWaitingForModel: 0
  })
  await Promise.all([at.start("one", "all"), at.start("two", "all")])
  const responding = Promise.withResolvers<void>()
  at.model.script(async (request) => {
    await responding.promise
    return honest(request)
  })
  // Each node reviews one, the others wait.
  const pulls = []
  for (let index = 0; index < 6; index++) {
    pulls.push(await at.open(`lost-${index}`, at.repositories[index % 2] ?? ""))
  }
  for (const pull of pulls) await at.deliver(pull)
  await waitUntil(() => at.model.requests.length === 2, { timeout: 60_000, describe: () => at.logs(20) })

  await at.nats.kill()
  at.nats.loseData()
  await at.nats.start()
  const created = /"stream":"aicr_log_queue-journal"[^\n]*stream was missing on the NATS server, created again/
  const logs = () => [...at.nodes.values()].map(({ log }) => log).join("")
  await waitUntil(() => created.test(logs()), { timeout: 60_000, describe: () => at.logs(20) })
  responding.resolve()
  await at.reviewed(pulls, 120_000)
  await at.settled()
  expect(pulls.map((pull) => postedOn(pull))).toMatchObject(
    pulls.map((pull) => ({ reviews: [pull.head], summaries: 1 }))
  )
}, 240_000)
