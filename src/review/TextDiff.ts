/**
 * Computes the change between two texts as one hunk: common lines at both ends are unchanged, all between is removed
 * and added. For files that git does not compare by lines; fast for any text, and no added line is missing. Pure.
 */
import type { FileDiff, FileHeader, Hunk } from "./FileDiff.ts"

const context = 3

export const diffTexts = (file: FileHeader, before: string, after: string): FileDiff => {
  const [old, now] = [linesOf(before), linesOf(after)]
  const shorter = Math.min(old.lines.length, now.lines.length)
  let head = 0
  while (head < shorter && old.lines[head] === now.lines[head]) head++
  let tail = 0
  while (tail < shorter - head && old.lines.at(-1 - tail) === now.lines.at(-1 - tail)) tail++
  const removed = old.lines.slice(head, old.lines.length - tail)
  const added = now.lines.slice(head, now.lines.length - tail)
  const start = Math.max(0, head - context)
  const above = now.lines.slice(start, head)
  const below = now.lines.slice(now.lines.length - tail, now.lines.length - tail + context)
  const sides = above.length + below.length
  const hunk: Hunk = {
    oldStart: old.lines.length === 0 ? 0 : start + 1,
    oldLines: removed.length + sides,
    newStart: now.lines.length === 0 ? 0 : start + 1,
    newLines: added.length + sides,
    section: "",
    lines: [
      ...above.map((line) => ` ${line}`),
      ...removed.map((line) => `-${line}`),
      ...added.map((line) => `+${line}`),
      ...below.map((line) => ` ${line}`)
    ],
    openEnd: { old: old.isOpen && tail <= context, new: now.isOpen && tail <= context }
  }
  const isSame = removed.length + added.length === 0
  return {
    ...file,
    binary: false,
    hunks: isSame ? [] : [hunk],
    additions: added.length,
    deletions: removed.length,
    bytes: isSame ? 0 : hunk.lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
  }
}

const linesOf = (text: string) => {
  const lines = text.split("\n")
  const isOpen = lines.at(-1) !== ""
  return { lines: isOpen ? lines : lines.slice(0, -1), isOpen: isOpen && text !== "" }
}
