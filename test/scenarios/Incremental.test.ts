/** A review that was paid for is not paid for again, even if its head was superseded before anything of it was published. */
import { expect, it } from "vitest"
import { toFilePath, honest, Installation, markedLine, namesIn } from "../harness/Installation.ts"

it("carries findings of an overtaken head into the review of the newest one", async () => {
  await using at = await Installation.make({ queue: "memory" })
  await at.aicr.start()
  const pull = await at.open("change")
  at.model.script(async (request) => {
    at.model.script(honest)
    await at.forge.push("team/one", {
      branch: "change",
      message: "More",
      files: { [toFilePath("more")]: 'export const first = 1\nexport const marked = "marker-more-end"\n' }
    })
    return honest(request)
  })

  await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  await at.settled()

  expect(at.posted(pull)).toEqual({
    reviews: [pull.head],
    comments: [`${toFilePath("change")}:${markedLine}`, `${toFilePath("more")}:${markedLine}`],
    summaries: 1
  })
  expect(at.model.requests.map(namesIn)).toEqual([["change"], ["more"]])
})
