/** The host of a review is down between its writes, and the process is killed in between: all of it follows together, once. */
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, it } from "vitest"
import { toFilePath, Installation, markedLine, listStates } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"
import { command } from "../harness/SharedHeads.ts"

it("comments, summary and status follow together after an outage, the status last", async () => {
  await using at = await Installation.make({ queue: "sqlite" })
  await at.aicr.start()
  const pull = await at.open("change")
  let isDown = false
  let refused = 0
  const written: Array<string> = []
  at.host.onAnswer = ({ method, path }) => {
    if (method === "GET") return
    written.push(path.split("/").at(-1) === pull.head ? "status" : (path.split("/").at(-1) ?? ""))
    // Down from the first content write on, before its row is recorded as sent.
    if (path.endsWith("/comments")) isDown = true
  }
  at.host.onRequest = () => {
    if (!isDown) return undefined
    refused += 1
    return { kind: "cut" }
  }
  const refusals = (more: number) => {
    const from = refused
    return waitUntil(() => refused >= from + more, { describe: () => `${refused} requests; log:\n${at.aicr.log}` })
  }
  await at.forge.notify(pull, "opened")
  await refusals(4)
  await at.aicr.kill()
  await at.aicr.start()
  await refusals(4)
  isDown = false
  at.host.onAnswer = ({ method, path }) => {
    if (method !== "GET") written.push(path.split("/").at(-1) === pull.head ? "status" : (path.split("/").at(-1) ?? ""))
  }
  await at.reviewed(pull)
  await at.settled()
  expect(at.posted(pull)).toEqual({
    reviews: [pull.head],
    comments: [`${toFilePath("change")}:${markedLine}`],
    summaries: 1
  })
  expect(written).toEqual(["status", "comments", "reviews", "status"])
  expect(listStates(pull)).toEqual(["pending", "success"])
  expect(at.countModelCalls("change")).toBe(1)
  const database = new DatabaseSync(join(at.directory, "aicr.db"), { readOnly: true })
  const [most] = database.prepare("SELECT max(attempts) AS attempts FROM publications").all()
  database.close()
  // The outage and the kill cost none; what failed before it was known as an outage may count.
  expect(Number(most?.["attempts"])).toBeLessThanOrEqual(1)
}, 120_000)

it("a delivery that arrives while the host refuses the credential is reviewed once it is accepted, without an attempt", async () => {
  await using at = await Installation.make({ queue: "sqlite", attempts: 1 })
  await at.aicr.start()
  const pull = await at.open("refused")
  at.host.onRequest = () => ({ kind: "answer", answer: { status: 401, body: { message: "token was revoked" } } })
  await at.forge.notify(pull, "opened")
  await waitUntil(() => at.aicr.log.includes("review waits for a server"), { describe: () => at.aicr.log })
  expect(at.aicr.log).toContain("work waits because the host refuses the credential of a trigger")
  expect(await command(at, "why", "team/one#1")).toMatch(
    /waits until the host accepts the credential of trigger host-0 again: .*401/
  )
  await at.aicr.kill()
  at.host.onRequest = () => undefined
  await at.aicr.start()
  await at.reviewed(pull)
  expect(at.posted(pull)).toMatchObject({ reviews: [pull.head], summaries: 1 })
  expect(at.countModelCalls("refused")).toBe(1)
}, 120_000)
