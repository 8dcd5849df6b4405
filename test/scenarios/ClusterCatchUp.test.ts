/** Changes while no node of a cluster runs: the nodes start together, one of them is killed during the search, and each change is reviewed once. */
import { expect, it } from "vitest"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { postedOn } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

it("nodes that start together, and the death of one of them, review each missed change once", async () => {
  await using at = await ClusterInstallation.make({ repositories: 2 })
  // The node that receives deliveries has no credential of a host.
  await Promise.all([
    at.start("front", "ingress,actors"),
    at.start("one", "executor,publisher"),
    at.start("two", "executor,publisher")
  ])
  const marks = () => at.query(`SELECT scope FROM catch_up_marks WHERE scope LIKE 'owner:%'`)
  await waitUntil(async () => (await marks()).length === at.repositories.length, {
    timeout: 60_000,
    describe: () => `the first search has ended\n${at.logs(20)}`
  })
  const delivered = await at.open("delivered", at.repositories[0] ?? "")
  await at.deliver(delivered)
  await at.reviewed([delivered], 60_000)
  await Promise.all([...at.nodes.values()].map((node) => node.kill()))

  const missed = []
  for (let index = 0; index < 6; index++)
    missed.push(await at.open(`missed-${index}`, at.repositories[index % 2] ?? ""))
  // The search runs on one of the two with credentials, and may be on the one that dies.
  let reads = 0
  let killed: Promise<unknown> | undefined
  at.host.onRequest = ({ method, path }) => {
    if (method === "GET" && /\/pulls\/[2-9]$/.test(path) && ++reads === 3) killed = at.node("one").kill()
    return undefined
  }
  // The one that dies may die before it accepts work.
  at.node("one").spawn()
  await Promise.all(["front", "two"].map((name) => at.node(name).start()))
  await waitUntil(() => killed !== undefined, { timeout: 90_000, describe: () => `three requests\n${at.logs(40)}` })
  await killed
  await at.reviewed(missed, 120_000)
  await at.settled()
  expect([delivered, ...missed].map((pull) => postedOn(pull))).toMatchObject(
    [delivered, ...missed].map((pull) => ({ reviews: [pull.head], summaries: 1 }))
  )
  expect(missed.map((_, index) => at.countModelCalls(`missed-${index}`)).filter((calls) => calls > 2)).toEqual([])
}, 300_000)
