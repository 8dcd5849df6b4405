/**
 * Number and size of the passes of a change. Passes are read at the same time, so a change of more than a few thousand tokens is
 * split to be reviewed sooner. Every pass repeats the system prompt, most of it from the provider's cache, so they are no smaller than
 * that is worth. Pure.
 */

export interface PassSize {
  readonly passes: number
  /** Tokens that a pass has at most; the planned ones have about the same size. */
  readonly maxTokens: number
}

/** Size of the passes of a change that is only split to be reviewed sooner. */
const smallTokens = 5_000
const smallPasses = 4
/**
 * Size of the passes of a larger change, up to the number that is read at the same time, and above it. A provider starts with that many
 * calls; one more would wait for a whole call, so passes become a little larger first.
 */
const usualTokens = 10_000
const usualPasses = 8
const mostTokens = 20_000
const largeTokens = 16_000
/** Share of a pass that remains free where whole files are placed. */
const packing = 0.9

export const passSize = (
  /** Tokens of the change. */
  tokens: number,
  /** Tokens of the change that one pass can hold. */
  room: number,
  /** `review.max_passes`. */
  maxPasses: number
): PassSize => {
  const small = Math.min(smallPasses, Math.ceil(tokens / smallTokens))
  const usual = Math.min(usualPasses, Math.ceil(tokens / usualTokens))
  const large = tokens <= usualPasses * mostTokens ? 0 : Math.ceil(tokens / largeTokens)
  const wanted = Math.max(small, usual, large)
  const needed = tokens <= room ? 1 : Math.ceil(tokens / (room * packing))
  const passes = Math.max(1, Math.min(maxPasses, Math.max(wanted, needed)))
  return { passes, maxTokens: Math.min(room, Math.max(largeTokens, Math.ceil((tokens / passes) * 1.25))) }
}

/** Returns the tokens of a change that can be read in all passes together. */
export const computeCapacity = (room: number, maxPasses: number): number =>
  maxPasses === 1 ? room : Math.floor(room * maxPasses * packing)
