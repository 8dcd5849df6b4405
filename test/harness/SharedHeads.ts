/** An installation with pull requests whose heads share statuses. */
import { join } from "node:path"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import type { Installation } from "./Installation.ts"
import { waitUntil } from "./Wait.ts"
import { runAicr } from "./RunAicr.ts"

/** Settings of an installation whose reviews fail the status for a problem. */
export const failing = { queue: "sqlite", review: { status_fail_on: "medium" } } as const

/** Name of the workspace of a repository. */
export const toWorkspace = (repository: string): string => repository.replace("/", "-")

/** Returns the statuses of the head of a pull request, oldest first. */
export const statuses = (pull: DemoPull) => pull.repository.statuses.get(pull.head) ?? []
export const last = (pull: DemoPull) => statuses(pull).at(-1)

/** Opens a pull request into `side`, whose head has a problem that is part of `side` already. Waits for the success. */
export const openGreen = async (at: Installation, repository: string) => {
  const faulty = await at.push("change", 1, repository)
  await at.forge.push(repository, { branch: "change", message: "More", files: { "docs/more.txt": "More.\n" } })
  await at.forge.push(repository, { branch: "side", from: faulty, message: "Side", files: { "docs/side.txt": "x\n" } })
  const pull = await at.forge.createPull(repository, { headBranch: "change", baseBranch: "side", title: "Change" })
  await at.forge.notify(pull, "opened")
  await waitUntil(() => last(pull)?.state === "success", { describe: () => at.aicr.log })
  return pull
}

/** Runs a command of the service with its configuration. Returns what it prints. */
export const command = async (at: Installation, ...words: ReadonlyArray<string>) => {
  const { code, err, out } = await runAicr([...words, "--config", join(at.directory, "config.yaml")])
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${err}`)
  return out
}
