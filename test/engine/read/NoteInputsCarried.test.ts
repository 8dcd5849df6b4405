/** The rules in the statement of a review that does not read files again are those with which they were read. */
import { expect, it } from "vitest"
import { digestText } from "../../../src/domain/RuleDigests.ts"
import type { Analysis } from "../../../src/domain/Analysis.ts"
import { lines, startRounds } from "../Rounds.ts"

const older = digestText("Be kind.\n")
const newer = digestText("Be strict.\n")

const digestIn = ({ inputs }: Analysis) => inputs?.rules.find(({ name }) => name === "AGENTS.md")?.sha256

it("they stay the older ones until every file is read with the present ones", async () => {
  const change = startRounds({ "AGENTS.md": ["Be kind."], "src/a.ts": [""], "src/b.ts": [""] })
  const first = await change.push({ "src/a.ts": lines("alpha") })
  expect(digestIn(first.analysis)).toBe(older)

  change.moveBase({ "AGENTS.md": ["Be strict."] })
  const same = await change.again()
  expect(same.briefs).toEqual([])
  expect(digestIn(same.analysis)).toBe(older)
  expect(same.analysis.inputs?.rules).toHaveLength(first.analysis.inputs?.rules.length ?? 0)

  const pushed = await change.push({ "src/b.ts": lines("beta", 3) })
  expect(pushed.briefs).toHaveLength(1)
  expect(digestIn(pushed.analysis)).toBe(older)

  const whole = await change.again({ rereads: true })
  expect(whole.briefs.length).toBeGreaterThan(0)
  expect(digestIn(whole.analysis)).toBe(newer)
})
