/**
 * Decides the outcome of each published finding of a pull request: one record per target and fingerprint, updated by each later review. Pure.
 *
 * | present | before     | people at the host | its file                    | outcome               |
 * | ------- | ---------- | ------------------ | --------------------------- | --------------------- |
 * | yes     | any        | dismissed it       |                             | dismissed             |
 * | yes     | any        | did not dismiss it |                             | open                  |
 * | yes     | any        | not read, but before |                           | dismissed             |
 * | yes     | dismissed  | not read           |                             | dismissed             |
 * | yes     | other      | not read           |                             | open                  |
 * | no      | open       | any                | read on another head        | fixed                 |
 * | no      | open       | any                | no longer in the change     | fixed                 |
 * | no      | open       | dismissed it       | otherwise                   | dismissed             |
 * | no      | open       | otherwise          | otherwise                   | open                  |
 * | no      | fixed or dismissed | any        |                             | unchanged             |
 */
import type { Analysis } from "./Analysis.ts"
import { namesAll } from "./Coverage.ts"
import { FindingState } from "./FindingState.ts"
import { Severity } from "./Kinds.ts"
import type { Finding } from "./Problem.ts"
import type { Reaction } from "./Publication.ts"
import * as Field from "./Field.ts"
import { record } from "./Record.ts"
import type { RecordValues } from "./Record.ts"

export const OutcomeRecord = record({
  fingerprint: Field.text,
  category: Field.text,
  severity: Field.stored(Severity),
  path: Field.text,
  /** Newest head on which it was present. */
  head: Field.text,
  outcome: Field.stored(FindingState),
  /** True once a person replied to its comment. */
  replied: Field.flag
})
export type OutcomeRecord = RecordValues<typeof OutcomeRecord>

export interface SettledReview {
  readonly head: string
  readonly analysis: Pick<Analysis, "findings" | "dismissed" | "coverage" | "skipped" | "refuted">
  /** Maximum number of findings that a review lists; undefined if unknown, so that absence proves nothing. */
  readonly maxProblems: number | undefined
  /** Reactions to the comments at the host; undefined if the review did not read them. */
  readonly reactions: ReadonlyArray<Reaction> | undefined
}

const maxCategory = 100
const maxPath = 1024

/** Returns whether the review lists every problem of the files that it read. */
const isComplete = ({ analysis, maxProblems }: SettledReview): boolean =>
  analysis.skipped === undefined &&
  maxProblems !== undefined &&
  analysis.findings.length < maxProblems &&
  namesAll(analysis.coverage)

/** Returns a predicate: true for a file that was read in full, or that the change no longer contains. */
const judgedPaths = ({ coverage }: SettledReview["analysis"]): ((path: string) => boolean) => {
  const skipped = new Set(coverage.skipped.map(({ path }) => path))
  return (path) => !skipped.has(path)
}

const toRecord = (
  { fingerprint, problem, anchor }: Finding,
  head: string,
  reaction: Reaction | undefined,
  isDismissed: boolean
): OutcomeRecord => ({
  fingerprint,
  category: problem.category.replaceAll("\u0000", "").slice(0, maxCategory),
  severity: problem.severity,
  path: (anchor?.path ?? problem.file).replaceAll("\u0000", "").slice(0, maxPath),
  head,
  outcome: (reaction?.dismissed ?? isDismissed) ? "dismissed" : "open",
  replied: reaction?.replied === true
})

/** Returns the records to write: new ones, and those that the review changed. */
export const decideOutcomes = (
  before: ReadonlyArray<OutcomeRecord>,
  review: SettledReview
): ReadonlyArray<OutcomeRecord> => {
  const { head, analysis } = review
  const reactions = new Map((review.reactions ?? []).map((reaction) => [reaction.fp, reaction]))
  const present = new Set(analysis.findings.map(({ fingerprint }) => fingerprint))
  const refuted = new Set((analysis.refuted ?? []).map(({ finding }) => finding.fingerprint))
  const dismissedBefore = new Set(analysis.dismissed)
  const complete = isComplete(review)
  const isJudged = judgedPaths(analysis)
  const next = (earlier: OutcomeRecord): OutcomeRecord => {
    const reaction = reactions.get(earlier.fingerprint)
    const replied = earlier.replied || reaction?.replied === true
    if (present.has(earlier.fingerprint)) {
      const dismissed =
        reaction?.dismissed ?? (earlier.outcome === "dismissed" || dismissedBefore.has(earlier.fingerprint))
      return { ...earlier, head, replied, outcome: dismissed ? "dismissed" : "open" }
    }
    if (earlier.outcome !== "open") return { ...earlier, replied }
    const isGone = complete && earlier.head !== head && !refuted.has(earlier.fingerprint) && isJudged(earlier.path)
    return { ...earlier, replied, outcome: isGone ? "fixed" : reaction?.dismissed === true ? "dismissed" : "open" }
  }
  const known = new Set(before.map(({ fingerprint }) => fingerprint))
  const added = new Map(
    analysis.findings
      .filter(({ fingerprint }) => !known.has(fingerprint))
      .map((finding) => [
        finding.fingerprint,
        toRecord(finding, head, reactions.get(finding.fingerprint), dismissedBefore.has(finding.fingerprint))
      ])
  )
  const changed = before.flatMap((earlier) => {
    const after = next(earlier)
    const isSame = after.outcome === earlier.outcome && after.replied === earlier.replied && after.head === earlier.head
    return isSame ? [] : [after]
  })
  return [...changed, ...added.values()]
}

/** Counts of one agent and model in one repository. */
export interface OutcomeCounts {
  readonly repository: string
  readonly agent: string
  readonly model: string
  readonly findings: number
  readonly fixed: number
  readonly dismissed: number
  readonly open: number
  readonly replied: number
}
