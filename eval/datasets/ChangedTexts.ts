/**
 * Files before and after a change of which only the hunks are known: the lines between them are empty, so that every
 * line has its number. Bounded. Pure.
 */
import { numberLines } from "../../src/review/FileDiff.ts"
import { DiffFormatError, makeDiffParser } from "../../src/review/ParseDiff.ts"

export interface ChangedTexts {
  readonly before: ReadonlyMap<string, string>
  readonly after: ReadonlyMap<string, string>
}

/** Lines of one side of a hunk, from a line (1-based). */
export interface Piece {
  readonly start: number
  readonly lines: ReadonlyArray<string>
}

const maxFiles = 1000
const maxLine = 200_000
const maxLines = 2_000_000

/** Returns the text with the pieces on their lines; undefined where they overlap or pass the limit. */
export const textOfPieces = (pieces: ReadonlyArray<Piece>): string | undefined => {
  const lines: Array<string> = []
  for (const piece of pieces) {
    if (piece.lines.length === 0) continue
    if (piece.start - 1 < lines.length || piece.start + piece.lines.length > maxLine) return undefined
    while (lines.length < piece.start - 1) lines.push("")
    for (const line of piece.lines) lines.push(line)
  }
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`
}

/** Returns the files of a unified diff of git, or the error. */
export const textsOfDiff = (diff: string): (ChangedTexts & { readonly changed: ReadonlyArray<string> }) | string => {
  const parser = makeDiffParser()
  try {
    parser.push(Buffer.from(diff))
    const files = parser.end().filter(({ binary, hunks }) => !binary && hunks.length > 0)
    if (files.length === 0) return "has no changed lines"
    if (files.length > maxFiles) return `changes ${files.length} files; at most ${maxFiles} are read`
    const before = new Map<string, string>()
    const after = new Map<string, string>()
    let lines = 0
    for (const { path, oldPath, status, hunks } of files) {
      const numbered = hunks.map(numberLines)
      const side = (at: "oldLine" | "newLine"): string | undefined =>
        textOfPieces(
          numbered.map((hunk) => {
            const here = hunk.filter((line) => line[at] !== undefined)
            return { start: here[0]?.[at] ?? 1, lines: here.map(({ text }) => text) }
          })
        )
      const [old, fresh] = [side("oldLine"), side("newLine")]
      if (old === undefined || fresh === undefined) return `${path} has hunks that overlap, or a line above ${maxLine}`
      lines += hunks.reduce((most, hunk) => Math.max(most, hunk.newStart + hunk.newLines), 0)
      if (lines > maxLines) return `has more than ${maxLines} lines`
      if (status !== "added") before.set(oldPath ?? path, old)
      if (status !== "deleted") after.set(path, fresh)
    }
    return { before, after, changed: files.map(({ path }) => path) }
  } catch (cause) {
    if (cause instanceof DiffFormatError) return `is not a diff of git: ${cause.message}`
    throw cause
  }
}
