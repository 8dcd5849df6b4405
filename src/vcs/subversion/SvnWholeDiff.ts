/**
 * Reads both sides of many changed files with one command: a diff with whole files as context. `svn cat` connects to the server for each
 * file, so that this is several times faster. A file whose sides do not have the listed sizes, and one that svn treats as binary, is not
 * returned: it is read by itself.
 */
import { Effect } from "effect"
import type { SvnEnds } from "./SvnInfo.ts"
import { contentMillis, runSvn } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import { pegged } from "./SvnUrl.ts"

export interface BothSides {
  readonly from: Buffer
  readonly head: Buffer
}

/** Headers of a file in the diff. */
const headerBytes = 2048
/** Lines of context: svn takes memory and time for each in every file, so that longer files are read by themselves. */
const maxContext = 20_000

/**
 * Returns the files that the diff shows whole, by their paths; none if svn cannot. `all`: the number of changed files, the bytes
 * of both their sides, and those of the largest side. Lines of one byte are twice as long with their prefixes.
 */
export const readWholeDiff = Effect.fnUntraced(function* (
  session: SvnSession,
  { from, head }: SvnEnds,
  all: { readonly files: number; readonly bytes: number; readonly largest: number }
): Effect.fn.Return<ReadonlyMap<string, BothSides>> {
  if (from === undefined) return new Map()
  const ends = ["--old", pegged(from.url, from.revision), "--new", pegged(head.url, head.revision)]
  const diff = yield* runSvn(
    session,
    ["diff", "--internal-diff", "--ignore-properties", "-x", `-U ${Math.min(all.largest, maxContext)}`, ...ends],
    2 * all.bytes + all.files * headerBytes,
    contentMillis
  ).pipe(
    Effect.catch(({ message }) =>
      Effect.as(Effect.logDebug("changed files not read by one diff, reading each", { error: message }), undefined)
    )
  )
  return diff === undefined ? new Map() : parseWholeDiff(diff)
})

const newLine = 10
const carriageReturn = 13
const noNewLine = Buffer.from("\\ No newline at end of file")
const [unchanged, removed, added] = [32, 45, 43]

interface Hunk extends BothSides {
  readonly end: number
}

/** Parses a diff whose hunks are whole files. Files with several hunks, and those that cannot be read, are not in the result. Pure. */
export const parseWholeDiff = (diff: Buffer): ReadonlyMap<string, BothSides> => {
  const found = new Map<string, BothSides>()
  const cut = new Set<string>()
  let path = ""
  let at = 0
  while (at < diff.length) {
    const end = endOfHeader(diff, at)
    const line = diff.toString("utf8", at, end)
    at = end
    if (line.startsWith("Index: ")) path = line.slice("Index: ".length).replace(/\r?\n$/, "")
    const counts = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/.exec(line)
    if (counts === null) continue
    const [, oldStart, oldCount = "1", newStart, newCount = "1"] = counts
    const hunk = readHunk(diff, at, Number(oldCount), Number(newCount))
    if (hunk === undefined) return new Map()
    at = hunk.end
    if (found.has(path) || Number(oldStart) > 1 || Number(newStart) > 1) cut.add(path)
    found.set(path, hunk)
  }
  for (const one of cut) found.delete(one)
  return found
}

const endOfHeader = (diff: Buffer, at: number): number => {
  const end = diff.indexOf(newLine, at)
  return end < 0 ? diff.length : end + 1
}

/** Returns the index after the line. svn ends lines at line feeds, carriage returns, and both together. */
const endOfLine = (diff: Buffer, from: number): number => {
  let at = from
  while (at < diff.length && diff[at] !== newLine && diff[at] !== carriageReturn) at++
  return Math.min(diff.length, diff[at] === carriageReturn && diff[at + 1] === newLine ? at + 2 : at + 1)
}

/** Returns undefined if the hunk ends early. */
const readHunk = (diff: Buffer, start: number, oldCount: number, newCount: number): Hunk | undefined => {
  const [from, head]: [Array<Buffer>, Array<Buffer>] = [[], []]
  let [oldLeft, newLeft, at] = [oldCount, newCount, start]
  while (oldLeft > 0 || newLeft > 0) {
    const prefix = diff[at]
    if (prefix !== unchanged && prefix !== removed && prefix !== added) return undefined
    let end = endOfLine(diff, at + 1)
    const isLast = diff.subarray(end, end + noNewLine.length).equals(noNewLine)
    const line = diff.subarray(at + 1, isLast ? end - 1 : end)
    if (isLast) end = endOfHeader(diff, end)
    if (prefix !== added) {
      from.push(line)
      oldLeft--
    }
    if (prefix !== removed) {
      head.push(line)
      newLeft--
    }
    at = end
  }
  return oldLeft < 0 || newLeft < 0 ? undefined : { from: Buffer.concat(from), head: Buffer.concat(head), end: at }
}
