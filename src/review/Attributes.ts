/** Parses `linguist-generated` of `.gitattributes`, in the syntax of git; the last line that matches decides. Pure. */
import { compilePaths } from "../domain/PathPatterns.ts"
import type { PathPattern } from "../domain/PathPatterns.ts"

const maxLines = 1000
const maxPattern = 256
/** Characters of all patterns. */
const maxCharacters = 32_768

/** Returns undefined where no line sets the attribute of the path. */
export type GeneratedAttribute = (path: string) => boolean | undefined

export const generatedAttribute = (text: string): GeneratedAttribute => {
  const patterns: Array<PathPattern> = []
  const values: Array<boolean | undefined> = []
  let room = maxCharacters
  for (const line of text.split(/\r?\n/)) {
    const [pattern = "", ...attributes] = line.split(/[ \t]+/).filter((word) => word !== "")
    const named = attributes.findLast((word) => /^[-!]?linguist-generated(?:=|$)/.test(word))
    room -= named === undefined ? 0 : pattern.length
    if (named === undefined || pattern.startsWith("#") || pattern.length > maxPattern) continue
    if (room < 0 || patterns.length >= maxLines) break
    patterns.push(patternOf(pattern))
    values.push(valueOf(named))
  }
  const compiled = compilePaths(patterns)
  return (path) => values[compiled.last(path)]
}

const patternOf = (written: string): PathPattern => {
  const bare = written.startsWith("/") ? written.slice(1) : written
  return { text: written.includes("/") ? bare : `**/${bare}` }
}

const valueOf = (attribute: string): boolean | undefined =>
  attribute.startsWith("!") ? undefined : !(attribute.startsWith("-") || attribute.endsWith("=false"))
