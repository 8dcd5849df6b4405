/**
 * Returns the lines of a diff around positions of findings. Reads the text once, in linear time, and returns at most a fixed number of
 * characters. A file whose path the diff quotes has no lines. Pure.
 */
import type { Anchor } from "../domain/Problem.ts"

/** Lines shown on each side of a position. */
const linesAround = 12
const maxLine = 300

type Place = Pick<Anchor, "line" | "path" | "side">

const hunkStart = /^@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@/

export const diffAround = (diff: string, places: ReadonlyArray<Place>, maxCharacters: number): string => {
  const rows: Array<string> = []
  let room = maxCharacters
  let path: string | undefined
  let wanted: ReadonlyArray<Place> = []
  let [old, next] = [0, 0]
  let isInHunk = false
  let shownPath: string | undefined
  for (let from = 0; from < diff.length && room > 0;) {
    const newline = diff.indexOf("\n", from)
    const end = newline < 0 ? diff.length : newline
    const line = diff.slice(from, Math.min(end, from + maxLine))
    from = end + 1
    if (line.startsWith("diff --git ")) {
      isInHunk = false
      path = undefined
      wanted = []
      continue
    }
    if (!isInHunk && (line.startsWith("--- a/") || line.startsWith("+++ b/"))) {
      path = line.slice(6).trimEnd()
      wanted = places.filter((place) => place.path === path)
      continue
    }
    const start = hunkStart.exec(line)
    if (start !== null) {
      isInHunk = true
      ;[old, next] = [Number(start[1]), Number(start[2])]
      continue
    }
    if (!isInHunk) continue
    const mark = line[0]
    const isNear = wanted.some(({ line: at, side }) => Math.abs((side === "old" ? old : next) - at) <= linesAround)
    if (isNear) {
      const heading = shownPath === path ? [] : [`file ${path}`]
      shownPath = path
      const row = `${mark === "-" ? old : next} ${line}`
      rows.push(...heading, row)
      room -= row.length + 1
    }
    if (mark !== "+") old += 1
    if (mark !== "-") next += 1
  }
  return rows.join("\n").slice(0, maxCharacters)
}
