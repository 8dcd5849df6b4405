/** Work on the reports of a model: position in the diff, identity, and the code for the verification. */
import type { Anchor, Finding, ReportedProblem, Side } from "../../domain/Problem.ts"
import { anchorIn, fileFinder } from "../../review/Anchor.ts"
import type { Anchored } from "../../review/Anchor.ts"
import { codeKey } from "../../review/CodeKey.ts"
import { numberLines } from "../../review/FileDiff.ts"
import type { FileDiff } from "../../review/FileDiff.ts"
import { toEvidenceFile } from "../../review/EvidenceLines.ts"
import { hunksAround } from "../../review/HunksAround.ts"
import { linesOfText } from "../../review/HunkText.ts"
import { fingerprint } from "../../review/Identity.ts"
import { renderFile } from "../../review/RenderDiff.ts"
import { indentSuggestion } from "../../review/SuggestionIndent.ts"
import { scrubFile, scrubProblem } from "../../review/Scrub.ts"
import { takeEvidence } from "../../review/TakeEvidence.ts"
import type { Chains } from "./DefinitionWork.ts"
import type { FitState } from "./FitState.ts"
import type { ReadState } from "./ReadState.ts"

/** Problems that have a place in one file at one side; the file is needed to identify them. */
export interface PlacedGroup {
  readonly id: number
  readonly path: string
  readonly at: "head" | "from"
  /** First lines of the places. */
  readonly starts: ReadonlyArray<number>
}

export interface PlacedFile {
  /** Findings of problems without a position in the diff. */
  readonly findings: ReadonlyArray<Finding>
  readonly groups: ReadonlyArray<PlacedGroup>
}

interface PlacedProblems {
  readonly files: ReadonlyArray<PlacedFile>
  /** Number of problems without a file or a message. */
  readonly empty: number
}

interface Placed {
  readonly problem: ReportedProblem
  readonly place: Anchored
}

/** Maximum length of a shown line of code. */
const maxLineLength = 1000
/** Lines of a file on either side of a finding. */
const around = 20

export const makeFindWork = (read: ReadState, fit: FitState) => {
  const groups = new Map<number, ReadonlyArray<Placed>>()

  const open = (placed: ReadonlyArray<Placed>): ReadonlyArray<PlacedGroup> => {
    const anchor = placed[0]?.place.anchor
    if (anchor === undefined) return []
    const id = groups.size
    groups.set(id, placed)
    const isNew = anchor.side === "new"
    return [
      {
        id,
        path: isNew ? anchor.path : (anchor.oldPath ?? anchor.path),
        at: isNew ? "head" : "from",
        starts: placed.map(({ place }) => place.anchor.start ?? place.anchor.line)
      }
    ]
  }
  const placeIn = (file: FileDiff | undefined, problems: ReadonlyArray<ReportedProblem>, isBlind: boolean) => {
    // The model saw the files without their secrets, so its quotes are searched in the same text.
    const readable = file && scrubFile(file)
    const hidden = isBlind && file !== undefined ? fit.blind.get(file.path)?.diff : undefined
    const findings: Array<Finding> = []
    const bySide = Map.groupBy(
      problems.flatMap((problem): ReadonlyArray<Placed> => {
        const place = readable && (blindPlace(readable, hidden, problem) ?? anchorIn(readable, problem))
        if (place !== undefined) return [{ problem, place }]
        findings.push({ fingerprint: fingerprint(problem, undefined, undefined), problem: fitted(problem, undefined) })
        return []
      }),
      ({ place }) => place.anchor.side
    )
    return { findings, groups: [...bySide.values()].flatMap(open) }
  }

  return {
    /** `isBlind`: the model saw no comments and no texts for people. */
    placeProblems: (reported: ReadonlyArray<ReportedProblem>, isBlind: boolean): PlacedProblems => {
      const problems = reported.map(scrubProblem)
      const meant = problems.filter(({ message, file }) => message.trim() !== "" && file.trim() !== "")
      const find = fileFinder(read.selected.files)
      const byFile = Map.groupBy(meant, ({ file }) => find(file))
      return {
        files: Array.from(byFile, ([file, some]) => placeIn(file, some, isBlind)),
        empty: problems.length - meant.length
      }
    },
    /** `text` is the file of the group; `symbols` are the definitions around the group's starts. */
    identify: (group: number, text: string | undefined, symbols: Chains): ReadonlyArray<Finding> => {
      const file = text === undefined ? undefined : toEvidenceFile(text)
      const lines = file?.lines
      const placed = groups.get(group) ?? []
      groups.set(group, [])
      return placed.map(({ problem, place }, index): Finding => {
        const code = codeKey(problem, place, text)
        const evidence = file && takeEvidence(place.anchor, file)
        return {
          fingerprint: fingerprint(problem, place, lines, symbols[index]),
          problem: fitted(problem, place),
          anchor: place.anchor,
          ...(code === undefined ? {} : { code }),
          ...(evidence === undefined ? {} : { evidence })
        }
      })
    },
    /** The diff around a place, as a model reads it; empty where the file is not part of the change. */
    diffAround: (path: string, anchor: Anchor | undefined, characters: number, isBlind: boolean): string => {
      const whole = read.selected.files.find((one) => one.path === path || one.oldPath === path)
      const file = isBlind && whole !== undefined ? fit.blind.get(whole.path)?.diff : whole
      if (file === undefined) return ""
      const hunks = hunksAround(file, anchor, characters)
      return renderFile({ ...file, hunks }).slice(0, characters * 2)
    },
    /** Numbered lines of a file around `lines`, without those that its diff shows. */
    linesAround: (file: FileLines, characters: number): string => {
      const shown = fit.shown.filter(({ commit, path }) => path === file.path && commit === undefined)
      return numbered(file, linesIn(shown, file.side), characters)
    }
  }
}

/** Anchors a quote of what a blind reading shows. The place is the same in the file; its code is that of the file. */
const blindPlace = (
  readable: FileDiff,
  hidden: FileDiff | undefined,
  problem: ReportedProblem
): Anchored | undefined => {
  const place = hidden === undefined ? undefined : anchorIn(hidden, problem)
  if (place === undefined) return undefined
  const { line, side, start = line } = place.anchor
  const lines = readable.hunks.flatMap(numberLines).filter(({ newLine, oldLine }) => {
    const at = side === "old" ? oldLine : newLine
    return at !== undefined && at >= start && at <= line
  })
  const code = lines.map(({ text }) => text).join("\n")
  // A suggestion for what was shown would remove what was not.
  return { ...place, file: readable, code, whole: place.whole && code === place.code }
}

/** Lines of a file at one side of the change. */
interface FileLines {
  readonly path: string
  readonly side: Side
  readonly text: string
  readonly lines: ReadonlyArray<number>
}

const linesIn = (files: ReadonlyArray<FileDiff>, side: Side): ReadonlySet<number | undefined> =>
  new Set(
    files
      .flatMap(({ hunks }) => hunks.flatMap(numberLines))
      .map(({ newLine, oldLine }) => (side === "old" ? oldLine : newLine))
  )

const numbered = ({ lines, text }: FileLines, shown: ReadonlySet<number | undefined>, characters: number): string => {
  const all = linesOfText(text)
  const wanted = new Set<number>()
  for (const line of lines) {
    for (let at = Math.max(1, line - around); at <= Math.min(all.length, line + around); at++) {
      if (!shown.has(at)) wanted.add(at)
    }
  }
  return [...wanted]
    .toSorted((a, b) => a - b)
    .map((at) => `${at}: ${(all[at - 1] ?? "").slice(0, maxLineLength)}`)
    .join("\n")
    .slice(0, characters)
}

/** A suggestion is only as good as its place: it stays where it replaces exactly the lines it was written for, with their indentation. */
const fitted = (problem: ReportedProblem, place: Anchored | undefined): ReportedProblem => {
  const { suggestion, ...rest } = { ...problem, file: place?.anchor.path ?? problem.file }
  if (suggestion === undefined || place?.whole !== true) return rest
  const indented = indentSuggestion(suggestion, place.code)
  return isSameCode(indented, place.code) ? rest : { ...rest, quote: place.code, suggestion: indented }
}

/** A suggestion that repeats the lines that it replaces has nothing to apply. */
const isSameCode = (one: string, other: string): boolean =>
  one.replaceAll(/(?<![ \t])[ \t]+$/gm, "").trim() === other.replaceAll(/(?<![ \t])[ \t]+$/gm, "").trim()
