/**
 * Rules of a review on the real process: an author who opens a pull request onto a branch of their own, with rules of their own on it,
 * is reviewed by the rules of the default branch, or of the base where the host protects it.
 */
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { renderContent, toFilePath, Installation, namesIn } from "../harness/Installation.ts"

const repository = "team/one"
let at: Installation

beforeAll(async () => {
  at = await Installation.make({ queue: "memory" })
  const file = join(at.directory, "config.yaml")
  const document = parse(await readFile(file, "utf8"))
  document.review.commit_strategy = "head_only"
  await writeFile(file, stringify(document))
  await at.forge.push(repository, {
    branch: "main",
    message: "Rules",
    files: {
      "AGENTS.md": "The rule of main holds.\n",
      ".aicr/skills/all.md": "The skill of main holds.\n",
      ".aicr/rules/all.md": "The check of main holds.\n"
    }
  })
  await at.aicr.start()
})
afterAll(() => at[Symbol.asyncDispose]())

const own = (name: string) => ({
  "AGENTS.md": `The rule of ${name} holds.\n`,
  ".aicr/skills/all.md": `The skill of ${name} holds.\n`,
  ".aicr/rules/all.md": `The check of ${name} holds.\n`,
  ".aicr/rules/own.md": `The check of ${name} holds.\n`,
  ".cursor/rules/own.mdc": `The rule of ${name} holds.\n`,
  "REVIEW.md": `The rule of ${name} holds.\n`,
  ".aicrignore": "src/\n"
})

/** Opens a pull request from `head` that adds a file, after a commit with rules of its own. */
const reviewed = async (head: string, baseBranch: string) => {
  await at.forge.push(repository, { branch: head, from: baseBranch, message: "Own rules", files: own(head) })
  await at.forge.push(repository, {
    branch: head,
    message: "Code",
    files: { [toFilePath(head)]: renderContent(head, 1) }
  })
  const pull = await at.forge.createPull(repository, { headBranch: head, baseBranch, title: `Add ${head}` })
  await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  return at.model.requests.find((request) => namesIn(request).includes(head))?.text ?? ""
}

it("come from the default branch where the author owns the base and its first commits", async () => {
  await at.forge.push(repository, { branch: "mine", from: "main", message: "Rules of mine", files: own("mine") })
  const asked = await reviewed("evil", "mine")
  expect(asked).toContain("The rule of main holds.")
  expect(asked).toContain("The skill of main holds.")
  expect(asked).toContain("- all (medium): The check of main holds.")
  expect(asked).not.toMatch(/The (rule|skill|check) of (mine|evil) holds\./)
})

it("come from the current state of a base branch that the host protects", async () => {
  await at.forge.push(repository, { branch: "release", from: "main", message: "Start of release", files: { a: "a\n" } })
  at.forge.repository(repository).protectedBranches.add("release")
  const files = { "AGENTS.md": "The rule of release holds.\n" }
  await at.forge.push(repository, { branch: "fix", from: "release", message: "Begin", files: { "b.txt": "b\n" } })
  await at.forge.push(repository, { branch: "release", message: "Rules of release", files })
  const asked = await reviewed("fix", "release")
  expect(asked).toContain("The rule of release holds.")
  expect(asked).not.toMatch(/The (rule|skill|check) of fix holds\./)
})
