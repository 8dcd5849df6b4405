/** Work on the size of the part of a change that is shown verbatim. */
import { rankHunks, tokensWithin } from "../../review/Compress.ts"
import type { FitState } from "./FitState.ts"
import { shownFiles } from "./ReadState.ts"
import type { ReadState } from "./ReadState.ts"

export const makeFitWork = (read: ReadState, fit: FitState) => ({
  /** Takes the files, those at `whole` as a whole and not commit by commit, and counts their tokens or, where they are more than the passes can ever hold, ranks their hunks. */
  prepareFit: (most: number, whole: ReadonlyArray<string>): void => {
    fit.files = shownFiles(read, whole)
    if (tokensWithin(fit.files, most) === undefined) fit.ranked = rankHunks(fit.files)
  },
  /** Returns the tokens of the change; undefined where they are more than `most`. */
  tokensWithin: (most: number): number | undefined => tokensWithin(fit.files, most)
})
