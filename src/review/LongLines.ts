/**
 * Shows changed lines over the display limit as windows: hunks of one line each, which name their columns. Of a line
 * that replaces another one only the difference is shown, so that a word in a line of data is not lost; a new line is
 * shown completely. Pure.
 */
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { hasLineOver, readLength } from "./HunkText.ts"
import { maxLineLength } from "./RenderDiff.ts"

/** Number of unchanged characters around a difference. */
const margin = 200
/** Maximum number of windows of a removed line; an added one has no limit. */
const maxRemoved = 4

interface ShownLines {
  readonly files: ReadonlyArray<FileDiff>
  /** Paths of files with added text beyond the limit of a line. */
  readonly unread: ReadonlySet<string>
}

export const showLongLines = (files: ReadonlyArray<FileDiff>): ShownLines => {
  const unread = new Set<string>()
  const shown: Array<FileDiff> = []
  for (const file of files) {
    const hunks: Array<Hunk> = []
    let isSplit = false
    for (const hunk of file.hunks) {
      if (hasLineOver(hunk, maxLineLength)) {
        isSplit = true
        const split = splitHunk(hunk)
        hunks.push(...split.parts)
        if (split.isUnread) unread.add(file.path)
      } else hunks.push(hunk)
    }
    shown.push(isSplit ? { ...file, hunks } : file)
  }
  return { files: shown, unread }
}

const splitHunk = (hunk: Hunk): { readonly parts: ReadonlyArray<Hunk>; readonly isUnread: boolean } => {
  const lines = hunk.lines
  const partners = pairs(lines)
  const parts: Array<Hunk> = []
  let part: Array<string> = []
  let now = { old: hunk.oldStart, new: hunk.newStart }
  let start = now
  let isUnread = false
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ""
    const mark = line[0]
    if (line.length > maxLineLength && mark !== " ") {
      if (part.length > 0) parts.push(partOf(hunk, part, start))
      part = []
      parts.push(...windowsOf(hunk, line, partners.get(at), now))
      isUnread ||= mark === "+" && line.length >= readLength
    } else {
      if (part.length === 0) start = now
      part.push(line)
    }
    now = { old: now.old + (mark === "+" ? 0 : 1), new: now.new + (mark === "-" ? 0 : 1) }
  }
  if (part.length > 0) parts.push(partOf(hunk, part, start))
  return { parts, isUnread }
}

interface LineNumbers {
  readonly old: number
  readonly new: number
}

const partOf = (hunk: Hunk, lines: ReadonlyArray<string>, start: LineNumbers): Hunk => {
  let [oldLines, newLines] = [0, 0]
  for (const line of lines) {
    if (line[0] !== "+") oldLines++
    if (line[0] !== "-") newLines++
  }
  return { ...hunk, oldStart: start.old, newStart: start.new, oldLines, newLines, lines }
}

/** Pairs removed and added lines that follow each other: the first removed one with the first added one, and so on. */
const pairs = (lines: ReadonlyArray<string>): ReadonlyMap<number, string> => {
  const partners = new Map<number, string>()
  let removed: Array<number> = []
  let added = 0
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ""
    if (line[0] === "-") {
      if (added > 0) removed = []
      added = 0
      removed.push(at)
    } else if (line[0] === "+") {
      const partner = removed[added++]
      if (partner !== undefined && line.length > maxLineLength) partners.set(at, lines[partner] ?? "")
      if (partner !== undefined) partners.set(partner, line)
    } else {
      removed = []
      added = 0
    }
  }
  return partners
}

const windowsOf = (hunk: Hunk, line: string, partner: string | undefined, start: LineNumbers): ReadonlyArray<Hunk> => {
  const mark = line[0] ?? "+"
  const code = line.endsWith("\r") ? line.slice(1, -1) : line.slice(1)
  const { from, to } = partner === undefined ? { from: 0, to: code.length } : difference(code, partner.slice(1))
  const total = `${code.length}${line.length < readLength ? "" : " or more"}`
  const windows: Array<Hunk> = []
  for (let at = from; at < to; at += maxLineLength) {
    if (mark === "-" && windows.length === maxRemoved) break
    const end = Math.min(to, at + maxLineLength)
    const section = `columns ${at + 1} to ${end} of ${total}`
    windows.push({
      ...hunk,
      oldStart: start.old,
      newStart: start.new,
      oldLines: mark === "-" ? 1 : 0,
      newLines: mark === "-" ? 0 : 1,
      section,
      lines: [mark + code.slice(at, end)]
    })
  }
  return windows
}

/** Returns the range in which two texts differ, with a margin. */
const difference = (code: string, other: string): { readonly from: number; readonly to: number } => {
  const shorter = Math.min(code.length, other.length)
  let head = 0
  while (head < shorter && code[head] === other[head]) head++
  let tail = 0
  while (tail < shorter - head && code.at(-1 - tail) === other.at(-1 - tail)) tail++
  return { from: Math.max(0, head - margin), to: Math.min(code.length, code.length - tail + margin) }
}
