/**
 * The nodes of a cluster receive the same group of a merge queue, and are killed while one is reviewed: its head gets one verdict, from one
 * review, and the pull request nothing.
 */
import { afterAll, beforeAll, expect, it } from "vitest"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { makeGroup, reportGroup } from "../harness/FakeMergeQueue.ts"
import { listStates, postedOn, secret } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

const nodes = ["one", "two"]
let at: ClusterInstallation
beforeAll(async () => {
  at = await ClusterInstallation.make({ kind: "github", repositories: 1 })
  for (const name of nodes) await at.start(name, "all")
}, 120_000)
afterAll(() => at[Symbol.asyncDispose](), 60_000)

it("a group has one verdict, although both nodes receive it, and are killed before and after its status is written", async () => {
  const pull = await at.open("queued", "team/r0")
  await at.deliver(pull)
  await at.reviewed([pull], 120_000)
  await at.settled()
  const before = postedOn(pull)
  const calls = at.model.requests.length
  const signer = { ...at.forge, secret }
  // Two webhooks report the same group, each to another node.
  const twice = await makeGroup([pull])
  await Promise.all(nodes.map((name) => at.accepted(reportGroup(signer, twice, "checks_requested"), name)))
  await waitUntil(() => listStates({ ...pull, head: twice.head }).at(-1) === "success", {
    timeout: 120_000,
    describe: () => at.logs(40)
  })
  await at.settled()
  expect(listStates({ ...pull, head: twice.head })).toEqual(["pending", "success"])
  expect(await at.query(`SELECT status FROM runs WHERE head = '${twice.head}'`)).toEqual([{ status: "succeeded" }])
  for (const kind of ["cut", "lost"] as const) {
    await at.forge.push("team/r0", { branch: "main", message: kind, files: { [`${kind}.md`]: kind } })
    const group = await makeGroup([pull])
    const states = () => listStates({ ...pull, head: group.head })
    const struck = Promise.withResolvers<void>()
    let isStruck = false
    at.host.onRequest = ({ method, path }) => {
      // The final status: the first one is written when the review begins.
      if (isStruck || method !== "POST" || !path.endsWith(`/statuses/${group.head}`) || states().length === 0)
        return undefined
      isStruck = true
      void Promise.all(nodes.map((name) => at.node(name).kill())).then(() => struck.resolve())
      return { kind }
    }
    await at.accepted(reportGroup(signer, group, "checks_requested"))
    await struck.promise
    await Promise.all(nodes.map((name) => at.node(name).start()))
    await waitUntil(() => states().at(-1) === "success", { timeout: 120_000, describe: () => at.logs(40) })
    await at.settled()
    expect(states().filter((state) => state !== "pending")).toEqual(
      kind === "cut" ? ["success"] : ["success", "success"]
    )
    expect(await at.query(`SELECT status FROM runs WHERE head = '${group.head}'`)).toEqual([{ status: "succeeded" }])
  }
  expect(at.model.requests).toHaveLength(calls)
  expect(postedOn(pull)).toEqual(before)
}, 360_000)
