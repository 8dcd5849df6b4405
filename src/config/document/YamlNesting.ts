/** Finds text that is nested too deeply before it is parsed: the parser takes quadratic time for it. Pure. */
import { CST, Lexer } from "yaml"

/** A configuration needs about ten levels. */
const maxNesting = 100

type Level = "open" | "close" | "indicator" | "line"

const levels: Readonly<Partial<Record<CST.TokenType, Level>>> = {
  "flow-map-start": "open",
  "flow-seq-start": "open",
  "flow-map-end": "close",
  "flow-seq-end": "close",
  "seq-item-ind": "indicator",
  "explicit-key-ind": "indicator",
  "map-value-ind": "indicator",
  newline: "line"
}

/** Marks of the lexer, which are no part of the text. */
const isMark = (token: string): boolean => token === CST.DOCUMENT || token === CST.FLOW_END || token === CST.SCALAR

/**
 * Returns the position of the first bracket, or list or map within a line, at a deeper level than the maximum. Levels of
 * indentation need no limit: each makes all lines of the next one longer.
 */
export const nestedTooDeeply = (text: string): number | undefined => {
  let at = 0
  let brackets = 0
  let indicators = 0
  let last = ""
  for (const token of new Lexer().lex(text)) {
    const type = last === CST.SCALAR ? null : CST.tokenType(token)
    const level = type === null ? undefined : levels[type]
    if (level === "open") brackets++
    else if (level === "close") brackets = Math.max(0, brackets - 1)
    else if (level === "line") indicators = 0
    else if (level === "indicator" && brackets === 0) indicators++
    if (brackets + indicators > maxNesting) return at
    if (!isMark(token)) at += token.length
    last = token
  }
  return undefined
}
