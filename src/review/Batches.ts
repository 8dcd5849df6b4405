/**
 * Splits a change into passes that fit a model: files in reading order, a file that is too large by
 * hunks, a hunk that is too large by lines. Every line of every file is in exactly one batch. Pure.
 */
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { hunkTokens } from "./RenderDiff.ts"
import { countTokens } from "./Tokens.ts"
import { riskTier } from "./Risk.ts"

/** Order of files that no commit shows: after the patches of commits, which are in commit order. */
const afterCommits = Number.MAX_SAFE_INTEGER

const testTier = 2

interface PlacedFile {
  readonly file: FileDiff
  readonly tier: number
  /** Folder of the file; of a test, the folder of the file that it tests, if the change has that. */
  readonly folder: string
  /** Name without extensions and marks of tests. */
  readonly stem: string
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1)

const stemOf = (path: string): string => {
  const name = path.slice(path.lastIndexOf("/") + 1)
  const [first = name] = name.startsWith(".") ? [name] : name.split(".", 1)
  return first.toLowerCase().replace(/^(?:tests?|specs?)_|[_-]?(?:tests?|specs?)$/, "")
}

/**
 * Order in which the files of a change are read: the riskiest folders first, the files of a folder together, and a test next to
 * what it tests, so that related files are in one pass. Patches of commits keep the order of their commits. Pure.
 *
 * Returns the files in reading order, each with the folder that it is read with.
 */
const inReadingOrder = (
  files: ReadonlyArray<FileDiff>
): ReadonlyArray<{ readonly file: FileDiff; readonly folder: string }> => {
  const tiers = files.map((file) => riskTier(file))
  const sources = new Map<string, string>()
  for (const [at, { path }] of files.entries()) {
    if ((tiers[at] ?? 0) < testTier && !sources.has(stemOf(path))) sources.set(stemOf(path), folderOf(path))
  }
  const placed = files.map((file, at): PlacedFile => {
    const tier = tiers[at] ?? 0
    const stem = stemOf(file.path)
    const folder = (tier === testTier ? sources.get(stem) : undefined) ?? folderOf(file.path)
    return { file, tier, folder, stem }
  })
  const ranks = new Map<string, number>()
  for (const { folder, tier } of placed) ranks.set(folder, Math.min(tier, ranks.get(folder) ?? tier))
  const rank = ({ folder }: PlacedFile) => ranks.get(folder) ?? 0
  const stemTiers = new Map<string, number>()
  const stemKey = ({ folder, stem }: PlacedFile) => `${folder}\0${stem}`
  for (const one of placed) stemTiers.set(stemKey(one), Math.min(one.tier, stemTiers.get(stemKey(one)) ?? one.tier))
  const stemRank = (one: PlacedFile) => stemTiers.get(stemKey(one)) ?? one.tier
  return placed.toSorted(
    (a, b) =>
      (a.file.commit?.index ?? afterCommits) - (b.file.commit?.index ?? afterCommits) ||
      rank(a) - rank(b) ||
      compare(a.folder, b.folder) ||
      stemRank(a) - stemRank(b) ||
      compare(a.stem, b.stem) ||
      a.tier - b.tier ||
      compare(a.file.path, b.file.path)
  )
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

interface BatchFile {
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
/** Share by which a pass may be over the planned size where this keeps the files of a folder together. */
const stretch = 1.25

interface OpenBatch {
  readonly files: Array<BatchFile>
  tokens: number
  /** Folder of the last file. */
  folder: string
}

/** Splits the files into batches of at most `maxTokens`, which have about the same size where `passes` of them are planned. */
export const planBatches = (
  files: ReadonlyArray<FileDiff>,
  maxTokens: number,
  wholeFiles: ReadonlyMap<string, string> = new Map(),
  passes = 1
): ReadonlyArray<FileBatch> => {
  const unshown = new Map(wholeFiles)
  const batches: Array<OpenBatch> = []
  const sized = inReadingOrder(files).map(({ file, folder }) => {
    const heading =
      headingTokens + countTokens(file.path) + countTokens(`${file.oldPath ?? ""}${file.commit?.title ?? ""}`)
    const room = Math.max(256, maxTokens - heading)
    const { whole, wholeTokens } = companion(unshown.get(file.path), room)
    unshown.delete(file.path)
    return { file, folder, heading, whole, pieces: piecesOf(file, room, wholeTokens) }
  })
  const costOf = ({ heading, pieces }: (typeof sized)[number]) =>
    pieces.reduce((sum, { tokens }) => sum + tokens + heading, 0)
  let remaining = sized.reduce((sum, file) => sum + costOf(file), 0)
  let planned = remaining / passes
  for (const { file, folder, heading, whole, pieces } of sized) {
    for (const [index, { hunks, tokens }] of pieces.entries()) {
      const cost = tokens + heading
      let open = batches.at(-1)
      if (open === undefined || isFull(open, cost, maxTokens, folder, batches.length < passes ? planned : undefined)) {
        planned = remaining / Math.max(1, passes - batches.length)
        open = { files: [], tokens: 0, folder }
        batches.push(open)
      }
      const part = pieces.length > 1 ? { index: index + 1, of: pieces.length } : undefined
      open.files.push({
        file: part === undefined ? file : { ...file, hunks },
        part,
        whole: index === 0 ? whole : undefined
      })
      open.tokens += cost
      open.folder = folder
      remaining -= cost
    }
  }
  return batches
}

/** Whether the next file goes to another batch. `planned` is the size of this one if more are planned. */
const isFull = (open: OpenBatch, cost: number, maxTokens: number, folder: string, planned: number | undefined) => {
  if (open.tokens + cost > maxTokens) return true
  if (planned === undefined) return false
  const size = open.folder === folder ? planned * stretch : planned
  // Closer to the planned size without the file than with it.
  return open.tokens + cost / 2 > size
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
export const splitHunk = (
  hunk: Hunk,
  room: number
): ReadonlyArray<{ readonly hunk: Hunk; readonly tokens: number }> => {
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
