/** A quote as a model gives it, in the readings that are worth a search, most literal first. Pure. */
import { squeeze } from "./CodeText.ts"

export interface QuoteReading {
  /** Lines without carriage returns, no blank ones at either end. */
  readonly lines: ReadonlyArray<string>
  /** The same without white space, and without lines that are blank. */
  readonly squeezed: ReadonlyArray<string>
  /** Side that the marks of the quote indicate. */
  readonly side: "new" | "old" | undefined
}

const maxLines = 400

export const readQuote = (quote: string): ReadonlyArray<QuoteReading> => {
  const lines = trimBlank(unfence(quote.replace(/\r\n?/g, "\n").split("\n"))).slice(0, maxLines)
  if (lines.length === 0) return []
  const readings = [reading(lines, undefined)]
  // `12-: code`: copied with the numbers of the prompt, or of a tool.
  const numbered = lines.flatMap((line) => withoutGutter(line) ?? [])
  if (numbered.length === lines.length) {
    const marks = numbered.map(({ mark }) => mark)
    readings.push(reading(trimBlank(numbered.map(({ code }) => code)), sideOf(marks)))
  }
  // `+code`: copied with the marks of a diff.
  if (lines.every((line) => line === "" || /^[+\- ]/.test(line)) && lines.some((line) => /^[+-]/.test(line))) {
    readings.push(reading(trimBlank(lines.map((line) => line.slice(1))), sideOf(lines.map((line) => line[0]))))
  }
  return readings.filter(({ squeezed }) => squeezed.length > 0)
}

/** A line after its number and the mark of a diff. Undefined for a line without such a gutter. */
const withoutGutter = (line: string): { readonly mark: string | undefined; readonly code: string } | undefined => {
  const [gutter, mark] = /^ {0,8}\d{1,9}([+-]?):(?: |$)/.exec(line) ?? []
  return gutter === undefined ? undefined : { mark, code: line.slice(gutter.length) }
}

const sideOf = (marks: ReadonlyArray<string | undefined>): "new" | "old" | undefined => {
  const added = marks.includes("+")
  const removed = marks.includes("-")
  return added === removed ? undefined : added ? "new" : "old"
}

const reading = (lines: ReadonlyArray<string>, side: "new" | "old" | undefined): QuoteReading => ({
  lines,
  squeezed: lines.map(squeeze).filter((line) => line !== ""),
  side
})

const unfence = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const trimmed = trimBlank(lines)
  const fenced = trimmed.length > 2 && /^\s*```/.test(trimmed[0] ?? "") && /^\s*```\s*$/.test(trimmed.at(-1) ?? "")
  return fenced ? trimmed.slice(1, -1) : trimmed
}

const trimBlank = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  let start = 0
  let end = lines.length
  while (start < end && lines[start]?.trim() === "") start++
  while (end > start && lines[end - 1]?.trim() === "") end--
  return lines.slice(start, end)
}
