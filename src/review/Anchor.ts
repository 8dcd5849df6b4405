/**
 * Anchors quoted code to a line of the diff. The quote decides; the claimed line only chooses among several matches. A
 * quote without a match, or with several matches and no way to choose, has no anchor: the finding goes to the summary
 * and never on a wrong line. Removed code is anchored on the old side, everything else on the new one. Pure.
 */
import type { Anchor, DiffPlace, ReportedProblem, Side } from "../domain/Problem.ts"
import { weight } from "./CodeText.ts"
import type { FileDiff, NumberedLine } from "./FileDiff.ts"
import { findLines, findPart } from "./FindQuote.ts"
import type { Match, MatchedLine } from "./FindQuote.ts"
import { readQuote } from "./Quote.ts"
import type { QuoteReading } from "./Quote.ts"

export interface Anchored {
  readonly file: FileDiff
  readonly anchor: Anchor
  /** Text of the anchored lines, as in the file. */
  readonly code: string
  /** The quote is exactly the anchored lines: only then may a suggestion replace them. */
  readonly whole: boolean
}

/** Minimum weight of a quote. A quote below it matches almost everywhere and needs the claimed line nearby. */
const minQuoteWeight = 3
const maxClaimDistance = 2
/** Minimum weight of a part of a line that is searched within lines. */
const partWeight = 4

/** Anchors a problem in a file. */
export const anchorIn = (file: FileDiff, problem: ReportedProblem): Anchored | undefined => {
  if (problem.quote === undefined) return undefined
  const readings = readQuote(problem.quote)
  for (const step of steps) {
    for (const reading of readings) {
      const old = (reading.side ?? problem.side) === "old"
      for (const side of old ? (["old", "new"] as const) : (["new", "old"] as const)) {
        const match = choose(step.matches(file, side, reading), side, reading, problem, step.unsure)
        if (match !== undefined) return anchored(file, side, match, step.whole)
      }
    }
  }
  return undefined
}

interface Step {
  readonly matches: (file: FileDiff, side: Side, reading: QuoteReading) => ReadonlyArray<Match>
  readonly whole: boolean
  /** The match covers only a part of the quote: it must be the only match, or the claimed one. */
  readonly unsure: boolean
}

const isEllipsis = (squeezed: string): boolean => /^(\/\/|#|--|\/\*)?(\.\.\.|…)(\*\/)?$/.test(squeezed)

const steps: ReadonlyArray<Step> = [
  { matches: (file, side, { squeezed }) => findLines(file, side, squeezed), whole: true, unsure: false },
  {
    matches: (file, side, quote) => (weight(quote.squeezed.join("")) < partWeight ? [] : findPart(file, side, quote)),
    whole: false,
    unsure: false
  },
  {
    // The quote skips lines or contains an inexact one: its first lines have to match.
    matches: (file, side, { squeezed }) => {
      const gap = squeezed.findIndex(isEllipsis)
      const first = squeezed.slice(0, gap > 0 ? gap : 1)
      return squeezed.length > 1 && weight(first.join("")) >= minQuoteWeight ? findLines(file, side, first) : []
    },
    whole: false,
    unsure: true
  }
]

const choose = (
  matches: ReadonlyArray<Match>,
  side: Side,
  reading: QuoteReading,
  problem: ReportedProblem,
  unsure: boolean
): Match | undefined => {
  const places = side === "new" ? matches : matches.filter((match) => match.some(({ kind }) => kind === "-"))
  if (places.length === 0) return undefined
  const little = weight(reading.squeezed.join("")) < minQuoteWeight
  const claimed = problem.line
  if (claimed === undefined) {
    if (places.length === 1) return little ? undefined : places[0]
    const exact = places.filter((match) => isExact(match, reading))
    const changed = (exact.length > 0 ? exact : places).filter(isChanged)
    return changed.length === 1 && !little && !unsure ? changed[0] : undefined
  }
  const best = places
    .map((match) => ({ match, distance: distanceTo(match, side, claimed), exact: isExact(match, reading) }))
    .reduce((a, b) => {
      const later =
        Number(b.distance === 0) - Number(a.distance === 0) ||
        Number(b.exact) - Number(a.exact) ||
        a.distance - b.distance ||
        Number(isChanged(b.match)) - Number(isChanged(a.match))
      return later > 0 ? b : a
    })
  if (unsure && best.distance > 0 && places.length > 1) return undefined
  return little && best.distance > maxClaimDistance ? undefined : best.match
}

const lineOn = (line: NumberedLine | undefined, side: Side): number =>
  (side === "new" ? line?.newLine : line?.oldLine) ?? Number.NaN

/** 0 where the claimed line is the first one of the match. */
const distanceTo = (match: Match, side: Side, claimed: number): number => Math.abs(lineOn(match[0], side) - claimed)

const isChanged = (match: Match): boolean => match.some(({ kind }) => kind !== " ")

const isExact = (match: Match, reading: QuoteReading): boolean => {
  const [first] = match
  return first !== undefined && first.text.trimEnd() === reading.lines[0]?.trimEnd()
}

const anchored = (file: FileDiff, side: Side, match: Match, whole: boolean): Anchored => {
  // Only removed lines can be commented on the old side, so the anchor is the run of them that ends the match.
  const lines = side === "new" ? match : lastRemoved(match)
  const [start] = lines
  const first = lineOn(start, side)
  const end = lines.at(-1)
  const line = lineOn(end, side)
  const isContext = end?.kind === " "
  return {
    file,
    whole: whole && side === "new",
    code: lines.map(({ text }) => text).join("\n"),
    anchor: {
      path: file.path,
      ...(file.oldPath === undefined ? {} : { oldPath: file.oldPath }),
      side,
      line,
      ...(first < line && start !== undefined && end !== undefined
        ? { start: first, range: { first: placeOf(start), last: placeOf(end) } }
        : {}),
      ...(isContext && end.oldLine !== undefined && end.newLine !== undefined
        ? { oldLine: end.oldLine, newLine: end.newLine }
        : {})
    }
  }
}

const kinds = { "+": "added", "-": "removed", " ": "unchanged" } as const

const placeOf = ({ kind, at }: MatchedLine): DiffPlace => ({ kind: kinds[kind], ...at })

const lastRemoved = (lines: Match): Match => {
  const end = lines.findLastIndex(({ kind }) => kind === "-") + 1
  let start = end
  while (start > 0 && lines[start - 1]?.kind === "-") start--
  return lines.slice(start, end)
}

/** Finds the file that a model means: its path, the path before a rename, or the only path that ends with it. */
export const fileFinder = (files: ReadonlyArray<FileDiff>): ((name: string) => FileDiff | undefined) => {
  const byPath = new Map<string, FileDiff>()
  for (const file of files) if (file.oldPath !== undefined) byPath.set(file.oldPath, file)
  for (const file of files) byPath.set(file.path, file)
  return (name) => {
    const plain = name.trim().replace(/^(\.?\/)+/, "")
    const known = byPath.get(name) ?? byPath.get(plain) ?? byPath.get(plain.replace(/^[ab]\//, ""))
    if (known !== undefined || plain === "") return known
    const ending = files.filter(({ path }) => path.endsWith(`/${plain}`))
    return ending.length === 1 ? ending[0] : undefined
  }
}
