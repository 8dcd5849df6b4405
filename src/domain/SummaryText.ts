/** The summary of a review: that of the model, or what is concluded without one. */
import type { Reason } from "./Reason.ts"

/** Returns the summary, in Markdown. `show` makes the text of a reason. */
export const summaryText = (
  { conclusion, summary = "" }: { readonly conclusion?: Reason | undefined; readonly summary?: string | undefined },
  show: (reason: Reason) => string
): string => (conclusion === undefined ? summary : show(conclusion))
