/**
 * A coding agent with the real service: it waits for a review over stdio, lists its findings, and objects to one with code that proves it. The
 * finding is withdrawn once, without a comment, also if the process is killed while it decides or writes.
 */
import { expect, it, onTestFinished } from "vitest"
import type { Fault } from "../../demo/DemoForge.ts"
import { callMcp } from "../harness/McpCalls.ts"
import { getThread } from "../harness/FakeThreads.ts"
import { startReviewed } from "../harness/ReviewedChange.ts"
import { runAicr, StdioAgent } from "../harness/StdioAgent.ts"
import { waitUntil } from "../harness/Wait.ts"

const objection = {
  finding: 1,
  reason: "An empty cart returns early.",
  path: "cart.ts",
  quote: "if (items.length === 0) return 0"
}

const createToken = (configFile: string, name: string) =>
  runAicr([
    "token",
    "create",
    name,
    "--scope=read",
    "--scope=dispute",
    "--repository=host:team/one",
    "--config",
    configFile
  ])

it("an agent reads a review over stdio, objects to a finding, and outlives a restart but no revocation", async () => {
  const { aicr, comment, configFile, describe, model, pull, replies, stop } = await startReviewed("gitea")
  onTestFinished(stop)
  const token = await createToken(configFile, "laptop")
  const agent = await StdioAgent.start(aicr.url, token)
  onTestFinished(() => agent[Symbol.asyncDispose]())
  const at = { repository: "team/one", number: pull.number }
  expect((await agent.call("wait_for_review", at)).result).toMatchObject({
    done: true,
    status: "succeeded",
    head: pull.head,
    open: { medium: 1 }
  })
  const listed = await agent.call("list_findings", at)
  expect(listed.result).toMatchObject({ findings: [{ number: 1, state: "open", title: "Empty carts", line: 3 }] })
  const before = replies().length
  const unproven = await agent.call("dispute", { ...at, ...objection, quote: "return nothing at all" })
  expect(unproven.result).toMatchObject({ decided: true, outcome: "kept", ruling: "unproven" })
  expect(model.requests.filter(({ text }) => text.includes("Write the reply"))).toHaveLength(0)

  await aicr.kill()
  await aicr.start()
  expect((await agent.call("status", at)).result).toMatchObject({ done: true })
  // There is one objection per finding and head.
  expect((await agent.call("dispute", { ...at, ...objection })).result).toMatchObject({ outcome: "kept" })
  expect(getThread(comment).body ?? "").not.toContain("Withdrawn")
  expect(replies()).toHaveLength(before)

  expect(await runAicr(["token", "list", "--config", configFile])).toMatch(
    /^NAME .*\nlaptop +valid +read,dispute +- +host:team\/one /
  )
  expect(await runAicr(["token", "revoke", "laptop", "--config", configFile])).toBe("Token laptop is revoked.")
  const refused = await agent.call("status", at)
  expect(refused).toMatchObject({ isError: true })
  expect(refused.text).toContain("401")
  for (const text of [aicr.log, agent.errors, describe()]) expect(text).not.toContain(token)
}, 180_000)

it("an objection is decided once, whatever write the process is killed at", async () => {
  const { aicr, comment, configFile, describe, forge, model, pull, replies, stop } = await startReviewed("gitea")
  onTestFinished(stop)
  const token = await createToken(configFile, "laptop")
  const input = { repository: "team/one", number: pull.number, ...objection }
  const dispute = (seconds: number) => callMcp(aicr.url, token, "dispute", { ...input, seconds })
  const before = replies().length
  // First at a read of the host, then at the write that marks the comment.
  for (const method of ["GET", "PATCH"]) {
    const struck = Promise.withResolvers<void>()
    forge.intercept((request): Fault | undefined => {
      if (request.method !== method) return undefined
      forge.intercept(() => undefined)
      void aicr.kill().then(() => struck.resolve())
      return { kind: "cut" }
    })
    await Promise.all([dispute(1), dispute(1)]).catch(() => undefined)
    await struck.promise
    await aicr.start()
  }
  await waitUntil(() => getThread(comment).body?.includes("Withdrawn") === true, { timeout: 60_000, describe })
  expect((await dispute(45)).result).toEqual({
    finding: 1,
    decided: true,
    outcome: "withdrawn",
    text: "You are right."
  })
  expect(
    (await callMcp(aicr.url, token, "list_findings", { repository: "team/one", number: pull.number })).result
  ).toMatchObject({
    findings: []
  })
  expect(model.requests.filter(({ text }) => text.includes("Write the reply"))).toHaveLength(1)
  expect(replies()).toHaveLength(before)
}, 240_000)
