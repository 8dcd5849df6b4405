/** Work on how much of a change is shown word for word. */
import { tokensWithin } from "../../review/Compress.ts"
import type { FitState } from "./FitState.ts"
import { shownFiles } from "./ReadState.ts"
import type { ReadState } from "./ReadState.ts"

export const makeFitWork = (read: ReadState, fit: FitState) => ({
  /** Tokens of what is to be shown; undefined where they are more than `most`. */
  tokensWithin: (most: number): number | undefined => {
    fit.files = shownFiles(read)
    return tokensWithin(fit.files, most)
  }
})
