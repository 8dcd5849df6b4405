/**
 * Removes repeated sentences of a model: models sometimes repeat a sentence until their output ends. Sentences and lines count, outside of code
 * and in upper or lower case; short ones may occur again. Pure, linear in the length of the text.
 */
import { fenceAfter } from "../domain/CodeFence.ts"

/** Shorter parts, such as items of a list of names, are kept. */
const minLength = 24

const isSpace = (char: string | undefined): boolean => char === undefined || char === " " || char === "\t"

/** Returns the sentences of a line, each with the space before it. */
const sentencesOf = (line: string): ReadonlyArray<string> => {
  const sentences: Array<string> = []
  let from = 0
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? ""
    const isEnd = "。！？".includes(char) || (".!?".includes(char) && isSpace(line[at + 1]))
    if (!isEnd) continue
    sentences.push(line.slice(from, at + 1))
    from = at + 1
  }
  return from < line.length ? [...sentences, line.slice(from)] : sentences
}

export const withoutRepetition = (text: string): string => {
  const seen = new Set<string>()
  const isNew = (part: string): boolean => {
    const key = part.trim().toLowerCase()
    if (key.length < minLength) return true
    const isFirst = !seen.has(key)
    seen.add(key)
    return isFirst
  }
  let fence: string | undefined
  let isCut = false
  const kept: Array<string> = []
  for (const line of text.split("\n")) {
    const next = fenceAfter(fence, line)
    const isCode = fence !== undefined || next !== undefined
    fence = next
    if (isCode) {
      kept.push(line)
      continue
    }
    const sentences = sentencesOf(line)
    const some = sentences.filter(isNew)
    isCut ||= some.length < sentences.length
    if (some.length === sentences.length) kept.push(line)
    else if (some.length > 0) kept.push(some.join(""))
  }
  return isCut ? kept.join("\n").trimEnd() : text
}
