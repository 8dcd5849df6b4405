/**
 * `position.line_range` as GitLab's page reads it: both ends are found by their line codes in the diff of the file, and
 * the comment appears on the last one. GitLab stores codes that fit no line and shows no range then; here they are
 * refused, so tests notice.
 */
import { createHash } from "node:crypto"
import type { DiffFile, DiffLine } from "../../demo/DemoForgeDiff.ts"
import { field, isNumber, isObject, isText } from "./Fields.ts"

const known = new Set(["line_code", "type", "old_line", "new_line"])
const types = { added: "new", removed: "old", context: undefined } as const

/** Returns the lines of a hunk by their codes. A line that is absent on a side does not advance the counter of that side. */
const codesOf = (path: string, { header, lines }: DiffFile["hunks"][number]): ReadonlyArray<string> => {
  const digest = createHash("sha1").update(path).digest("hex")
  const [, old = "0", now = "0"] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(header) ?? []
  let counters = { old: Number(old), new: Number(now) }
  return lines.map(({ kind }) => {
    const code = `${digest}_${counters.old}_${counters.new}`
    const { old: before, new: after } = counters
    counters = { old: before + Number(kind !== "added"), new: after + Number(kind !== "removed") }
    return code
  })
}

const isEnd = (end: object | undefined, line: DiffLine | undefined): boolean => {
  if (end === undefined || line === undefined || Object.keys(end).some((key) => !known.has(key))) return false
  const numbers = [field(end, "old_line", isNumber), field(end, "new_line", isNumber)]
  const given = numbers.some((number) => number !== undefined)
  return (
    field(end, "type", isText) === types[line.kind] &&
    (!given || (numbers[0] === line.oldLine && numbers[1] === line.newLine))
  )
}

/** First line of the range; undefined where the ends are not two lines of one hunk, in order, the last one being `last`. */
export const startOfRange = (
  files: ReadonlyArray<DiffFile>,
  path: string,
  range: object,
  last: DiffLine
): DiffLine | undefined => {
  const [start, end] = [field(range, "start", isObject), field(range, "end", isObject)]
  for (const hunk of files.find((file) => file.path === path)?.hunks ?? []) {
    const codes = codesOf(path, hunk)
    const places = [start, end].map((one) => codes.indexOf(field(one, "line_code", isText) ?? ""))
    const [from = -1, to = -1] = places
    if (from < 0 || to <= from || hunk.lines[to] !== last) continue
    const first = hunk.lines[from]
    return isEnd(start, first) && isEnd(end, last) ? first : undefined
  }
  return undefined
}
