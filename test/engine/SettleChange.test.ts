/** A sample of `npm run bench -- outcomes`: outcomes of findings at the end of generated changes, with real version control. */
import { expect, it } from "vitest"
import { settleHistories } from "./SettleHistories.ts"

it.each([
  ["git", 40],
  ["perforce", 4]
] as const)(
  "findings of histories in %s become what happened",
  async (kind, count) => {
    const { settled } = await settleHistories(kind, 1, count)
    expect(settled.length).toBeGreaterThan(count)
    expect(settled.filter(({ state, truth }) => state !== truth)).toEqual([])
  },
  120_000
)
