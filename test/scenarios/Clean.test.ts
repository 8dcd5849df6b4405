/** Visible effects of reviews without findings, with the default settings. */
import { expect, it } from "vitest"
import { review } from "../harness/FakeModel.ts"
import { honest, Installation, listStates } from "../harness/Installation.ts"

it("a clean first review writes the status only, a clean later one brings the summary up to date", async () => {
  await using at = await Installation.make({ queue: "memory" })
  await at.aicr.start()
  at.model.script(() => review([], "All fine."))
  const pull = await at.open("change")
  await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  await at.settled()
  expect(at.posted(pull)).toEqual({ reviews: [], comments: [], summaries: 0 })
  expect(listStates(pull)).toEqual(["pending", "success"])

  at.model.script(honest)
  await at.push("change", 2)
  await at.forge.notify(pull, "synchronized")
  await at.reviewed(pull)
  expect(at.posted(pull)).toMatchObject({ summaries: 1 })
  expect(pull.comments[0]?.body).toContain("1 problem")

  at.model.script(() => review([], "All fine."))
  await at.push("change", 3)
  await at.forge.notify(pull, "synchronized")
  await at.reviewed(pull)
  await at.settled()
  expect(at.posted(pull)).toMatchObject({ summaries: 1 })
  expect(pull.comments[0]?.body).toContain("No problems found.")
}, 120_000)
