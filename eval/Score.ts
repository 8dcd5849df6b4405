/**
 * Scores a review by its labels. A finding matches an expected problem in the same file, at most a few lines from it,
 * of a category that the label accepts; each matches at most one. A label without lines is matched by its words. Pure.
 */
import type { Usage } from "../src/domain/Analysis.ts"
import type { Finding } from "../src/domain/Problem.ts"
import { canonicalCategory } from "../src/domain/CanonicalCategory.ts"
import { addUsage, noUsage } from "../src/domain/Analysis.ts"
import type { EvalCase, ExpectedProblem } from "./EvalCase.ts"

/**
 * Decides whether two descriptions are about the same problem, by the words that they share: for labels of public sets
 * that have no line. An approximation that needs no model and gives the same result every time. Pure.
 */

const maxText = 4000
/** Words of fewer letters say little. */
const minLetters = 4
const minShared = 3
/** Minimum share of the words of the shorter text. */
const minShare = 0.3

/** Words that occur in descriptions of every problem. */
const common = new Set(
  "about after again because before being cause causes change changed code could does error every fails first from function have into line method more must never only other should shown that their them then there these they this those value when where which while will with without would wrong".split(
    " "
  )
)

/** Returns the distinct words, in lower case; names are split at capitals, digits and underscores. */
const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .slice(0, maxText)
      .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, " ")
      .toLowerCase()
      .split(/[^\p{L}]+/u)
      .filter((word) => word.length >= minLetters && !common.has(word))
  )

const isSameSubject = (a: string, b: string): boolean => {
  const [left, right] = [wordsOf(a), wordsOf(b)]
  const shared = left.intersection(right).size
  return shared >= minShared && shared >= minShare * Math.min(left.size, right.size)
}

/** Maximum distance in lines between a finding and the expected problem. */
const nearEnough = 10

export interface ScoredCase {
  readonly name: string
  readonly language: string
  readonly kind: string
  /** True where the fault shows only together with an unchanged file. */
  readonly isCrossFile: boolean
  /** Reason why the review has no result. All expected problems count as missed. */
  readonly failed?: string | undefined
  readonly met: ReadonlyArray<{
    readonly expected: ExpectedProblem
    readonly finding: Finding
    /** Undefined where the label has no lines. */
    readonly onLine: boolean | undefined
  }>
  readonly missed: ReadonlyArray<ExpectedProblem>
  /** Neither expected nor tolerated. */
  readonly wrong: ReadonlyArray<Finding>
  readonly expected: number
  readonly seconds: number
  readonly usage: Usage
  readonly models: ReadonlyArray<string>
}

export interface Reviewed {
  readonly findings: ReadonlyArray<Finding>
  readonly usage: Usage
  readonly models: ReadonlyArray<string>
  readonly seconds: number
  readonly failed?: string | undefined
}

export const scoreCase = (given: EvalCase, reviewed: Reviewed): ScoredCase => {
  const { findings, failed, seconds, usage, models } = reviewed
  const pairs = pairsOf(given.expected, findings)
  const taken = new Set(pairs.map(({ finding }) => finding))
  const rest = findings.filter((finding) => !taken.has(finding))
  const excused = new Set(pairsOf(given.tolerated, rest).map(({ finding }) => finding))
  const found = new Set(pairs.map(({ expected }) => expected))
  return {
    name: given.name,
    language: given.language,
    kind: given.kind,
    isCrossFile: given.expected.length > 0 && given.needs.length > 0,
    ...(failed === undefined ? {} : { failed }),
    met: pairs.map(({ expected, finding, distance }) => ({
      expected,
      finding,
      onLine: expected.first === undefined ? undefined : distance === 0
    })),
    missed: given.expected.filter((expected) => !found.has(expected)),
    wrong: rest.filter((finding) => !excused.has(finding)),
    expected: given.expected.length,
    seconds,
    usage,
    models
  }
}

/** Nearest first; each of either side once. */
const pairsOf = (expected: ReadonlyArray<ExpectedProblem>, findings: ReadonlyArray<Finding>) => {
  const all = expected
    .flatMap((one) =>
      findings.flatMap((finding) => {
        const distance = distanceOf(one, finding)
        return distance === undefined ? [] : [{ expected: one, finding, distance }]
      })
    )
    .toSorted((a, b) => a.distance - b.distance)
  const used = new Set<object>()
  return all.filter((pair) => {
    if (used.has(pair.expected) || used.has(pair.finding)) return false
    used.add(pair.expected).add(pair.finding)
    return true
  })
}

/** Lines apart; undefined where it is about something else. A finding without a line is as far off as can be. */
const distanceOf = (expected: ExpectedProblem, { anchor, problem }: Finding): number | undefined => {
  const categories = expected.categories.map(canonicalCategory)
  if (categories.length > 0 && !categories.includes(canonicalCategory(problem.category))) return undefined
  const paths = anchor === undefined ? [problem.file] : [anchor.path, anchor.oldPath]
  if (expected.file !== undefined && !paths.includes(expected.file)) return undefined
  if (expected.first === undefined || expected.last === undefined) {
    return isSameSubject(expected.why, `${problem.title ?? ""} ${problem.message}`) ? nearEnough : undefined
  }
  if (anchor === undefined || anchor.side !== expected.side) return nearEnough
  const first = anchor.start ?? anchor.line
  const distance = Math.max(0, expected.first - anchor.line, first - expected.last)
  return distance <= nearEnough ? distance : undefined
}

export interface Figures {
  readonly cases: number
  readonly expected: number
  readonly met: number
  readonly missed: number
  readonly wrong: number
  /** Share of the findings that are correct; undefined without findings. */
  readonly precision: number | undefined
  /** Share of the expected problems that were found; undefined without expected problems. */
  readonly recall: number | undefined
  /** Share of the matches whose line is exact, of those whose label has lines. */
  readonly lineAccuracy: number | undefined
}

export interface EvalScore extends Figures {
  readonly failed: number
  /** Number of changes without problems; `silent` counts those of them without findings. */
  readonly clean: number
  readonly silent: number
  /** Changes whose fault shows only together with an unchanged file. */
  readonly crossFile: Figures
  readonly seconds: number
  readonly usage: Usage
  readonly models: ReadonlyArray<string>
  readonly byCategory: ReadonlyMap<string, Figures>
  readonly byLanguage: ReadonlyMap<string, Figures>
  readonly scored: ReadonlyArray<ScoredCase>
}

const share = (part: number, whole: number): number | undefined => (whole === 0 ? undefined : part / whole)

type Met = ScoredCase["met"]

const figuresOf = (cases: number, met: Met, missed: number, wrong: number): Figures => {
  const located = met.flatMap(({ onLine }) => (onLine === undefined ? [] : [onLine]))
  return {
    cases,
    expected: met.length + missed,
    met: met.length,
    missed,
    wrong,
    precision: share(met.length, met.length + wrong),
    recall: share(met.length, met.length + missed),
    lineAccuracy: share(located.filter(Boolean).length, located.length)
  }
}

const figuresOfCases = (scored: ReadonlyArray<ScoredCase>): Figures => {
  const sum = (of: (one: ScoredCase) => number) => scored.reduce((all, one) => all + of(one), 0)
  return figuresOf(
    scored.length,
    scored.flatMap(({ met }) => met),
    sum(({ missed }) => missed.length),
    sum(({ wrong }) => wrong.length)
  )
}

const byCategory = (scored: ReadonlyArray<ScoredCase>): ReadonlyMap<string, Figures> => {
  const of = ({ categories }: ExpectedProblem): string => canonicalCategory(categories[0] ?? "")
  const met = scored.flatMap((one) => one.met)
  const missed = scored.flatMap((one) => one.missed)
  const wrong = scored.flatMap((one) => one.wrong)
  const names = [
    ...met.map(({ expected }) => of(expected)),
    ...missed.map(of),
    ...wrong.map(({ problem }) => canonicalCategory(problem.category))
  ]
  return new Map(
    [...new Set(names)].toSorted().map((name) => {
      const here = met.filter(({ expected }) => of(expected) === name)
      const cases = scored.filter((one) =>
        [...one.met.map(({ expected }) => expected), ...one.missed].some((e) => of(e) === name)
      )
      return [
        name,
        figuresOf(
          cases.length,
          here,
          missed.filter((one) => of(one) === name).length,
          wrong.filter(({ problem }) => canonicalCategory(problem.category) === name).length
        )
      ] as const
    })
  )
}

export const scoreAll = (scored: ReadonlyArray<ScoredCase>): EvalScore => {
  const clean = scored.filter(({ expected }) => expected === 0)
  const languages = [...new Set(scored.map(({ language }) => language))].toSorted()
  return {
    ...figuresOfCases(scored),
    failed: scored.filter(({ failed }) => failed !== undefined).length,
    clean: clean.length,
    silent: clean.filter(({ wrong, failed }) => wrong.length === 0 && failed === undefined).length,
    crossFile: figuresOfCases(scored.filter(({ isCrossFile }) => isCrossFile)),
    seconds: scored.reduce((sum, { seconds }) => sum + seconds, 0),
    usage: scored.map(({ usage }) => usage).reduce(addUsage, noUsage),
    models: [...new Set(scored.flatMap(({ models }) => models))],
    byCategory: byCategory(scored),
    byLanguage: new Map(
      languages.map((name) => [name, figuresOfCases(scored.filter(({ language }) => language === name))] as const)
    ),
    scored
  }
}
