/**
 * The nodes that execute reviews are killed while they read what a shelved changelist was submitted as: one that is restarted decides what became
 * of its finding, which counts once.
 */
import { afterAll, beforeAll, expect, it } from "vitest"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import type { ChatPlatform } from "../harness/ChatPlatform.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { callP4Hook, hookKey } from "../harness/HookedNode.ts"
import { renderContent, toFilePath } from "../harness/Installation.ts"
import { makeFakeDepot, p4Password } from "../harness/perforce/PerforceDepot.ts"
import type { FakeDepot } from "../harness/perforce/PerforceDepot.ts"
import { waitUntil } from "../harness/Wait.ts"

let at: ClusterInstallation
let depot: FakeDepot
let chat: ChatPlatform
const workers = ["work-1", "work-2"]

beforeAll(async () => {
  depot = makeFakeDepot()
  chat = await startChatPlatform()
  at = await ClusterInstallation.make({
    repositories: 1,
    slots: 2,
    server: { auth: { api_key: hookKey } },
    notices: { channels: [{ name: "group", kind: "feishu_bot", webhook_url: chat.url }] },
    rules: [{ match: { trigger: "depot" }, summary: ["group"], line_comments: [] }],
    env: { TEST_PASSWORD: p4Password },
    depot
  })
  await at.start("front", "ingress,actors,publisher")
  for (const name of workers) await at.start(name, "executor")
}, 180_000)
afterAll(async () => {
  await at[Symbol.asyncDispose]()
  await depot[Symbol.asyncDispose]()
  await chat.stop()
}, 60_000)

it("the end of a shelf is decided about although the nodes are killed while they read it", async () => {
  const file = `//Ace/main/${toFilePath("app")}`
  depot.submit("Start", { files: { "//Ace/main/README.md": "# Start\n" } })
  const shelf = depot.shelve("Try", { files: { [file]: renderContent("app", 1) } })
  const outcomes = () =>
    at.query<{ outcome: string; settled: string | null; settled_head: string | null }>(
      `SELECT outcome, settled, settled_head FROM finding_outcomes WHERE target_key LIKE '%@=${shelf}'`
    )
  const report = (...args: ReadonlyArray<string>) => callP4Hook(at.node("front").url, at.directory, ...args)
  await report(shelf, "ada", "ada-laptop", "//Ace/...")
  await waitUntil(async () => (await outcomes()).length === 1, { timeout: 120_000, describe: () => at.logs(40) })
  await at.settled(120_000)

  const repaired = "export const repaired = check()\n"
  const submitted = depot.submit("Submit", { files: { [file]: repaired }, pending: shelf })
  const before = depot.calls().length
  depot.set({ disturb: [{ command: "print", how: "hang" }] })
  await report(submitted, "ada", "ada-laptop", "//Ace/...", shelf)
  const isReading = async () => {
    const claims = await at.query<{ owner: string }>("SELECT owner FROM settlements WHERE owner <> ''")
    return (
      claims.length === 1 &&
      depot
        .calls()
        .slice(before)
        .some(({ argv }) => argv.includes("print"))
    )
  }
  await waitUntil(isReading, {
    timeout: 120_000,
    describe: () =>
      `${JSON.stringify(
        depot
          .calls()
          .slice(before)
          .map(({ argv }) => argv)
      )}\n${at.logs(40)}`
  })
  const [first, second] = workers.map((worker) => at.node(worker))
  await Promise.all([first?.kill(), second?.kill()])
  depot.set({ disturb: [] })
  expect(await outcomes()).toMatchObject([{ outcome: "open", settled: null }])
  // One stays down, so that the other one takes over what it claimed.
  await second?.start()
  await waitUntil(async () => (await outcomes())[0]?.settled === "merged", {
    timeout: 150_000,
    describe: () => at.logs(40)
  })
  expect(await outcomes()).toMatchObject([{ outcome: "fixed", settled_head: submitted }])
  const [counted] = await at.query<{ fixed: string }>(
    "SELECT SUM(findings_fixed) AS fixed FROM rollups WHERE scope = 'instance' AND grain = 'all'"
  )
  expect(Number(counted?.fixed)).toBe(1)
}, 400_000)
