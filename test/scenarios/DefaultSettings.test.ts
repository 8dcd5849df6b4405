/**
 * Reviews by one node with the default settings, which the tests share: what is visible without findings, what of the change is in the prompt, and that
 * a review that was paid for is not paid for again, even if its head was superseded before anything of it was published.
 */
import { beforeEach, expect, it } from "vitest"
import { review } from "../harness/FakeModel.ts"
import { honest, listStates, markedLine, namesIn, toFilePath } from "../harness/Installation.ts"
import { startedInstallation } from "../harness/StartedInstallation.ts"

const installation = startedInstallation({ queue: "memory" })

beforeEach(() => {
  const at = installation()
  at.model.script(honest)
  at.host.onRequest = () => undefined
})

it("a clean first review writes the status only, a clean later one brings the summary up to date", async () => {
  const at = installation()
  at.model.script(() => review([], "All fine."))
  const pull = await at.open("clean")
  await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  await at.settled()
  expect(at.posted(pull)).toEqual({ reviews: [], comments: [], summaries: 0 })
  expect(listStates(pull)).toEqual(["pending", "success"])

  at.model.script(honest)
  await at.push("clean", 2)
  await at.forge.notify(pull, "synchronized")
  await at.reviewed(pull)
  expect(at.posted(pull)).toMatchObject({ summaries: 1 })
  expect(pull.comments[0]?.body).toContain("1 problem")

  at.model.script(() => review([], "All fine."))
  await at.push("clean", 3)
  await at.forge.notify(pull, "synchronized")
  await at.reviewed(pull)
  await at.settled()
  expect(at.posted(pull)).toMatchObject({ summaries: 1 })
  expect(pull.comments[0]?.body).toContain("No problems found.")
}, 120_000)

it("the title of a closed issue and commit messages are in the prompt", async () => {
  const at = installation()
  const issue = { number: 12, title: "The total is wrong", body: "secret body", state: "open", html_url: "" }
  at.host.onRequest = ({ path }) =>
    path.endsWith("/repos/team/one/issues/12")
      ? { kind: "answer", answer: { status: 200, body: { id: 1, ...issue, user: { id: 2, login: "mallory" } } } }
      : undefined
  const pull = await at.open("closing")
  pull.description = "Fixes #12, fixes #13."
  await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  await at.settled()
  const text = at.model.requests.find((request) => namesIn(request).includes("closing"))?.text ?? ""
  expect(text).toMatch(/<closed-issues (\w{24})>\\n#12: The total is wrong\\n<\/closed-issues \1>/)
  expect(text).toMatch(/<commit-messages (\w{24})>\\n  Version 1\\n<\/commit-messages \1>/)
  expect(text).not.toContain("secret body")
})

it("carries findings of an overtaken head into the review of the newest one", async () => {
  const at = installation()
  const pull = await at.open("change")
  const earlier = at.model.requests.length
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
  expect(at.model.requests.slice(earlier).map(namesIn)).toEqual([["change"], ["more"]])
})
