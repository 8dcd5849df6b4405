/**
 * Splits a change into passes that fit a model: files in order of risk, neighbours together, a file that is too large by
 * hunks, a hunk that is too large by lines. Every line of every file is in exactly one batch. Pure.
 */
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { hunkTokens } from "./RenderDiff.ts"
import { riskTier } from "./Risk.ts"
import { countTokens } from "./Tokens.ts"

export interface BatchFile {
  /** The file with the hunks of this batch only. */
  readonly file: FileDiff
  /** Position of this part where a file is spread over several batches or parts. */
  readonly part: { readonly index: number; readonly of: number } | undefined
  /** The whole file at the head, where it was requested and fits in addition to its diff. */
  readonly whole: string | undefined
}

export interface FileBatch {
  readonly files: ReadonlyArray<BatchFile>
  /** Estimate for the whole batch after rendering. */
  readonly tokens: number
}

interface Piece {
  readonly hunks: Array<Hunk>
  tokens: number
}

/** Tokens of a heading or a hunk header, excluding its names. */
const headingTokens = 32
/** Order of files that no commit shows: after the patches of commits, which are in commit order. */
const afterCommits = Number.MAX_SAFE_INTEGER

export const planBatches = (
  files: ReadonlyArray<FileDiff>,
  maxTokens: number,
  wholeFiles: ReadonlyMap<string, string> = new Map()
): ReadonlyArray<FileBatch> => {
  const tiers = new Map<FileDiff, number>()
  for (const file of files) {
    tiers.set(file, riskTier(file))
  }
  const ordered = files.toSorted(
    (a, b) =>
      (a.commit?.index ?? afterCommits) - (b.commit?.index ?? afterCommits) ||
      (tiers.get(a) ?? 0) - (tiers.get(b) ?? 0) ||
      (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)
  )
  const unshown = new Map(wholeFiles)
  const batches: Array<{ files: Array<BatchFile>; tokens: number }> = []
  let open: { files: Array<BatchFile>; tokens: number } | undefined
  for (const file of ordered) {
    const heading =
      headingTokens + countTokens(file.path) + countTokens(`${file.oldPath ?? ""}${file.commit?.title ?? ""}`)
    const room = Math.max(256, maxTokens - heading)
    const { whole, wholeTokens } = companion(unshown.get(file.path), room)
    unshown.delete(file.path)
    const pieces = piecesOf(file, room, wholeTokens)
    for (const [index, { hunks, tokens }] of pieces.entries()) {
      const cost = tokens + heading
      if (open === undefined || open.tokens + cost > maxTokens) {
        open = { files: [], tokens: 0 }
        batches.push(open)
      }
      const part = pieces.length > 1 ? { index: index + 1, of: pieces.length } : undefined
      open.files.push({
        file: part === undefined ? file : { ...file, hunks },
        part,
        whole: index === 0 ? whole : undefined
      })
      open.tokens += cost
    }
  }
  return batches
}

/** A whole file uses at most half of a pass. The model reads a larger one with its tools. */
const companion = (text: string | undefined, room: number) => {
  if (text === undefined) return { whole: undefined, wholeTokens: 0 }
  let wholeTokens = headingTokens
  for (let at = 0; at < text.length && wholeTokens * 2 <= room;) {
    const end = endOfBlock(text, at)
    wholeTokens += countTokens(text.slice(at, end))
    at = end
  }
  return wholeTokens * 2 > room ? { whole: undefined, wholeTokens: 0 } : { whole: text, wholeTokens }
}

/** Lines are counted together as far as this, and a long one in parts: counting takes longer than reading. */
const blockLength = 4096

const endOfBlock = (text: string, at: number): number => {
  const most = at + blockLength
  if (most >= text.length) return text.length
  const breaks = text.lastIndexOf("\n", most - 1)
  return breaks < at ? most : breaks + 1
}

const piecesOf = (file: FileDiff, room: number, first: number): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = [{ hunks: [], tokens: first }]
  for (const hunk of file.hunks) {
    for (const { hunk: part, tokens } of splitHunk(hunk, room)) {
      const last = pieces.at(-1)
      if (last === undefined || (last.tokens > 0 && last.tokens + tokens > room)) {
        pieces.push({ hunks: [part], tokens })
      } else {
        last.hunks.push(part)
        last.tokens += tokens
      }
    }
  }
  return pieces
}

/** Cuts a hunk between lines so that each part fits `room` (a single line may still be over). */
const splitHunk = (hunk: Hunk, room: number): ReadonlyArray<{ readonly hunk: Hunk; readonly tokens: number }> => {
  const parts: Array<{ hunk: Hunk; tokens: number }> = []
  const header = headingTokens + countTokens(hunk.section)
  let start = { at: 0, old: hunk.oldStart, new: hunk.newStart }
  const next = { ...start }
  let tokens = header
  const costs = hunkTokens(hunk)
  const whole = hunk.lines
  const close = () => {
    const oldLines = next.old - start.old
    const newLines = next.new - start.new
    const lines = whole.slice(start.at, next.at)
    const part = { ...hunk, oldStart: start.old, newStart: start.new, oldLines, newLines, lines }
    parts.push({ hunk: part, tokens })
    start = { ...next }
    tokens = header
  }
  for (let index = 0; index < whole.length; index++) {
    const line = whole[index] ?? ""
    const cost = costs[index] ?? 0
    if (next.at > start.at && tokens + cost > room) close()
    tokens += cost
    next.at++
    if (line[0] !== "+") next.old++
    if (line[0] !== "-") next.new++
  }
  if (start.at === 0) return [{ hunk, tokens }]
  close()
  return parts
}
