/**
 * The order in which passes begin. All begin with the same text (tools, system prompt, common part), so the others wait until the first
 * one begins: providers then have that text in their cache.
 */
import { Effect } from "effect"
import { sharedPrompt } from "../../agent/SharedPrompt.ts"
import type { PlannedPass } from "./PlanPasses.ts"

/** Number of passes from which the cached text is worth the wait. */
const minPasses = 3

export const inCacheOrder = (passes: ReadonlyArray<PlannedPass>): ReadonlyArray<PlannedPass> => {
  if (passes.length < minPasses) return passes
  const { begin, begun } = sharedPrompt()
  return passes.map((pass, index) => ({
    ...pass,
    brief:
      index === 0
        ? Effect.map(pass.brief, (brief) => ({ ...brief, onBegin: begin }))
        : Effect.tap(pass.brief, () => begun)
  }))
}
