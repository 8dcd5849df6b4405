/** One file of a unified diff. Lines keep their `+`, `-` or space, and a carriage return where the file has one. Pure data. */
import type { CommitLabel } from "./CommitLabel.ts"

export interface Hunk {
  /** 1-based first line on each side; as git prints it, 0 where a side is empty. */
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  /** The text that git prints after the second `@@`: the nearest line above that looks like a definition. */
  readonly section: string
  readonly lines: ReadonlyArray<string>
  /** "\ No newline at end of file" followed the last line of that side. */
  readonly openEnd: { readonly old: boolean; readonly new: boolean }
}

export interface FileHeader {
  /** Path at the head; for a deleted file the path it had. */
  readonly path: string
  /** Path before a rename or copy, where it differs. */
  readonly oldPath: string | undefined
  readonly status: "added" | "deleted" | "modified" | "renamed" | "copied"
  readonly oldMode: string | undefined
  readonly newMode: string | undefined
  readonly binary: boolean
}

export interface FileDiff extends FileHeader {
  readonly hunks: ReadonlyArray<Hunk>
  readonly additions: number
  readonly deletions: number
  /** UTF-8 bytes of its part of the patch. */
  readonly bytes: number
  /** The patch is that of one commit of the change. */
  readonly commit?: CommitLabel
}

/** A file that has a mode of its own kind on either side: a gitlink. */
export const isSubmodule = (file: FileHeader): boolean => file.oldMode === "160000" || file.newMode === "160000"

/** One line of a hunk with its numbers; `undefined` on the side where it is not. */
export interface NumberedLine {
  readonly kind: "+" | "-" | " "
  /** Text without the leading mark and without a carriage return at its end. */
  readonly text: string
  readonly oldLine: number | undefined
  readonly newLine: number | undefined
}

export const numberLines = (hunk: Pick<Hunk, "oldStart" | "newStart" | "lines">): ReadonlyArray<NumberedLine> => {
  let oldLine = hunk.oldStart
  let newLine = hunk.newStart
  return hunk.lines.map((line) => {
    const text = line.endsWith("\r") ? line.slice(1, -1) : line.slice(1)
    switch (line[0]) {
      case "+":
        return { kind: "+", text, oldLine: undefined, newLine: newLine++ }
      case "-":
        return { kind: "-", text, oldLine: oldLine++, newLine: undefined }
      default:
        return { kind: " ", text, oldLine: oldLine++, newLine: newLine++ }
    }
  })
}
