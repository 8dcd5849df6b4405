/** Work on files that are read blind: without what they say to readers (review/Blind.ts), and with the definitions around their hunks. */
import { createHash } from "node:crypto"
import { blank, tidy, tidyLines } from "../../review/Blind.ts"
import { blindDiff } from "../../review/BlindDiff.ts"
import type { BlindSide } from "../../review/BlindDiff.ts"
import type { FileDiff, FileHeader } from "../../review/FileDiff.ts"
import { linesOfText } from "../../review/HunkText.ts"
import { scrubFile } from "../../review/Scrub.ts"
import { scrubText } from "../../review/ScrubText.ts"
import type { ProseOfFile } from "../syntax/Definition.ts"
import { hasDefinitions, toTarget } from "./DefinitionWork.ts"
import type { FitState } from "./FitState.ts"
import type { ReadState } from "./ReadState.ts"

export interface BlindTarget extends Pick<FileHeader, "path" | "oldPath" | "status"> {
  /** First changed line of each hunk at the head, of which the definitions around it are shown. */
  readonly lines: ReadonlyArray<number>
}

/** A text with what a parser found in it. */
export interface ParsedProse extends ProseOfFile {
  readonly text: string
}

interface BlindSides {
  /** Undefined where the file does not exist at that side. */
  readonly head: ParsedProse | undefined
  readonly from: ParsedProse | undefined
  /** Whether the whole file is shown in addition to its diff. */
  readonly isWhole: boolean
}

const maxSection = 200

export const makeBlindWork = (read: ReadState, fit: FitState) => ({
  /** Returns the files at these paths that are not prepared yet. */
  blindTargets: (paths: ReadonlyArray<string>): ReadonlyArray<BlindTarget> => {
    const wanted = new Set(paths)
    return read.selected.files.flatMap((file) => {
      const { oldPath, path, status } = file
      if (!wanted.has(path) || fit.blind.has(path)) return []
      return [{ path, oldPath, status, lines: hasDefinitions(file) ? toTarget(file).lines : [] }]
    })
  },
  /** Prepares a file. Returns whether everything that it has for readers could be removed. */
  keepBlind: (path: string, { from, head, isWhole }: BlindSides): boolean => {
    const file = read.selected.files.find((one) => one.path === path)
    const sides = { head: toSide(head), from: toSide(from) }
    if (file === undefined || sides.head === "unknown" || sides.from === "unknown") return false
    const lines = { head: sides.head, from: sides.from }
    const sections = hasDefinitions(file) ? sectionsOf(file, sides.head) : () => ""
    const diff = blindDiff(file, lines, file.hunks.map(sections))
    const wide = fit.shown.find((one) => one.path === path && one.commit === undefined)
    const shown = wide === undefined ? diff : blindDiff(wide, lines, wide.hunks.map(sections))
    if (diff === undefined || shown === undefined) return false
    const whole = isWhole && sides.head !== undefined ? scrubText(sides.head.shown.join("\n")) : undefined
    fit.blind.set(path, { diff: scrubFile(diff), shown: scrubFile(shown), whole })
    return true
  },
  /** Returns a text as a blind reading shows it; undefined where that is not possible. */
  hideProse: (text: string, marks: ReadonlyArray<number>): string | undefined => {
    const blanked = blank(text, marks)
    return blanked === undefined ? undefined : tidy(blanked)
  },
  /** Returns a digest of what these files show, the same in any order of them. */
  blindDigest: (paths: ReadonlyArray<string>): string => {
    const digest = createHash("sha256")
    for (const path of paths.toSorted()) digest.update(JSON.stringify([path, fit.blind.get(path)?.shown.hunks]))
    return digest.digest("hex")
  }
})

interface PreparedSide extends BlindSide {
  readonly blanked: string
  readonly around: ProseOfFile["around"]
}

const toSide = (parsed: ParsedProse | undefined): PreparedSide | "unknown" | undefined => {
  if (parsed === undefined) return undefined
  const { around, marks, text } = parsed
  const blanked = marks === null ? undefined : blank(text, marks)
  return blanked === undefined ? "unknown" : { lines: linesOfText(text), shown: tidyLines(blanked), blanked, around }
}

/** Returns the section of each hunk of a file: the definitions around it, as they are read. Hunks that were widened have that of the first in them. */
const sectionsOf = ({ hunks }: FileDiff, head: PreparedSide | undefined) => {
  const sections = hunks.map((hunk, at) => ({
    line: hunk.newStart,
    section: (head?.around[at] ?? [])
      .map(({ from, headerTo, nameFrom, nameTo }, index, { length }) =>
        index === length - 1 ? head?.blanked.slice(from, headerTo) : head?.blanked.slice(nameFrom, nameTo)
      )
      .map((part = "") => tidy(part).replace(/\s+/g, " ").trim())
      .join(" > ")
      .slice(0, maxSection)
  }))
  return ({ newLines, newStart }: { readonly newLines: number; readonly newStart: number }): string =>
    sections.find(({ line }) => line >= newStart && line <= newStart + newLines)?.section ?? ""
}
