/**
 * Decides whether two descriptions are about the same problem, by the words that they share: for labels of public sets
 * that have no line. An approximation that needs no model and gives the same result every time. Pure.
 */

const maxText = 4000
/** Words of fewer letters say little. */
const minLetters = 4
const minShared = 3
/** Minimum share of the words of the shorter text. */
const minShare = 0.3

/** Words that occur in descriptions of every problem. */
const common = new Set(
  "about after again because before being cause causes change changed code could does error every fails first from function have into line method more must never only other should shown that their them then there these they this those value when where which while will with without would wrong".split(
    " "
  )
)

/** Returns the distinct words, in lower case; names are split at capitals, digits and underscores. */
const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .slice(0, maxText)
      .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, " ")
      .toLowerCase()
      .split(/[^\p{L}]+/u)
      .filter((word) => word.length >= minLetters && !common.has(word))
  )

export const isSameSubject = (a: string, b: string): boolean => {
  const [left, right] = [wordsOf(a), wordsOf(b)]
  const shared = left.intersection(right).size
  return shared >= minShared && shared >= minShare * Math.min(left.size, right.size)
}
