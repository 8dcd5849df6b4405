/** Suggests the nearest of several known words, if one is near enough. */

/** Returns the number of edits (insert, delete, replace, swap of neighbours) between two words, up to `limit`. */
const distance = (left: string, right: string, limit: number): number => {
  if (Math.abs(left.length - right.length) > limit) return limit + 1
  let before: Array<number> = []
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const row = [i]
    for (let j = 1; j <= right.length; j++) {
      const cost = left[i - 1] === right[j - 1] ? 0 : 1
      let best = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + cost)
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1])
        best = Math.min(best, (before[j - 2] ?? 0) + 1)
      row[j] = best
    }
    before = previous
    previous = row
  }
  return previous[right.length] ?? 0
}

/** Returns the known word nearest to a mistyped one, in quotes: at most a third of its letters wrong, ignoring case and `-`/`_`. */
export const suggest = (word: string, known: Iterable<string>): string | undefined => {
  if (word.length > 64) return undefined
  const fold = (text: string): string => text.toLowerCase().replaceAll("-", "_")
  const folded = fold(word)
  let best: string | undefined
  let nearest = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of known) {
    const edits = distance(folded, fold(candidate), nearest)
    if (edits < nearest) [best, nearest] = [candidate, edits]
  }
  return best === undefined ? undefined : JSON.stringify(best)
}
