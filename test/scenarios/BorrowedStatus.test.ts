/**
 * The status of a commit belongs to no pull request: every one with this head uses it. A review of the same head against another
 * branch, where the problem is part of the branch already, does not replace the failure that blocks the first pull request. The tests of one
 * node share it, with a repository each.
 */
import { expect, it } from "vitest"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { renderContent, toFilePath } from "../harness/Installation.ts"
import type { Installation } from "../harness/Installation.ts"
import { command, failing, last, openGreen, statuses, toWorkspace } from "../harness/SharedHeads.ts"
import { startedInstallation } from "../harness/StartedInstallation.ts"
import { waitUntil } from "../harness/Wait.ts"

/** Opens a pull request into `main`: its first commit has the problem, its head adds a harmless file. Waits for the failure. */
const openRed = async (at: Installation, repository: string) => {
  const faulty = await at.push("change", 1, repository)
  await at.forge.push(repository, { branch: "change", message: "More", files: { "docs/more.txt": "More.\n" } })
  const pull = await at.forge.createPull(repository, { headBranch: "change", title: "Change" })
  await at.forge.notify(pull, "opened")
  await waitUntil(() => last(pull)?.state === "failure", { describe: () => at.aicr.log })
  return { faulty, pull }
}

/** Returns a function that waits until the reviews of `count` deliveries from now on have ended, with everything that they write. */
const countEnded = (at: Installation) => {
  const from = at.aicr.log.length
  return (count: number) =>
    waitUntil(() => at.aicr.log.slice(from).split('"run ended"').length > count && at.unfinished().length === 0, {
      timeout: 60_000,
      interval: 50,
      describe: () => `${at.unfinished().join(", ")}\n${at.aicr.log.slice(from)}`
    })
}

const printStory = (at: Installation, { number, repository }: DemoPull) =>
  command(at, "why", `${repository.fullName}#${number}`)

const installation = startedInstallation({
  ...failing,
  repositories: ["team/into", "team/back", "team/moved", "team/green", "team/order"]
})

it("a second pull request of the same head, into a branch that has the problem, does not make its status a success", async () => {
  const [at, repository] = [installation(), "team/into"]
  const ended = countEnded(at)
  const { faulty, pull } = await openRed(at, repository)
  await at.forge.push(repository, {
    branch: "side",
    from: faulty,
    message: "Side",
    files: { "docs/side.txt": "x\n" }
  })
  const second = await at.forge.createPull(repository, { headBranch: "change", baseBranch: "side", title: "Second" })
  expect(second.head).toBe(pull.head)
  await at.forge.notify(second, "opened")
  await ended(2)
  expect(statuses(pull).map(({ state }) => state)).not.toContain("success")
  expect(last(pull)).toMatchObject({ state: "failure", description: "1 high in #1 (into main)" })
  for (const each of [pull, second]) {
    expect(await printStory(at, each)).toMatch(
      new RegExp(`status of ${pull.head.slice(0, 12)}: failure, 1 high \\(run \\S+ of #1 into main\\)`)
    )
  }
}, 120_000)

it("a change of the base to a branch that has everything, and back, shows no success in between", async () => {
  const [at, repository] = [installation(), "team/back"]
  const ended = countEnded(at)
  const { pull } = await openRed(at, repository)
  await at.forge.push(repository, { branch: "all", from: "change", message: "All", files: { "docs/all.txt": "x\n" } })
  await at.forge.retarget(pull, "all")
  await at.forge.notify(pull, "edited")
  await ended(2)
  expect(last(pull)).toMatchObject({ state: "failure", description: "1 high in #1 (into main)" })
  await at.forge.retarget(pull, "main")
  await at.forge.notify(pull, "edited")
  await ended(3)
  expect(last(pull)?.state).toBe("failure")
  expect(statuses(pull).map(({ state }) => state)).not.toContain("success")
  // A new commit is reviewed by itself.
  await at.forge.push(repository, {
    branch: "change",
    message: "Repair",
    files: { [toFilePath("change")]: renderContent("change", 1).replace("marker-change-end", "repaired") }
  })
  await at.forge.notify(pull, "synchronized")
  await waitUntil(() => last(pull)?.state === "success", { describe: () => at.aicr.log })
}, 120_000)

it("a green head that moves to a base it was never reviewed against is pending while its review waits, over kills", async () => {
  const [at, repository] = [installation(), "team/moved"]
  const pull = await openGreen(at, repository)
  await command(at, "queue", "pause", "-w", toWorkspace(repository))
  let kills = 0
  at.host.onRequest = ({ method, path }) => {
    if (method !== "POST" || !path.includes("/statuses/") || ++kills > 1) return undefined
    void at.aicr.kill()
    return { kind: "cut" }
  }
  await at.forge.retarget(pull, "main")
  await at.forge.notify(pull, "edited")
  await waitUntil(() => kills > 0, { describe: () => at.aicr.log })
  await at.aicr.kill()
  await at.aicr.start()
  await waitUntil(() => last(pull)?.state === "pending", { describe: () => at.aicr.log })
  expect(last(pull)).toMatchObject({ description: "Waits for a review" })
  expect(await printStory(at, pull)).toContain(`status of ${pull.head.slice(0, 12)}: pending, Waits for a review`)
  await command(at, "queue", "resume", "-w", toWorkspace(repository))
  await waitUntil(() => last(pull)?.state === "failure", { describe: () => at.aicr.log })
  const states = statuses(pull).map(({ state }) => state)
  expect(states.slice(states.indexOf("success") + 1)).not.toContain("success")
}, 120_000)

it("a green head is green again once its pull request is back at the base that it was reviewed against", async () => {
  const [at, repository] = [installation(), "team/green"]
  const pull = await openGreen(at, repository)
  await command(at, "queue", "pause", "-w", toWorkspace(repository))
  await at.forge.retarget(pull, "main")
  await at.forge.notify(pull, "edited")
  await waitUntil(() => last(pull)?.state === "pending", { describe: () => at.aicr.log })
  await at.forge.retarget(pull, "side")
  await at.forge.notify(pull, "edited")
  await waitUntil(() => last(pull)?.state === "success", { timeout: 60_000, describe: () => at.aicr.log })
  expect(last(pull)?.description).toBe("No problems found in #1 (into side)")
  await command(at, "queue", "resume", "-w", toWorkspace(repository))
}, 120_000)

it("a second pull request of a head stays pending, whichever of them is reviewed first", async () => {
  const [at, repository] = [installation(), "team/order"]
  const ended = countEnded(at)
  const faulty = await at.push("change", 1, repository)
  await at.forge.push(repository, { branch: "change", message: "More", files: { "docs/more.txt": "More.\n" } })
  await at.forge.push(repository, {
    branch: "side",
    from: faulty,
    message: "Side",
    files: { "docs/side.txt": "x\n" }
  })
  await command(at, "queue", "pause", "-w", toWorkspace(repository))
  const pulls = []
  for (const baseBranch of ["side", "main"]) {
    const pull = await at.forge.createPull(repository, { headBranch: "change", baseBranch, title: baseBranch })
    await at.forge.notify(pull, "opened")
    pulls.push(pull)
  }
  const [first] = pulls
  if (first === undefined) throw new Error("no pull request was opened")
  await command(at, "queue", "resume", "-w", toWorkspace(repository))
  await ended(2)
  await waitUntil(() => last(first)?.state === "failure", { describe: () => at.aicr.log })
  expect(statuses(first).map(({ state }) => state)).not.toContain("success")
}, 120_000)

it("two nodes write the status of one commit, and a node is killed at every second write", async () => {
  await using at = await ClusterInstallation.make({
    repositories: 1,
    perWorkspaceConcurrency: 3,
    review: { status_fail_on: "medium" }
  })
  const names = ["one", "two"]
  await Promise.all(names.map((name) => at.start(name, "all")))
  const [repo = ""] = at.repositories
  const faulty = await at.push("change", 1, repo)
  await at.forge.push(repo, { branch: "change", message: "More", files: { "docs/more.txt": "More.\n" } })
  const pulls = [await at.forge.createPull(repo, { headBranch: "change", title: "Change" })]
  for (const side of ["side", "next"]) {
    await at.forge.push(repo, { branch: side, from: faulty, message: side, files: { [`docs/${side}.txt`]: "x\n" } })
    pulls.push(await at.forge.createPull(repo, { headBranch: "change", baseBranch: side, title: side }))
  }
  let writes = 0
  let restarted: Promise<unknown> = Promise.resolve()
  at.host.onRequest = ({ method, path }) => {
    if (method !== "POST" || !path.includes("/statuses/") || ++writes % 2 !== 0 || writes > 6) return undefined
    // Either node may have sent it; the host has processed it or not.
    const node = at.node(names[(writes / 2) % 2] ?? "")
    restarted = restarted.then(() => node.kill()).then(() => node.start())
    return writes % 4 === 0 ? { kind: "cut" } : { kind: "lost" }
  }
  await Promise.all(pulls.map((pull) => at.deliver(pull)))
  const [first] = pulls
  if (first === undefined) throw new Error("no pull request was opened")
  await waitUntil(() => writes >= 6, { timeout: 90_000, describe: () => at.logs(40) })
  await restarted
  await at.settled(90_000)
  expect(last(first)).toMatchObject({ state: "failure", description: expect.stringMatching(/^1 high/) })
  // The review into main began before any of the others ended, or its verdict was the first.
  expect(
    statuses(first)
      .slice(-3)
      .map(({ state }) => state)
  ).not.toContain("success")
}, 300_000)
