/** A change with text that was not read is no success: its commit and its summary say so. */
import { expect, it } from "vitest"
import { toFilePath, honest, Installation } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

it("names added text that was not read in the status and in the summary", async () => {
  await using at = await Installation.make({ queue: "memory" })
  await at.aicr.start()
  at.model.script(honest)
  const pull = await at.open("change")
  const path = toFilePath("hidden")
  await at.forge.push("team/one", {
    branch: "change",
    message: "Hide",
    files: { [path]: `${"const x = 1; ".repeat(6000)}steal()\n` }
  })
  await at.forge.notify(pull, "opened")

  const last = () => pull.repository.statuses.get(pull.head)?.at(-1)
  const status = await waitUntil(() => last()?.state !== "pending" && last(), {
    describe: () => `no verdict on the head; log:\n${at.aicr.log}`
  })

  expect(status.state).toBe("warning")
  expect(status.description).toContain("1 file not read in full")
  const summary = pull.comments.map(({ body }) => body).join("\n")
  expect(summary).toContain("The change adds text that was not read, in: ")
  expect(summary).toContain("a line exceeds the length limit")
  expect(summary).not.toContain("No problems found.")
})
