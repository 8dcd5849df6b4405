/**
 * Compares titles of findings by n-grams of their words: the order of words, endings and names of code make no difference. Pure, linear in the
 * length of a title.
 */

/** Characters of a title that are read. */
const maxTitle = 300
/** Characters of words without which a title describes no kind of problem. */
const minWords = 4
/** Dice coefficient from which titles have the same wording. */
const minSimilarity = 0.72

export type TitleGrams = ReadonlySet<string>

/** Returns the n-grams of the words of a title; undefined if nothing but names of code is left of it. */
export const gramsOfTitle = (title: string): TitleGrams | undefined => {
  const words = listWords(title)
  if (words.reduce((sum, word) => sum + word.length, 0) < minWords) return undefined
  return new Set(words.flatMap(listGrams))
}

/** Returns whether two titles have the same wording. */
export const haveSameWording = (a: TitleGrams, b: TitleGrams): boolean => {
  const [few, many] = a.size < b.size ? [a, b] : [b, a]
  let spare = few.size - (minSimilarity * (a.size + b.size)) / 2
  for (const gram of few) {
    if (spare < 0) return false
    if (!many.has(gram)) spare--
  }
  return spare >= 0
}

/** Returns the different words in lower case, without code in backticks, names of code, digits and small words. */
const listWords = (title: string): ReadonlyArray<string> => {
  const text = title
    .slice(0, maxTitle)
    .split("`")
    .filter((_, at) => at % 2 === 0)
    .join(" ")
  const words = text.split(/[\s,;:!?"'“”‘’，。；：！？、（）]+/u).flatMap((token) => {
    const end = token.length - (/[.)]$/.test(token) ? 1 : 0)
    const word = token.slice(token.startsWith("(") ? 1 : 0, end)
    return /^\p{Lu}?[\p{Ll}\p{Lo}\p{M}]+(?:-[\p{Ll}\p{Lo}]+)*$/u.test(word) ? [word.toLowerCase()] : []
  })
  return [...new Set(words)].filter((word) => !small.has(word))
}

const isIdeographic = (char: string): boolean => /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(char)

/** Returns trigrams of an alphabetic word with its ends, and characters and bigrams of a script that does not separate words. */
const listGrams = (word: string): ReadonlyArray<string> => {
  const chars = [...word]
  if (chars.some(isIdeographic)) return chars.flatMap((char, at) => [char, `${char}${chars[at + 1] ?? ""}`])
  const padded = [" ", ...chars, " "]
  return chars.map((_, at) => padded.slice(at, at + 3).join(""))
}

const small = new Set(
  "a an the is are be can may of in on at to for and or by with from it this that not no".split(" ")
)
