/**
 * Reads a unified diff as git prints it, piece by piece, so that a large one is neither held whole nor parsed in one go. Hunk
 * bodies are taken by the counts of their header: content that looks like a header is content. Files whose header `keep`
 * refuses are counted, and their lines are dropped as they pass.
 */
import type { FileDiff, FileHeader, Hunk } from "./FileDiff.ts"
import { readName, readSame, readSide } from "./DiffPaths.ts"

export class DiffFormatError extends Error {
  override readonly name = "DiffFormatError"
}

interface OpenHunk {
  readonly hunk: Hunk & { readonly lines: Array<string>; readonly openEnd: { old: boolean; new: boolean } }
  oldLeft: number
  newLeft: number
  last: string
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
  readonly push: (text: string) => void
  readonly end: () => ReadonlyArray<FileDiff>
}

const hunkHeader = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/

/** `keep` is asked once per file, in the order of the diff. Throws `DiffFormatError` for what git does not print. */
export const makeDiffParser = (keep: (file: FileHeader) => boolean = () => true): DiffParser => {
  const files: Array<FileDiff> = []
  let file: OpenFile | undefined
  let open: OpenHunk | undefined
  let rest = ""
  let keptBytes = 0
  /** The text at hand is ASCII: its length is its bytes. */
  let plain = false

  const header = (current: OpenFile): FileHeader => {
    const same = current.oldName === undefined && current.newName === undefined ? readSame(current.gitLine) : undefined
    const path = current.newName ?? current.oldName ?? same
    if (path === undefined) throw new DiffFormatError(`no file name in: diff --git ${current.gitLine}`)
    const renamed = current.status === "renamed" || current.status === "copied"
    return {
      path,
      oldPath: renamed && current.oldName !== path ? current.oldName : undefined,
      status: current.status,
      oldMode: current.oldMode,
      newMode: current.newMode,
      binary: current.binary
    }
  }

  const decide = (current: OpenFile): boolean => {
    if (current.kept === undefined) {
      current.kept = keep(header(current))
      if (current.kept) keptBytes += current.bytes
    }
    return current.kept
  }

  const count = (current: OpenFile, line: string) => {
    const bytes = (plain ? line.length : utf8Length(line)) + 1
    current.bytes += bytes
    if (current.kept === true) keptBytes += bytes
  }

  const finish = () => {
    if (open !== undefined)
      throw new DiffFormatError(`the diff ends within a hunk of ${file?.newName ?? file?.oldName}`)
    if (file === undefined) return
    decide(file)
    const { hunks, additions, deletions, bytes } = file
    files.push({ ...header(file), hunks, additions, deletions, bytes })
    file = undefined
  }

  const body = (current: OpenFile, hunk: OpenHunk, line: string) => {
    // Git prints an empty context line as a single space; mail gateways and copies drop it.
    const mark = line[0] ?? " "
    if (mark === "+") {
      current.additions++
      hunk.newLeft--
    } else if (mark === "-") {
      current.deletions++
      hunk.oldLeft--
    } else if (mark === " ") {
      hunk.oldLeft--
      hunk.newLeft--
    } else if (mark !== "\\") {
      throw new DiffFormatError(`unexpected line in a hunk: ${line.slice(0, 80)}`)
    }
    if (mark === "\\") return noNewline(hunk)
    hunk.last = mark
    if (current.kept === true) hunk.hunk.lines.push(line === "" ? " " : line)
    if (hunk.oldLeft < 0 || hunk.newLeft < 0) throw new DiffFormatError("a hunk is longer than its header says")
  }

  const noNewline = (hunk: OpenHunk) => {
    if (hunk.last !== "+") hunk.hunk.openEnd.old = true
    if (hunk.last !== "-") hunk.hunk.openEnd.new = true
  }

  const startHunk = (current: OpenFile, line: string) => {
    const match = hunkHeader.exec(line)
    if (match === null) throw new DiffFormatError(`not a hunk header: ${line.slice(0, 80)}`)
    decide(current)
    const [, oldStart, oldLines = "1", newStart, newLines = "1", section = ""] = match
    const hunk = {
      oldStart: Number(oldStart),
      oldLines: Number(oldLines),
      newStart: Number(newStart),
      newLines: Number(newLines),
      section: section.trimEnd(),
      lines: [],
      openEnd: { old: false, new: false }
    }
    if (current.kept === true) current.hunks.push(hunk)
    open = { hunk, oldLeft: hunk.oldLines, newLeft: hunk.newLines, last: " " }
  }

  const read = (line: string) => {
    if (open !== undefined) {
      const complete = open.oldLeft === 0 && open.newLeft === 0
      if (!complete || line.startsWith("\\ ")) {
        if (file !== undefined) {
          count(file, line)
          body(file, open, line)
        }
        return
      }
      open = undefined
    }
    if (line.startsWith("diff --git ")) {
      finish()
      file = openFile(line.slice(11))
      count(file, line)
      return
    }
    if (file === undefined) return
    count(file, line)
    if (line.startsWith("@@ ")) startHunk(file, line)
    else extend(file, line)
  }

  return {
    get keptBytes() {
      return keptBytes
    },
    push: (text) => {
      const all = rest === "" ? text : rest + text
      plain = /^\p{ASCII}*$/u.test(all)
      let at = 0
      for (let end = all.indexOf("\n"); end >= 0; end = all.indexOf("\n", at)) {
        read(all.slice(at, end))
        at = end + 1
      }
      rest = all.slice(at)
    },
    end: () => {
      plain = false
      if (rest !== "") read(rest)
      rest = ""
      if (open !== undefined && open.oldLeft === 0 && open.newLeft === 0) open = undefined
      finish()
      return files
    }
  }
}

/** Bytes in UTF-8. Asked of every line, where a call out of the engine for each would cost more than the parsing. */
const utf8Length = (text: string): number => {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x80) continue
    // Two for each half of a surrogate pair, which is four for both.
    bytes += code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 1 : 2
  }
  return bytes
}

/** A whole diff at once. */
export const parseDiff = (text: string, keep?: (file: FileHeader) => boolean): ReadonlyArray<FileDiff> => {
  const parser = makeDiffParser(keep)
  parser.push(text)
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

/** Extended header lines, by what they start with. */
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
