/** Summaries of the service on a pull request: comments, or the texts of reviews. */
import type { DemoComment, DemoPull, DemoReview } from "../../demo/DemoForgeState.ts"

export const isSummary = ({ body }: Pick<DemoComment, "body">): boolean => body.includes('"fp":"summary"')

export const listSummaries = ({ comments, reviews }: DemoPull): ReadonlyArray<DemoComment | DemoReview> =>
  [...comments, ...reviews].filter(isSummary)
