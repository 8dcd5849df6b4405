/** A sample of `npm run bench -- outcomes`: outcomes of findings at the end of generated changes, with real version control. */
import { expect, it } from "vitest"
import { settleHistories } from "./SettleHistories.ts"

/** The files of a shelf are gone when it is submitted, so that whether a repair was in them is not known any more. */
const isUnknown = (kind: string, event: string) =>
  kind === "shelf" && event === "repaired before, and the repair reverted"

it.each([
  ["git", 40],
  ["perforce", 4],
  ["shelf", 4]
] as const)(
  "findings of histories in %s become what happened",
  async (kind, count) => {
    const { settled } = await settleHistories(kind, 1, count)
    expect(settled.length).toBeGreaterThan(count)
    expect(settled.filter(({ event, state, truth }) => state !== truth && !isUnknown(kind, event))).toEqual([])
  },
  120_000
)
