/**
 * Code without what its author writes to readers: comments become nothing, texts for people become `…`. Each line remains, also an empty one, so
 * that line numbers are those of the file. Where a part cannot be removed with certainty, there is no result. Pure.
 */
import { approvalIn, isForPeople, isTitle, titleContext } from "./BlindWords.ts"
import type { Stretch } from "./BlindWords.ts"
import { linesOfText } from "./HunkText.ts"

/** Kinds of marks, as the parsing thread numbers them (`src/engine/syntax/Prose.js`). */
const [comment, text, code, documentation, rest] = [0, 1, 2, 3, 4]

/** Replace characters of comments, and of texts for people, until the lines are made. */
const noComment = "\u{E001}"
const noText = "\u{E000}"
const [keeps, dropsComment, dropsText] = [0, 1, 2]

/** Times that all characters of a file may be covered by marks in marks. */
const maxDepth = 24

/** A text in code. */
interface CodeText extends Stretch {
  /** Code in it. */
  readonly inserted: Array<Stretch>
}

/**
 * Returns the text of a file with each hidden character replaced by a mark, so that offsets remain. `marks` are `from`, `to` and kind of each place
 * where the file speaks to readers, an outer one before those in it. Undefined where they are nested too deeply.
 */
export const blank = (content: string, marks: ReadonlyArray<number>): string | undefined => {
  const hidden = new Uint8Array(content.length)
  const texts = readTexts(marks)
  const forPeople = judge(content, texts)
  let work = content.length * maxDepth
  for (let at = 0; at < marks.length; at += 3) {
    const [from = 0, to = 0, kind] = marks.slice(at, at + 3)
    work -= to - from
    if (work < 0) return undefined
    if (kind === comment) hidden.fill(dropsComment, from, to)
    else if (kind === documentation) hide(hidden, innerOf(content, { from, to }))
    else if (kind === code) hidden.fill(keeps, from, to)
    else if (kind === rest && hidden[from] === keeps) hideRest(content, { from, to }, hidden)
    else if (kind === text && hidden[from] === keeps) {
      const one = texts.get(from)
      if (one !== undefined && forPeople.has(one)) hide(hidden, innerOf(content, one))
      else if (one !== undefined) hideApproval(content, one, hidden)
    }
  }
  return replaced(content, hidden)
}

const hide = (hidden: Uint8Array, { from, to }: Stretch): void => void hidden.fill(dropsText, from, to)

/** Returns the texts by their beginnings, with the code that is directly in them. */
const readTexts = (marks: ReadonlyArray<number>): ReadonlyMap<number, CodeText> => {
  const texts = new Map<number, CodeText>()
  const open: Array<{ readonly to: number; readonly text: CodeText | undefined }> = []
  for (let at = 0; at < marks.length; at += 3) {
    const [from = 0, to = 0, kind] = marks.slice(at, at + 3)
    while ((open.at(-1)?.to ?? to) < to || (open.at(-1)?.to ?? to) <= from) open.pop()
    const one = kind === text ? { from, to, inserted: [] } : undefined
    if (kind === code) open.at(-1)?.text?.inserted.push({ from, to })
    if (one !== undefined && !texts.has(from)) texts.set(from, one)
    open.push({ to, text: one })
  }
  return texts
}

/** Returns the texts that are for people. Texts that are put together in the code are judged together. */
const judge = (content: string, texts: ReadonlyMap<number, CodeText>): ReadonlySet<CodeText> => {
  const found = new Set<CodeText>()
  const groups: Array<Array<CodeText>> = []
  let last: CodeText | undefined
  for (const one of texts.values()) {
    const isJoined = last !== undefined && last.to <= one.from && joins(content, last.to, one.from)
    if (isJoined) groups.at(-1)?.push(one)
    else groups.push([one])
    last = one
  }
  for (const group of groups) {
    const isNamed = group.some(({ from }) => isTitle(content.slice(Math.max(0, from - titleContext), from)))
    if (!isNamed && !isForPeople(group.map((one) => wordsOf(content, one)).join(""))) continue
    for (const one of group) found.add(one)
  }
  return found
}

const maxJoin = 200

const joins = (content: string, from: number, to: number): boolean =>
  to - from <= maxJoin && /^[\s+.\\]*$/.test(content.slice(from, to))

/** Returns the words of a text, without the code in it. */
const wordsOf = (content: string, one: CodeText): string => {
  const inner = innerOf(content, one)
  let at = inner.from
  let words = ""
  for (const { from, to } of one.inserted) {
    words += `${content.slice(at, Math.max(at, from))} `
    at = to
  }
  return words + content.slice(at, Math.max(at, inner.to))
}

const opening = /^[A-Za-z@$]{0,3}#{0,16}("""|'''|["'`])/
const maxOpening = 32

/** Returns a text without its quotes. */
const innerOf = (content: string, { from, to }: Stretch): Stretch => {
  const [start, quote] = opening.exec(content.slice(from, Math.min(to, from + maxOpening))) ?? []
  if (start === undefined || quote === undefined) return { from, to }
  const hashes = start.length - start.replaceAll("#", "").length
  const end = to - quote.length - hashes
  return end >= from + start.length && content.startsWith(quote, end)
    ? { from: from + start.length, to: end }
    : { from, to }
}

const hideApproval = (content: string, { from, to }: Stretch, hidden: Uint8Array): void => {
  for (const word of approvalIn(content.slice(from, to))) hidden.fill(dropsText, from + word.from, from + word.to)
}

const directive = /#\s{0,20}(?:error|warning|pragma|region|endregion)\b/
const maxDirective = 60

/** The rest of a directive of a preprocessor is not parsed: it may hold comments and texts, and some of them are messages. */
const hideRest = (content: string, { from, to }: Stretch, hidden: Uint8Array): void => {
  const given = content.slice(from, to)
  if (
    directive.test(
      content
        .slice(Math.max(0, from - maxDirective), from)
        .split("\n")
        .at(-1) ?? ""
    )
  ) {
    if (isForPeople(given)) return hide(hidden, { from, to })
  }
  let at = 0
  while (at < given.length) {
    if (given.startsWith("//", at)) return void hidden.fill(dropsComment, from + at, to)
    const end = given[at] === '"' ? endOfText(given, at) : at + 1
    if (end > at + 1) {
      const part = { from: from + at + 1, to: from + end - 1 }
      if (isForPeople(content.slice(part.from, part.to))) hide(hidden, part)
      else hideApproval(content, part, hidden)
    }
    at = end
  }
}

/** Returns the offset after the text that begins at a quote. */
const endOfText = (given: string, start: number): number => {
  for (let at = start + 1; at < given.length; at++) {
    if (given[at] === "\\") at++
    else if (given[at] === '"') return at + 1
  }
  return given.length
}

/** Characters of the file that are the marks are replaced too. */
const replaced = (content: string, hidden: Uint8Array): string => {
  const parts: Array<string> = []
  for (let from = 0, to = 0; from < content.length; from = to) {
    const mark = markAt(content, hidden, from)
    for (to = from + 1; to < content.length && markAt(content, hidden, to) === mark;) to++
    parts.push(mark === "" ? content.slice(from, to) : mark.repeat(to - from))
  }
  return parts.join("")
}

/** Returns the mark that replaces a character; "" where it remains. */
const markAt = (content: string, hidden: Uint8Array, at: number): string => {
  const character = content.charCodeAt(at)
  if (character === 10 || character === 13) return ""
  if (hidden[at] === dropsComment) return noComment
  return hidden[at] === dropsText || character === 0xe000 || character === 0xe001 ? noText : ""
}

/** Returns a line of a blanked text as a model reads it. */
const tidyLine = (line: string): string => {
  const [first = "", ...others] = line.split(noComment)
  let shown = first
  for (const other of others) {
    const next = other.trimStart()
    if (next === "") continue
    shown = shown.trim() === "" ? shown + next : `${shown.trimEnd()} ${next}`
  }
  return shown.replace(/\u{E000}+/gu, "…").trimEnd()
}

/** Returns a stretch of a blanked text as a model reads it. */
export const tidy = (blanked: string): string => linesOfText(blanked).map(tidyLine).join("\n")

/** Returns the lines of a blanked text as a model reads them. */
export const tidyLines = (blanked: string): ReadonlyArray<string> => linesOfText(blanked).map(tidyLine)
