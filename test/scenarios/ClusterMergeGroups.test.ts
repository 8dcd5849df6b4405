/**
 * The nodes of a cluster of a GitHub App receive the same group of a merge queue, and are killed while one is reviewed: its head gets one check,
 * from one review, and the pull request nothing.
 */
import { generateKeyPairSync } from "node:crypto"
import { afterAll, beforeAll, expect, it } from "vitest"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { getChecks, grantChecks } from "../harness/FakeChecks.ts"
import { makeGroup, reportGroup } from "../harness/FakeMergeQueue.ts"
import { postedOn, secret } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" })
const nodes = ["one", "two"]
let at: ClusterInstallation
beforeAll(async () => {
  at = await ClusterInstallation.make({
    kind: "github",
    app: { app_id: 12345, private_key_env: "TEST_APP_KEY" },
    env: { TEST_APP_KEY: key.toString() },
    repositories: 1
  })
  grantChecks(at.forge)
  Object.assign(at.forge.user("aicr"), { login: "aicr[bot]" })
  for (const name of nodes) await at.start(name, "all")
}, 120_000)
afterAll(() => at[Symbol.asyncDispose](), 60_000)

const checksOf = ({ repository }: Pick<DemoPull, "repository">, head: string): ReadonlyArray<string> =>
  getChecks(repository)
    .filter((check) => check.head === head)
    .map(({ conclusion, isReopened, status }) => `${conclusion ?? status}${isReopened ? " reopened" : ""}`)

it("a head has one check, although both nodes receive its group, and are killed before and after the check is completed", async () => {
  const pull = await at.open("queued", "team/r0")
  const passes = (head: string) =>
    waitUntil(() => checksOf(pull, head).at(-1) === "success", { timeout: 120_000, describe: () => at.logs(40) })
  await at.deliver(pull)
  await passes(pull.head)
  await at.settled()
  const before = postedOn(pull)
  const calls = at.model.requests.length
  const signer = { ...at.forge, secret }
  // Two webhooks report the same group, each to another node.
  const twice = await makeGroup([pull])
  await Promise.all(nodes.map((name) => at.accepted(reportGroup(signer, twice, "checks_requested"), name)))
  await passes(twice.head)
  await at.settled()
  expect(checksOf(pull, twice.head)).toEqual(["success"])
  expect(await at.query(`SELECT status FROM runs WHERE head = '${twice.head}'`)).toEqual([{ status: "succeeded" }])
  for (const kind of ["cut", "lost"] as const) {
    await at.forge.push("team/r0", { branch: "main", message: kind, files: { [`${kind}.md`]: kind } })
    const group = await makeGroup([pull])
    const struck = Promise.withResolvers<void>()
    let isStruck = false
    at.host.onRequest = ({ method, path }) => {
      if (isStruck || method !== "PATCH" || !/\/check-runs\/\d+$/.test(path)) return undefined
      isStruck = true
      void Promise.all(nodes.map((name) => at.node(name).kill())).then(() => struck.resolve())
      return { kind }
    }
    await at.accepted(reportGroup(signer, group, "checks_requested"))
    await struck.promise
    await Promise.all(nodes.map((name) => at.node(name).start()))
    await passes(group.head)
    await at.settled()
    expect(checksOf(pull, group.head)).toEqual(["success"])
    expect(await at.query(`SELECT status FROM runs WHERE head = '${group.head}'`)).toEqual([{ status: "succeeded" }])
  }
  expect(at.model.requests).toHaveLength(calls)
  expect(postedOn(pull)).toEqual(before)
  expect(pull.repository.statuses.size).toBe(0)
}, 360_000)
