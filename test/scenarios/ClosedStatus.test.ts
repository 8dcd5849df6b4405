/** A pull request that is closed or moved while its head waits for a review: it fails no head, and takes no verdict back. */
import { expect, it } from "vitest"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { honest } from "../harness/Installation.ts"
import type { Installation } from "../harness/Installation.ts"
import { command, failing, last, openGreen, statuses, toWorkspace } from "../harness/SharedHeads.ts"
import { startedInstallation } from "../harness/StartedInstallation.ts"
import { waitUntil } from "../harness/Wait.ts"

/** Waits for a status of the head that is not pending: housekeeping ends runs that wait. */
const settled = (at: Installation, pull: DemoPull) =>
  waitUntil(() => last(pull) !== undefined && last(pull)?.state !== "pending", {
    timeout: 60_000,
    describe: () => at.aicr.log
  })

const pending = (at: Installation, pull: DemoPull) =>
  waitUntil(() => last(pull)?.state === "pending", { describe: () => at.aicr.log })

const close = (at: Installation, pull: DemoPull) => {
  at.forge.close(pull, false)
  return at.forge.notify(pull, "closed")
}

const reopen = (at: Installation, pull: DemoPull) => {
  pull.state = "open"
  return at.forge.notify(pull, "reopened")
}

/** Makes the model respond to no call. Completes at the first one. */
const holdModel = (at: Installation) => {
  const called = Promise.withResolvers<void>()
  at.model.script(() => {
    called.resolve()
    return { stall: "silent" }
  })
  return called.promise
}

const installation = startedInstallation({ ...failing, repositories: ["team/closed", "team/moved", "team/during"] })

it("a pull request that is closed before its first review fails no head, and waits again when it is reopened", async () => {
  const [at, repository] = [installation(), "team/closed"]
  const pull = await openGreen(at, repository)
  await command(at, "queue", "pause", "-w", toWorkspace(repository))
  const second = await at.forge.createPull(repository, { headBranch: "change", title: "Second" })
  expect(second.head).toBe(pull.head)
  await at.forge.notify(second, "opened")
  await pending(at, pull)
  await close(at, second)
  await settled(at, pull)
  expect(last(pull)).toMatchObject({ state: "success", description: "No problems found in #1 (into side)" })
  await reopen(at, second)
  await pending(at, pull)
  expect(statuses(pull).map(({ state }) => state)).not.toContain("failure")
  await command(at, "queue", "resume", "-w", toWorkspace(repository))
  await settled(at, pull)
  expect(last(pull)?.description).toMatch(/^1 high/)
}, 180_000)

it("a head whose pull request moves between bases before its first review is pending, until it is closed", async () => {
  const [at, repository] = [installation(), "team/moved"]
  const pull = await openGreen(at, repository)
  const green = statuses(pull).length
  await command(at, "queue", "pause", "-w", toWorkspace(repository))
  const next = { branch: "next", from: "side", message: "Next", files: { "docs/next.txt": "x\n" } }
  await at.forge.push(repository, next)
  for (const base of ["main", "next"]) {
    await at.forge.retarget(pull, base)
    await at.forge.notify(pull, "edited")
    await pending(at, pull)
  }
  // One for each base branch, and one when the run of the first ends.
  await waitUntil(() => statuses(pull).length >= green + 3, { timeout: 60_000, describe: () => at.aicr.log })
  const states = statuses(pull).map(({ state }) => state)
  expect(new Set(states.slice(green))).toEqual(new Set(["pending"]))
  await close(at, pull)
  await settled(at, pull)
  expect(last(pull)).toMatchObject({ state: "success", description: "No problems found in #1 (into side)" })
}, 180_000)

it("a close during the first review of a head is no failure, and one during a repetition leaves its verdict", async () => {
  const [at, repository] = [installation(), "team/during"]
  const pull = await at.open("change", repository)
  let called = holdModel(at)
  await at.forge.notify(pull, "opened")
  await called
  await close(at, pull)
  await settled(at, pull)
  const closed = { state: "warning", description: "Not reviewed: closed before the review ended" }
  expect(last(pull)).toMatchObject(closed)
  at.model.script(honest)
  await reopen(at, pull)
  await waitUntil(() => last(pull)?.state === "failure", { describe: () => at.aicr.log })
  const verdict = last(pull)?.description
  called = holdModel(at)
  const sender = at.forge.user("dana")
  await at.forge.send(at.forge.delivery({ kind: "comment", pull, body: "/aicr review", sender }))
  await called
  await pending(at, pull)
  await close(at, pull)
  await settled(at, pull)
  expect(last(pull)).toMatchObject({ state: "failure", description: verdict })
}, 180_000)
