/** A dismissed finding counts nowhere from the next review on: not in the status, the summary, the records and the statistics. */
import { expect, it } from "vitest"
import { adminEnv, AdminSession } from "../harness/AdminSession.ts"
import { Installation, listStates, toFilePath } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

it("a review after a dismissal passes, and counts and lists the finding as dismissed only", async () => {
  await using at = await Installation.make({
    queue: "sqlite",
    env: adminEnv,
    review: { status_check: true, status_fail_on: "high" }
  })
  await at.aicr.start()
  at.forge.setPermission("team/one", "erin", "write")
  const pull = await at.open("dismissed")
  const newest = () => (pull.repository.statuses.get(pull.head) ?? []).at(-1)
  const ends = (state: string) =>
    waitUntil(() => listStates(pull).at(-1) === state, { timeout: 60_000, describe: () => at.aicr.log })
  await at.forge.notify(pull, "opened")
  await ends("failure")
  expect(newest()?.description).toBe("1 high")
  const comment = pull.reviews.flatMap(({ comments }) => comments).find(({ path }) => path === toFilePath("dismissed"))
  if (comment === undefined) throw new Error("no comment at the line")
  comment.resolver = at.forge.user("erin")
  await at.forge.send(at.forge.delivery({ kind: "comment", pull, body: "/aicr review", sender: at.forge.user("erin") }))
  await ends("success")
  expect(newest()?.description).toBe("No problems found, 1 dismissed")
  const summary = pull.comments.at(-1)?.body ?? ""
  expect(summary).not.toContain("1 problem found")
  expect(summary).toContain("**No problems found.** · 1 dismissed\n")
  expect(summary).toMatch(/^- \*\*1\*\* ~~🔴 High · .*Problem of dismissed.*~~ · dismissed$/m)

  // The review of a push reports it the same way.
  await at.forge.push("team/one", {
    branch: "dismissed",
    message: "More",
    files: { "src/other.ts": "export const a = 1\n" }
  })
  await at.forge.notify(pull, "synchronized")
  await ends("success")
  expect(newest()?.description).toBe("No problems found, 1 dismissed")
  await at.settled()

  const admin = await AdminSession.open(at.aicr.url)
  const runs = await admin.items("/runs?status=succeeded")
  expect(runs.map(({ findings }) => findings)).toEqual([0, 0, 1])
  expect((await admin.get(`/runs/${String(runs[0]?.["id"])}`)).body).toMatchObject({
    findings: [{ outcome: { status: "dismissed" } }]
  })
  expect((await admin.get("/stats")).body).toMatchObject({
    windows: { all: { findings: { published: 1, dismissed: 1, open: 0 }, problems: { high: 1 } } }
  })
}, 180_000)
