/**
 * Parses a unified diff of git piece by piece, so that a large one does not block. Hunk bodies are delimited by the
 * counts of their header: content that looks like a header is content. Their bytes are stored unchanged. Files whose
 * header `keep` rejects are counted, and their lines are dropped.
 */
import type { FileDiff, FileHeader, Hunk } from "./FileDiff.ts"
import { readName, readSame, readSide } from "./DiffPaths.ts"
import { makeHunk, decodeUtf8 } from "./HunkText.ts"

export class DiffFormatError extends Error {
  override readonly name = "DiffFormatError"
}

interface OpenHunk {
  readonly place: Omit<Hunk, "lines" | "openEnd">
  readonly openEnd: { old: boolean; new: boolean }
  readonly bytes: Array<Uint8Array>
  /** Every line begins as git begins lines. */
  asPrinted: boolean
  count: number
  oldLeft: number
  newLeft: number
  /** Mark of the line before. */
  last: number
  /** The piece at hand ended within a line. */
  within: "line" | "remark" | undefined
}

interface OpenFile {
  readonly gitLine: string
  oldName: string | undefined
  newName: string | undefined
  oldMode: string | undefined
  newMode: string | undefined
  status: FileHeader["status"]
  binary: boolean
  /** Decided with the first hunk, or at the end of a file without one. */
  kept: boolean | undefined
  readonly hunks: Array<Hunk>
  additions: number
  deletions: number
  bytes: number
}

export interface DiffParser {
  /** Bytes of patch text of the kept files so far. */
  readonly keptBytes: number
  /** Adds bytes, which the caller must not change afterwards: lines are decoded from them on demand. */
  readonly push: (bytes: Uint8Array) => void
  readonly end: () => ReadonlyArray<FileDiff>
}

const hunkHeader = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/

interface ParserState {
  readonly keep: (file: FileHeader) => boolean
  readonly files: Array<FileDiff>
  file: OpenFile | undefined
  hunk: OpenHunk | undefined
  /** Incomplete line outside of hunks. */
  rest: Uint8Array | undefined
  keptBytes: number
  /** Positions of views of the current piece. */
  readonly views: Array<{ readonly list: Array<Uint8Array>; readonly at: number }>
}

/**
 * Creates a parser. It calls `keep` once per file, in the order of the diff. Throws `DiffFormatError` for input that
 * git does not print.
 */
export const makeDiffParser = (keep: (file: FileHeader) => boolean = () => true): DiffParser => {
  const state: ParserState = {
    keep,
    files: [],
    file: undefined,
    hunk: undefined,
    rest: undefined,
    keptBytes: 0,
    views: []
  }
  return {
    get keptBytes() {
      return state.keptBytes
    },
    push: (bytes) => {
      for (let from = 0; from < bytes.length; from += pieceLength) {
        const piece = bytes.subarray(from, from + pieceLength)
        for (let at = 0; at < piece.length;) {
          const { file, hunk } = state
          at =
            hunk === undefined || file === undefined
              ? readOutside(state, piece, at)
              : readBody(state, file, hunk, piece, at)
        }
      }
      settle(state, bytes.buffer.byteLength)
    },
    end: () => {
      const { file, hunk, rest } = state
      if (rest !== undefined) readLine(state, decodeUtf8(rest), rest.length)
      state.rest = undefined
      if (hunk !== undefined && file !== undefined && isComplete(hunk)) closeHunk(state, file, hunk)
      finish(state)
      return state.files
    }
  }
}

const headerOf = (file: OpenFile): FileHeader => {
  const same = file.oldName === undefined && file.newName === undefined ? readSame(file.gitLine) : undefined
  const path = file.newName ?? file.oldName ?? same
  if (path === undefined) throw new DiffFormatError(`no file name in: diff --git ${file.gitLine}`)
  const renamed = file.status === "renamed" || file.status === "copied"
  return {
    path,
    oldPath: renamed && file.oldName !== path ? file.oldName : undefined,
    status: file.status,
    oldMode: file.oldMode,
    newMode: file.newMode,
    binary: file.binary
  }
}

const decide = (state: ParserState, file: OpenFile): void => {
  if (file.kept !== undefined) return
  file.kept = state.keep(headerOf(file))
  if (file.kept) state.keptBytes += file.bytes
}

const count = (state: ParserState, file: OpenFile, bytes: number): void => {
  file.bytes += bytes
  if (file.kept === true) state.keptBytes += bytes
}

const finish = (state: ParserState): void => {
  const { file } = state
  if (state.hunk !== undefined)
    throw new DiffFormatError(`the diff ends within a hunk of ${file?.newName ?? file?.oldName}`)
  if (file === undefined) return
  decide(state, file)
  const { hunks, additions, deletions, bytes } = file
  state.files.push({ ...headerOf(file), hunks, additions, deletions, bytes })
  state.file = undefined
}

const startHunk = (state: ParserState, file: OpenFile, line: string): void => {
  const match = hunkHeader.exec(line)
  if (match === null) throw new DiffFormatError(`not a hunk header: ${line.slice(0, 80)}`)
  decide(state, file)
  const [, oldStart, oldLines = "1", newStart, newLines = "1", section = ""] = match
  const place = {
    oldStart: Number(oldStart),
    oldLines: Number(oldLines),
    newStart: Number(newStart),
    newLines: Number(newLines),
    section: section.trimEnd()
  }
  state.hunk = {
    place,
    openEnd: { old: false, new: false },
    bytes: [],
    asPrinted: true,
    count: 0,
    oldLeft: place.oldLines,
    newLeft: place.newLines,
    last: space,
    within: undefined
  }
}

const isComplete = ({ oldLeft, newLeft }: OpenHunk): boolean => oldLeft === 0 && newLeft === 0

const closeHunk = (state: ParserState, file: OpenFile, hunk: OpenHunk): void => {
  if (file.kept === true) file.hunks.push(makeHunk({ ...hunk.place, openEnd: hunk.openEnd }, hunk))
  state.hunk = undefined
}

/** Lines of a hunk from `from` on; gives where it ends, or the end of the bytes. */
const readBody = (state: ParserState, file: OpenFile, hunk: OpenHunk, bytes: Uint8Array, from: number): number => {
  const { length } = bytes
  let at = from
  let kept = hunk.within === "remark" ? -1 : from
  const keepTo = (end: number) => {
    if (file.kept !== true || kept < 0 || end <= kept) return
    state.views.push({ list: hunk.bytes, at: hunk.bytes.length })
    hunk.bytes.push(bytes.subarray(kept, end))
  }
  while (at < length) {
    if (hunk.within === undefined) {
      const mark = bytes[at]
      if (mark === backslash) {
        keepTo(at)
        kept = -1
        startRemark(hunk)
      } else if (isComplete(hunk)) {
        keepTo(at)
        count(state, file, at - from)
        closeHunk(state, file, hunk)
        return at
      } else startLine(file, hunk, bytes, at)
    }
    while (at < length && bytes[at] !== newline) at++
    if (at === length) break
    at++
    if (hunk.within === "remark") kept = at
    hunk.within = undefined
  }
  keepTo(length)
  count(state, file, length - from)
  return length
}

/** "\\ No newline at end of file", on the sides of the line before. */
const startRemark = (hunk: OpenHunk): void => {
  hunk.within = "remark"
  if (hunk.last !== plus) hunk.openEnd.old = true
  if (hunk.last !== minus) hunk.openEnd.new = true
}

const startLine = (file: OpenFile, hunk: OpenHunk, bytes: Uint8Array, at: number): void => {
  const mark = bytes[at]
  hunk.within = "line"
  hunk.count++
  if (mark === plus) {
    file.additions++
    hunk.newLeft--
  } else if (mark === minus) {
    file.deletions++
    hunk.oldLeft--
  } else if (mark === space || mark === newline) {
    hunk.oldLeft--
    hunk.newLeft--
    if (mark === newline) hunk.asPrinted = false
  } else {
    throw new DiffFormatError(`unexpected line in a hunk: ${decodeUtf8(bytes.subarray(at, at + 80))}`)
  }
  hunk.last = mark === newline ? space : mark
  if (hunk.oldLeft < 0 || hunk.newLeft < 0) throw new DiffFormatError("a hunk is longer than its header says")
}

/** Keeps views of a piece, or copies them where they are so small that copies take less memory. */
const settle = ({ views }: ParserState, whole: number): void => {
  const kept = views.reduce((sum, { list, at }) => sum + (list[at]?.length ?? 0), 0)
  if (kept * 2 < whole) for (const { list, at } of views) list[at] = Uint8Array.prototype.slice.call(list[at])
  views.length = 0
}

const readLine = (state: ParserState, line: string, bytes: number): void => {
  if (line.startsWith("diff --git ")) {
    finish(state)
    state.file = openFile(line.slice(11))
    count(state, state.file, bytes)
    return
  }
  const { file } = state
  if (file === undefined) return
  count(state, file, bytes)
  if (line.startsWith("@@ ")) startHunk(state, file, line)
  else extend(file, line)
}

/** A line outside of hunks; gives where the next one begins. */
const readOutside = (state: ParserState, bytes: Uint8Array, from: number): number => {
  const { rest } = state
  const end = bytes.indexOf(newline, from)
  const part = bytes.subarray(from, end < 0 ? bytes.length : end)
  const line = rest === undefined ? part : Buffer.concat([rest, part])
  if (line.length > maxHeader) throw new DiffFormatError(`a line outside of hunks has more than ${maxHeader} bytes`)
  if (end < 0) {
    // A copy: the little that is left must not keep the piece.
    state.rest = line === part ? part.slice() : line
    return bytes.length
  }
  state.rest = undefined
  readLine(state, decodeUtf8(line), line.length + 1)
  return end + 1
}

/** Lines of a hunk are views of pieces of this size at most, so that no string is made of a line that is longer than is read of it. */
const pieceLength = 65_536
/** Upper bound for a header: both names of a file, quoted as octal numbers, with a reserve. */
const maxHeader = 65_536

const newline = 10
const space = 32
const plus = 43
const minus = 45
const backslash = 92

/** Parses a whole diff. */
export const parseDiff = (text: string, keep?: (file: FileHeader) => boolean): ReadonlyArray<FileDiff> => {
  const parser = makeDiffParser(keep)
  parser.push(Buffer.from(text))
  return parser.end()
}

const openFile = (gitLine: string): OpenFile => ({
  gitLine,
  oldName: undefined,
  newName: undefined,
  oldMode: undefined,
  newMode: undefined,
  status: "modified",
  binary: false,
  kept: undefined,
  hunks: [],
  additions: 0,
  deletions: 0,
  bytes: 0
})

type Reader = (file: OpenFile, rest: string) => void

/** Extended header lines, by prefix. */
const extended: ReadonlyArray<readonly [string, Reader]> = [
  ["--- ", (file, rest) => (file.oldName = readSide(rest) ?? file.oldName)],
  ["+++ ", (file, rest) => (file.newName = readSide(rest) ?? file.newName)],
  ["old mode ", (file, rest) => (file.oldMode = rest)],
  ["new mode ", (file, rest) => (file.newMode = rest)],
  [
    "new file mode ",
    (file, rest) => {
      file.status = "added"
      file.newMode = rest
    }
  ],
  [
    "deleted file mode ",
    (file, rest) => {
      file.status = "deleted"
      file.oldMode = rest
    }
  ],
  [
    "rename from ",
    (file, rest) => {
      file.status = "renamed"
      file.oldName = readName(rest)
    }
  ],
  ["rename to ", (file, rest) => (file.newName = readName(rest))],
  [
    "copy from ",
    (file, rest) => {
      file.status = "copied"
      file.oldName = readName(rest)
    }
  ],
  ["copy to ", (file, rest) => (file.newName = readName(rest))],
  [
    "index ",
    (file, rest) => {
      const mode = / (\d{6})$/.exec(rest)?.[1]
      file.oldMode ??= file.status === "added" ? undefined : mode
      file.newMode ??= file.status === "deleted" ? undefined : mode
    }
  ],
  ["Binary files ", (file) => (file.binary = true)],
  ["GIT binary patch", (file) => (file.binary = true)]
]

const extend = (file: OpenFile, line: string) => {
  for (const [start, reader] of extended) {
    if (line.startsWith(start)) return reader(file, line.slice(start.length))
  }
}
