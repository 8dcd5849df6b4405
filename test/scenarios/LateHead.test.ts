/** The host names the head of a pull request from a fork before its repository has the commit. */
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { expect, it } from "vitest"
import { git } from "../../demo/DemoForgeGit.ts"
import { Installation, renderContent, toFilePath } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

it("a head that git serves some seconds later is reviewed in the first attempt", async () => {
  await using at = await Installation.make({ queue: "sqlite", attempts: 1 })
  await at.aicr.start()
  const pull = await at.open("late")
  const fork = await at.forge.createRepository("dana/one")
  await git(fork.directory, ["fetch", "--quiet", pull.repository.directory, "main:main"])
  const head = await at.forge.push("dana/one", {
    branch: "late",
    from: "main",
    message: "In the fork",
    files: { [toFilePath("late")]: renderContent("late", 7) }
  })
  Object.assign(pull, { head, headRepository: fork })
  await at.forge.notify(pull, "opened")
  await waitUntil(() => at.aicr.log.includes("review waits for a server"), {
    timeout: 30_000,
    describe: () => at.aicr.log
  })
  await git(pull.repository.directory, ["fetch", "--quiet", fork.directory, `+late:refs/pull/${pull.number}/head`])
  await at.reviewed(pull)
  expect(at.posted(pull)).toMatchObject({ reviews: [head], summaries: 1 })
  await waitUntil(() => at.unfinished().length === 0, { describe: () => at.unfinished().join() })
  using database = new DatabaseSync(join(at.directory, "aicr.db"), { readOnly: true })
  expect(database.prepare("SELECT status FROM runs").all()).toEqual([{ status: "succeeded" }])
}, 90_000)
