/**
 * The diff of a file as a blind reading shows it: the same lines with the same numbers, without what they say to readers. Hunks that change
 * nothing else are omitted. Pure.
 */
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { numberLines } from "./FileDiff.ts"

/** A file at one side of the change. Each list has all of its lines. */
export interface BlindSide {
  readonly lines: ReadonlyArray<string>
  /** The same lines as a model reads them. */
  readonly shown: ReadonlyArray<string>
}

/** Returns the diff; undefined where its lines are not those of the files. `sections` are those of the hunks. */
export const blindDiff = (
  file: FileDiff,
  { head, from }: { readonly head: BlindSide | undefined; readonly from: BlindSide | undefined },
  sections: ReadonlyArray<string>
): FileDiff | undefined => {
  const hunks: Array<Hunk> = []
  for (const [at, hunk] of file.hunks.entries()) {
    const lines: Array<string> = []
    for (const { kind, newLine, oldLine, text } of numberLines(hunk)) {
      const [side, number] = newLine === undefined ? [from, oldLine] : [head, newLine]
      const line = side?.lines[(number ?? 0) - 1]
      if (side === undefined || line === undefined || withoutReturn(line) !== text) return undefined
      lines.push(kind + (side.shown[(number ?? 0) - 1] ?? ""))
    }
    if (lines.some((line) => line[0] !== " " && line.length > 1))
      hunks.push({ ...hunk, section: sections[at] ?? "", lines })
  }
  const { commit: _commit, ...rest } = file
  return { ...rest, hunks }
}

const withoutReturn = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line)
