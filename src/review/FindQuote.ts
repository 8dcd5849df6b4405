/** One side of a file's diff as a run of lines that quotes are looked up in. Built on first use, for files that need it. Pure. */
import { squeeze } from "./CodeText.ts"
import { numberLines } from "./FileDiff.ts"
import type { FileDiff, NumberedLine } from "./FileDiff.ts"

export interface ViewLine extends NumberedLine {
  readonly squeezed: string
  readonly hunk: number
}

/** Lines of a match, first to last, blank ones between them included. */
export interface Match {
  readonly lines: ReadonlyArray<ViewLine>
}

export interface DiffView {
  /** Lines that are not blank, in order. */
  readonly lines: ReadonlyArray<ViewLine>
  /** Where the squeezed lines stand, one after the other within one hunk; blank lines count for nothing. */
  readonly find: (squeezed: ReadonlyArray<string>) => ReadonlyArray<Match>
  /** Likewise, but the first line may begin and the last may end within a line of the file. */
  readonly findPart: (squeezed: ReadonlyArray<string>) => ReadonlyArray<Match>
}

export const diffView = (file: FileDiff, side: "new" | "old"): DiffView => {
  const left = side === "new" ? "-" : "+"
  const all: Array<ViewLine> = []
  file.hunks.forEach((hunk, index) => {
    for (const line of numberLines(hunk)) {
      if (line.kind !== left) all.push({ ...line, squeezed: squeeze(line.text), hunk: index })
    }
  })
  const places: Array<number> = []
  const lines: Array<ViewLine> = []
  const byText = new Map<string, Array<number>>()
  all.forEach((line, place) => {
    if (line.squeezed === "") return
    const known = byText.get(line.squeezed)
    if (known === undefined) byText.set(line.squeezed, [lines.length])
    else known.push(lines.length)
    lines.push(line)
    places.push(place)
  })
  const matchAt = (at: number, length: number): Match => ({
    lines: all.slice(places[at], (places[at + length - 1] ?? 0) + 1)
  })
  const sameHunk = (at: number, length: number) => lines[at]?.hunk === lines[at + length - 1]?.hunk
  return {
    lines,
    find: (squeezed) =>
      (byText.get(squeezed[0] ?? "") ?? [])
        .filter((at) => sameHunk(at, squeezed.length) && squeezed.every((text, i) => lines[at + i]?.squeezed === text))
        .map((at) => matchAt(at, squeezed.length)),
    findPart: (squeezed) => {
      const last = squeezed.length - 1
      const found: Array<Match> = []
      const holds = (text: string, i: number, whole: string) =>
        last === 0
          ? whole.includes(text)
          : i === 0
            ? whole.endsWith(text)
            : i === last
              ? whole.startsWith(text)
              : whole === text
      for (let at = 0; at + last < lines.length; at++) {
        if (!sameHunk(at, squeezed.length)) continue
        if (squeezed.every((text, i) => holds(text, i, lines[at + i]?.squeezed ?? "")))
          found.push(matchAt(at, last + 1))
      }
      return found
    }
  }
}
