/** The review of the next commit records the outcome of a published problem, and `aicr eval --recorded` reports it. */
import { join } from "node:path"
import { expect, it } from "vitest"
import { toFilePath, Installation } from "../harness/Installation.ts"
import { runAicr } from "../harness/RunAicr.ts"

const recorded = (...args: ReadonlyArray<string>) => runAicr(["eval", "--recorded", ...args])

it("a problem that a later commit removed counts as fixed", async () => {
  await using at = await Installation.make({ queue: "memory" })
  await at.aicr.start()
  const config = ["--config", join(at.directory, "config.yaml")]
  const fixed = await at.open("fixed")
  const left = await at.open("left")
  for (const pull of [fixed, left]) await at.forge.notify(pull, "opened")
  await at.reviewed(fixed, left)
  await at.settled()
  const before = await recorded("--json", ...config)
  expect(JSON.parse(before.out).all).toMatchObject({ findings: 2, fixed: 0, open: 2, resolution_rate: 0 })

  await at.forge.push("team/one", {
    branch: "fixed",
    message: "Fix it",
    files: { [toFilePath("fixed")]: "export const first = 1\nexport const last = 1\n" }
  })
  await at.forge.notify(fixed, "synchronized")
  await at.reviewed(fixed)
  await at.settled()
  const after = await recorded("--json", ...config)
  expect(JSON.parse(after.out).all).toEqual({
    findings: 2,
    fixed: 1,
    dismissed: 0,
    open: 1,
    partly: 0,
    withdrawn: 0,
    moved_away: 0,
    open_at_merge: 0,
    changed_later: 0,
    replied: 0,
    resolution_rate: 0.5,
    interval: { low: expect.closeTo(0.0945, 3), high: expect.closeTo(0.9055, 3) }
  })
  const { out } = await recorded(...config)
  expect(out).toMatch(/team\/one +native-llm +\S+ +2 +1 +0 +0 +0 +0 +0 +1 +0 +0 +50\.0 % +9\.5 % to 90\.5 %\n$/)
  const lines = (await recorded("--lines", ...config)).out.trimEnd().split("\n")
  expect(lines.map((line) => JSON.parse(line).outcome).toSorted()).toEqual(["fixed", "open"])
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ category: "bug", severity: "high", replied: false })
  const refused = await recorded("--demo", ...config)
  expect([refused.code, refused.err]).toEqual([
    2,
    expect.stringContaining("--recorded reviews nothing: leave out --demo")
  ])
})
