/** A model reports a problem in a form that cannot be read, and does not correct it: nothing that people see passes over it. */
import { expect, it } from "vitest"
import { review } from "../harness/FakeModel.ts"
import { Installation, namesIn, toFilePath } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"
import { command } from "../harness/SharedHeads.ts"

const printStory = async (at: Installation, number: number) => {
  return command(at, "why", `team/one#${number}`)
}

it("a report that stays refused leaves no success: status, summary and aicr why say so", async () => {
  await using at = await Installation.make({ queue: "sqlite", review: { status_fail_on: "medium" } })
  at.model.script((request) => {
    // Without a severity it is refused; the request for a correction gets no call.
    const problem = { file: toFilePath("change"), category: "bug", message: "Wrong.", quote: "marker-change-end" }
    const isRefused = request.text.includes("severity: missing") || request.text.includes("tool_call_id")
    return namesIn(request).length > 0 && !isRefused ? review([problem]) : { text: "Done." }
  })
  await at.aicr.start()
  const pull = await at.open("change")
  await at.forge.notify(pull, "opened")
  const statuses = () => pull.repository.statuses.get(pull.head) ?? []
  await waitUntil(() => (statuses().at(-1)?.state ?? "pending") !== "pending", { describe: () => at.aicr.log })
  await waitUntil(() => at.unfinished().length === 0, { describe: () => at.aicr.log })
  expect(statuses().map(({ state }) => state)).not.toContain("success")
  const lost = "1 report of the model could not be read"
  expect(statuses().at(-1)?.description).toContain(lost)
  const texts = [...pull.comments, ...pull.reviews].map(({ body }) => body).join("\n")
  expect(texts).toContain(
    "No problems found in what could be used. Not everything that the model reported could be read."
  )
  expect(texts).not.toMatch(/No problems found(?! in what could be used)/)
  expect(texts).toContain(toFilePath("change"))
  expect(await printStory(at, pull.number)).toContain(lost)
}, 120_000)
