/** Summaries of the service on a pull request: comments, or the texts of reviews. */
import type { DemoPull } from "../../demo/DemoForgeState.ts"

export const isSummary = ({ body }: { readonly body: string }): boolean => body.includes('"fp":"summary"')

export const listSummaries = ({ comments, reviews }: DemoPull): ReadonlyArray<{ readonly id: number; body: string }> =>
  [...comments, ...reviews].filter(isSummary)
