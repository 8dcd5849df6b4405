/**
 * Forms in which models send values: each function returns the value that a person would read in it, undefined if there is none.
 * Pure, in linear time.
 */
import { Severity } from "../../domain/Kinds.ts"
import type { Side } from "../../domain/Problem.ts"
import { truncate } from "../../domain/Text.ts"

/** Parses JSON text, also in a code fence, and JSON text in JSON text. Other values are returned as they are. */
export const parseJson = (given: unknown): unknown => {
  let value = given
  for (let depth = 0; depth < 3 && typeof value === "string"; depth++) {
    try {
      value = JSON.parse(unfence(value))
    } catch {
      // The text is not JSON, so it is the value.
      return value
    }
  }
  return value
}

/** Removes a code fence around the whole text. */
export const unfence = (text: string): string => {
  const trimmed = text.trim()
  const [fence] = /^(?:`{3,}|~{3,})/.exec(trimmed) ?? []
  const begin = trimmed.indexOf("\n")
  const end = trimmed.lastIndexOf("\n")
  const isFenced = fence !== undefined && begin > 0 && trimmed.slice(end + 1).trim() === fence
  return isFenced ? trimmed.slice(begin + 1, Math.max(begin + 1, end)) : text
}

/** Joins a list of texts. Undefined for anything but texts, and for blank ones. */
export const readText = (given: unknown, separator: string): string | undefined => {
  const parts = (Array.isArray(given) ? given : [given]).filter((part) => part !== null)
  if (!parts.every((part) => typeof part === "string")) return undefined
  const text = parts.join(separator)
  return text.trim() === "" ? undefined : text
}

/** Cuts a text at a limit, with a visible mark. */
export const cutText = (text: string, max: number): string => {
  if (text.length <= max) return text
  const mark = `… [cut: ${text.length} characters]`
  return `${truncate(text, max - mark.length).trimEnd()}${mark}`
}

/** Cuts code at the end of a line. */
export const cutLines = (code: string, max: number): string => {
  if (code.length <= max) return code
  const end = code.lastIndexOf("\n", max)
  return end > 0 ? code.slice(0, end) : truncate(code, max)
}

/** Characters of a value other than a text or code. */
const maxForm = 60

const maxLine = 10_000_000
const isLine = (line: number): boolean => Number.isInteger(line) && line >= 1 && line <= maxLine

interface LineRange {
  readonly first: number
  readonly last: number
}

/** Reads a line or a range: 11, "11", "L11", "20-21", "20:21", [20, 21]. */
export const readLines = (given: unknown): LineRange | undefined => {
  const parts = Array.isArray(given) ? given : [given]
  const text = parts.map((part) => (typeof part === "number" || typeof part === "string" ? part : "?")).join(",")
  if (text.length > maxForm) return undefined
  const [, first, last = first] =
    /^\s*(?:lines?\s*)?[L+#]?(\d{1,9})(?:\.0+)?(?:\s*(?:-|–|—|:|,|\.\.\.?|to)\s*[L+#]?(\d{1,9}))?\s*$/i.exec(text) ?? []
  const range = { first: Number(first), last: Number(last) }
  return first !== undefined && isLine(range.first) && isLine(range.last) && range.last >= range.first
    ? range
    : undefined
}

const sides: Readonly<Record<string, Side>> = {
  ...Object.fromEntries(["new", "right", "head", "after", "added", "add"].map((word) => [word, "new" as const])),
  ...Object.fromEntries(["old", "left", "base", "before", "removed", "deleted"].map((word) => [word, "old" as const]))
}

export const readSide = (given: unknown): Side | undefined =>
  typeof given === "string" ? sides[given.trim().toLowerCase()] : undefined

/** Words by the severity that they mean. */
const severityWords: Readonly<Record<Severity, ReadonlyArray<string>>> = {
  critical: ["critical", "crit", "blocker", "blocking", "fatal", "p0", "严重"],
  high: ["high", "major", "error", "serious", "severe", "important", "p1", "高"],
  medium: ["medium", "med", "moderate", "warning", "warn", "normal", "p2", "中"],
  low: ["low", "minor", "small", "p3", "低"],
  info: ["info", "information", "informational", "note", "notice", "hint", "nit", "nitpick", "trivial", "提示"]
}

/** Reads a severity in any case, between other words, or by a synonym. Of several the highest. */
export const readSeverity = (given: unknown): Severity | undefined => {
  const text = readText(given, " ")
  if (text === undefined || text.length > maxForm) return undefined
  const sent = new Set(text.toLowerCase().match(/\p{L}+\d?/gu))
  if (["no", "non", "not"].some((word) => sent.has(word))) return undefined
  return Severity.literals.findLast((severity) => severityWords[severity].some((word) => sent.has(word)))
}

const confidences: Readonly<Record<string, number>> = {
  certain: 1,
  "very high": 0.95,
  high: 0.9,
  medium: 0.6,
  moderate: 0.6,
  low: 0.3,
  "very low": 0.1
}

/** Reads 0.95, "0.95", 95, "95%", "high". A number from above 1 to 10 is of an unknown scale. */
export const readConfidence = (given: unknown): number | undefined => {
  const text = typeof given === "number" || typeof given === "string" ? String(given).trim().toLowerCase() : ""
  const named = confidences[text.replace(/[\s_-]+/g, " ")]
  if (named !== undefined) return named
  const [, digits, percent] = /^(\d{1,3}(?:\.\d{1,20})?)\s*(%?)$/.exec(text) ?? []
  if (digits === undefined) return undefined
  const number = Number(digits)
  if (percent === "" && number <= 1) return number
  return (percent === "%" || number > 10) && number <= 100 ? number / 100 : undefined
}
