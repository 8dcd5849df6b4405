/**
 * Splits a change into passes that fit a model: files in order of risk, neighbours together, a file that is too large by
 * hunks, a hunk that is too large by lines. Every line of every file is in exactly one batch. Pure.
 */
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { renderHeading, renderHunk } from "./RenderDiff.ts"
import { riskTier } from "./Risk.ts"
import { estimateTokens } from "./Tokens.ts"

export interface BatchFile {
  readonly file: FileDiff
  /** As the model reads it. */
  readonly text: string
}

export interface Batch {
  readonly files: ReadonlyArray<BatchFile>
  readonly tokens: number
}

export interface BatchPlan {
  readonly batches: ReadonlyArray<Batch>
  /** Lines that are shown in part because they are extremely long. */
  readonly cutLines: number
}

interface Piece extends BatchFile {
  readonly tokens: number
}

export const planBatches = (files: ReadonlyArray<FileDiff>, maxTokens: number): BatchPlan => {
  const ordered = files
    .map((file) => ({ file, tier: riskTier(file) }))
    .toSorted((a, b) => a.tier - b.tier || (a.file.path < b.file.path ? -1 : a.file.path > b.file.path ? 1 : 0))
  const batches: Array<{ files: Array<BatchFile>; tokens: number }> = []
  let cutLines = 0
  let open: { files: Array<BatchFile>; tokens: number } | undefined
  for (const { file } of ordered) {
    const pieces = piecesOf(file, maxTokens)
    cutLines += pieces.cutLines
    for (const piece of pieces.list) {
      if (open === undefined || open.tokens + piece.tokens > maxTokens) {
        open = { files: [], tokens: 0 }
        batches.push(open)
      }
      open.files.push({ file: piece.file, text: piece.text })
      open.tokens += piece.tokens
    }
  }
  return { batches, cutLines }
}

const piecesOf = (
  file: FileDiff,
  maxTokens: number
): { readonly list: ReadonlyArray<Piece>; readonly cutLines: number } => {
  const headingTokens = estimateTokens(renderHeading(file, { index: 99, of: 99 }))
  const room = Math.max(64, maxTokens - headingTokens)
  let cutLines = 0
  const groups: Array<{ hunks: Array<Hunk>; text: string; tokens: number }> = []
  for (const hunk of file.hunks) {
    for (const part of splitHunk(hunk, room)) {
      const rendered = renderHunk(part)
      cutLines += rendered.cutLines
      const tokens = estimateTokens(rendered.text)
      const last = groups.at(-1)
      if (last === undefined || last.tokens + tokens > room) {
        groups.push({ hunks: [part], text: rendered.text, tokens })
      } else {
        last.hunks.push(part)
        last.text += rendered.text
        last.tokens += tokens
      }
    }
  }
  if (groups.length === 0) groups.push({ hunks: [], text: "", tokens: 0 })
  const list = groups.map(({ hunks, text, tokens }, index) => {
    const heading = renderHeading(file, groups.length > 1 ? { index: index + 1, of: groups.length } : undefined)
    return { file: { ...file, hunks }, text: `${heading}${text}\n`, tokens: tokens + headingTokens + 1 }
  })
  return { list, cutLines }
}

/** Cuts a hunk between lines so that each part renders within `room` tokens (a single line may still be over). */
const splitHunk = (hunk: Hunk, room: number): ReadonlyArray<Hunk> => {
  const whole = estimateTokens(renderHunk(hunk).text)
  if (whole <= room || hunk.lines.length < 2) return [hunk]
  const parts: Array<Hunk> = []
  let start = { at: 0, old: hunk.oldStart, new: hunk.newStart }
  let next = start
  let tokens = 0
  // Numbers, mark and header of a part, rounded up.
  const lineCost = (line: string) => estimateTokens(line.slice(0, 4200)) + 8
  const close = () => {
    if (next.at === start.at) return
    parts.push({
      ...hunk,
      oldStart: start.old,
      newStart: start.new,
      oldLines: next.old - start.old,
      newLines: next.new - start.new,
      lines: hunk.lines.slice(start.at, next.at)
    })
    start = next
    tokens = 0
  }
  for (const line of hunk.lines) {
    const cost = lineCost(line)
    if (tokens > 0 && tokens + cost + 32 > room) close()
    tokens += cost
    next = { at: next.at + 1, old: next.old + (line[0] === "+" ? 0 : 1), new: next.new + (line[0] === "-" ? 0 : 1) }
  }
  close()
  return parts
}
