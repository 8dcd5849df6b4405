/** Code of one file at the head in a conversation: its lines around a place, and quotes in it. Pure, and linear in the length of the text. */
import type { Finding } from "../domain/Problem.ts"
import { anchorIn } from "./Anchor.ts"
import { heldKeys } from "./CodeKey.ts"
import type { FileDiff } from "./FileDiff.ts"

/** A text file at the head. */
export interface HeadFile {
  readonly path: string
  readonly text: string
}

const linesAround = 40
const maxLine = 300

/** Returns the file as one hunk without changes, in which quotes are searched as in a change. */
const asHunk = ({ path, text }: HeadFile): FileDiff => {
  const lines = text.split("\n").map((line) => ` ${line}`)
  const size = lines.length
  const hunk = {
    oldStart: 1,
    oldLines: size,
    newStart: 1,
    newLines: size,
    section: "",
    lines,
    openEnd: { old: false, new: false }
  }
  return {
    path,
    oldPath: undefined,
    status: "modified",
    oldMode: undefined,
    newMode: undefined,
    binary: false,
    hunks: [hunk],
    additions: 0,
    deletions: 0,
    bytes: text.length
  }
}

/** Returns the line at which the file has the quoted code; undefined if it is not there, or not at one place alone. */
export const findQuotedLine = (file: HeadFile, quote: string): number | undefined => {
  const wanted = { file: file.path, severity: "info", category: "", message: "", quote, side: "new" } as const
  const anchored = anchorIn(asHunk(file), wanted)
  return anchored?.anchor.start ?? anchored?.anchor.line
}

/** Returns the line at which the file still has the code of a finding; undefined if the code is gone or cannot be identified. */
export const findOpenLine = (file: HeadFile, { anchor, code, problem }: Finding): number | undefined => {
  if (anchor?.side === "old" || problem.quote === undefined) return undefined
  if (code !== undefined && heldKeys(file.text, [code])[0] !== true) return undefined
  const found = anchorIn(asHunk(file), { ...problem, line: anchor?.line ?? problem.line, side: "new" })
  return found?.anchor.start ?? found?.anchor.line
}

/** Returns the numbered lines of a file around a line, at most `maxCharacters`. */
export const linesNear = ({ path, text }: HeadFile, line: number, maxCharacters: number): string => {
  const lines = text.split("\n")
  const first = Math.max(1, line - linesAround)
  const shown = lines.slice(first - 1, line + linesAround)
  const rows = shown.map((row, index) => `${first + index}: ${row.replace(/\r$/, "").slice(0, maxLine)}`)
  return [`file ${path}`, ...rows].join("\n").slice(0, maxCharacters)
}
