/**
 * Rounds of one pull request, from the delivery to the host: what a later round invents about lines that were read is folded in the summary and
 * nowhere else, and a rebase starts no round.
 */
import { expect, it } from "vitest"
import { adminEnv, AdminSession } from "../harness/AdminSession.ts"
import { review } from "../harness/FakeModel.ts"
import type { Recorded } from "../harness/FakeModel.ts"
import { Installation, listStates, namesIn, toFilePath } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

const file = toFilePath("app")
const marked = (name: string): string => `export const ${name} = "marker-${name}-end"`
const first = ["export const first = 1", marked("one"), marked("two"), marked("three"), "export const last = 1", ""]

const repaired = first.with(1, "export const one = 1")
/** Reports a marker of each shown line, once it has a severity. */
const reporting = (severities: Readonly<Record<string, string>>) => (request: Recorded) =>
  review(
    namesIn(request).flatMap((name) => {
      const severity = severities[name]
      const quote = marked(name)
      return severity === undefined
        ? []
        : [{ file, severity, category: "bug", title: `Problem of ${name}`, message: `Wrong in ${name}.`, quote }]
    }),
    "Adds exports."
  )

it("late findings are folded in the summary, and a rebase starts no round", async () => {
  await using at = await Installation.make({
    queue: "memory",
    env: adminEnv,
    review: { status_check: true, status_fail_on: "medium" }
  })
  await at.aicr.start()
  const push = (lines: ReadonlyArray<string>, from?: string) =>
    at.forge.push("team/one", {
      branch: "app",
      ...(from === undefined ? {} : { from }),
      message: "Change",
      files: { [file]: lines.join("\n") }
    })
  const newest = () => (pull.repository.statuses.get(pull.head) ?? []).at(-1)
  const ends = (state: string) =>
    waitUntil(() => listStates(pull).at(-1) === state, { timeout: 60_000, describe: () => at.aicr.log })
  const comments = () => pull.reviews.flatMap((one) => one.comments.map(({ body }) => /Problem of \w+/.exec(body)?.[0]))
  const summary = () => pull.comments.at(-1)?.body ?? ""

  at.model.script(reporting({ one: "medium" }))
  await push(first, "main")
  const pull = await at.forge.createPull("team/one", { headBranch: "app", title: "Add app" })
  await at.forge.notify(pull, "opened")
  await ends("failure")
  expect(comments()).toEqual(["Problem of one"])
  expect(summary()).toMatch(/^## Code review\n/)

  // The first finding is repaired. The model invents one on a line that it read, and misses nothing new.
  at.model.script(reporting({ two: "medium" }))
  await push(repaired)
  await at.forge.notify(pull, "synchronized")
  await ends("success")
  expect(newest()?.description).toBe("No problems found")
  expect(comments()).toEqual(["Problem of one"])
  expect(summary()).toMatch(/^## Code review · round 2\n/)
  expect(summary()).toContain("<summary>Found late, on lines that an earlier round read: 1 medium</summary>")
  expect(summary()).toMatch(/^- 🟠 Medium · .*Problem of two/m)
  const posts = pull.comments.length + pull.reviews.length

  at.model.script(reporting({ two: "medium", three: "high", four: "medium" }))
  await push([...repaired.slice(0, 5), marked("four"), ""])
  await at.forge.notify(pull, "synchronized")
  await ends("failure")
  expect(comments().toSorted()).toEqual(["Problem of four", "Problem of one", "Problem of three"])
  const missed = pull.reviews.flatMap((one) => one.comments).find(({ body }) => body.includes("Problem of three"))
  expect(missed?.body).toContain("missed in round 1")
  expect(pull.comments.length + pull.reviews.length).toBe(posts + 1)

  // The base moves, and the change is rebased on it: the same patch.
  const calls = at.model.requests.length
  await at.forge.push("team/one", { branch: "main", message: "Base", files: { "README.md": "# More\n" } })
  await push([...repaired.slice(0, 5), marked("four"), ""], "main")
  await at.forge.notify(pull, "synchronized")
  await ends("failure")
  expect(newest()?.description).toBe("1 high, 1 medium")
  expect(at.model.requests).toHaveLength(calls)
  expect(summary()).toMatch(/^## Code review · round 3\n/)
  expect(pull.comments.length + pull.reviews.length).toBe(posts + 1)

  at.forge.setPermission("team/one", "erin", "write")
  await at.forge.send(
    at.forge.delivery({ kind: "comment", pull, body: "/aicr review full", sender: at.forge.user("erin") })
  )
  await waitUntil(() => comments().includes("Problem of two"), { timeout: 60_000, describe: () => at.aicr.log })
  await at.settled()

  const admin = await AdminSession.open(at.aicr.url)
  const runs = await admin.items("/runs?status=succeeded&repo=team/one&number=1")
  expect(runs.map(({ late, round }) => [round, late])).toEqual([
    [4, 0],
    [3, 1],
    [3, 1],
    [2, 1],
    [1, 0]
  ])
  const { body } = await admin.get(`/runs/${String(runs[2]?.["id"])}`)
  expect(body).toMatchObject({
    late_findings: [{ title: "Problem of two", round: { kind: "late", since: 2, missed: 1 } }]
  })
  expect(JSON.stringify(body)).not.toContain('"marks"')
  expect(at.aicr.log).toMatch(/"round":2,"late":1/)
}, 240_000)
