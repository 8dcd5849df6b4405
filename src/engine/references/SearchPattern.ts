/**
 * Patterns of models: RE2 syntax, which takes time in proportion to the text, within bounds for the size of the pattern. Pure.
 */
import { createRequire } from "node:module"
import type { CodeHit, PatternRefused } from "../../agent/CodeSearch.ts"

export interface SearchPattern {
  /** A line that the pattern matches contains at least one of these. */
  readonly texts: ReadonlyArray<string>
  /** Returns where the match in a line starts, or -1. */
  readonly indexIn: (line: string) => number
}

/** Loaded with the first search, because every thread of a change loads this module. */
const load = (): typeof import("re2js") => createRequire(import.meta.url)("re2js")

/** Instructions of the compiled pattern, each of which may be tried at each character. */
const maxSize = 2000
/** Shorter texts are in too many files. */
const minText = 2
const maxTexts = 20
/** Characters of a line that are searched, and those that are shown of it. */
const maxColumns = 1000
const maxShown = 240
const shownBefore = 80

export const compileSearch = (pattern: string, ignoreCase: boolean): SearchPattern | PatternRefused => {
  const { RE2JS } = load()
  try {
    const sized = RE2JS.compile(pattern)
    if (sized.programSize() > maxSize) return { refused: "the pattern is too large; repeat fewer things in it" }
    const texts = textsOf(sized.re2Input.prefilter)
    if (texts === undefined || texts.length > maxTexts || texts.some((text) => text.length < minText)) {
      return {
        refused: `each match must contain at least ${minText} letters or signs of the pattern, so that files can be selected by them; ignore_case instead of (?i)`
      }
    }
    const compiled = ignoreCase ? RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE) : sized
    return {
      texts,
      indexIn: (line) => {
        const matcher = compiled.matcher(line.slice(0, maxColumns))
        return matcher.find() ? matcher.start() : -1
      }
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.slice(0, 200) : "not understood"
    return { refused: `the pattern is not in RE2 syntax (no look-around, no backreferences): ${why}` }
  }
}

/** Texts that the compiler requires of a text before it runs the pattern. */
interface Prefilter {
  readonly type: number
  readonly str: string
  readonly subs: ReadonlyArray<Prefilter>
}
const exact = 1
const all = 2
const any = 3

/** Returns texts of which each match contains at least one, the longest there are; undefined if there are none. */
const textsOf = (required: Prefilter | null | undefined): ReadonlyArray<string> | undefined => {
  switch (required?.type) {
    case exact:
      return /[\n\0]/.test(required.str) ? undefined : [required.str]
    case all:
      return required.subs
        .map(textsOf)
        .reduce((best, texts) => (shortest(texts) > shortest(best) ? texts : best), undefined)
    case any: {
      const texts = required.subs.map(textsOf)
      return texts.some((some) => some === undefined) ? undefined : texts.flatMap((some) => some ?? [])
    }
    default:
      return undefined
  }
}

const shortest = (texts: ReadonlyArray<string> | undefined): number =>
  texts === undefined ? 0 : Math.min(...texts.map(({ length }) => length))

/** Returns the lines that match, at most `most`, until `isOver`. */
export const findLines = (
  { indexIn }: Pick<SearchPattern, "indexIn">,
  text: string,
  most: number,
  isOver: () => boolean
): ReadonlyArray<CodeHit> => {
  const hits: Array<CodeHit> = []
  let line = 0
  for (let at = 0; at <= text.length && hits.length < most; line++) {
    const next = text.indexOf("\n", at)
    const end = next < 0 ? text.length : next
    const code = text.slice(at, Math.min(end, at + maxColumns))
    const index = indexIn(code)
    if (index >= 0) hits.push({ line: line + 1, text: shownOf(code, index) })
    if (isOver()) break
    at = end + 1
  }
  return hits
}

const shownOf = (code: string, index: number): string => {
  const plain = code.replace(/[\p{Cc}\u2028\u2029]/gu, " ")
  if (plain.trim().length <= maxShown) return plain.trim()
  const from = Math.max(0, index - shownBefore)
  const part = plain.slice(from, from + maxShown).trim()
  return `${from === 0 ? "" : "…"}${part}${from + maxShown < plain.length ? "…" : ""}`
}
