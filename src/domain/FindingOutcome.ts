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
import { Schema } from "effect"
import type { Analysis } from "./Analysis.ts"
import { namesAll } from "./Coverage.ts"
import { DecidedBy } from "./DecidedBy.ts"
import { FindingState } from "./FindingState.ts"
import { Severity } from "./Kinds.ts"
import { Anchor, findingTitle } from "./Problem.ts"
import type { Finding } from "./Problem.ts"
import type { Reaction } from "./Publication.ts"
import * as Field from "./Field.ts"
import { record } from "./Record.ts"
import type { RecordValues } from "./Record.ts"

/** `closed`: without a merge. */
const ChangeEnd = Schema.Literals(["merged", "closed"])

export const OutcomeRecord = record({
  fingerprint: Field.text,
  category: Field.text,
  severity: Field.stored(Severity),
  path: Field.text,
  /** First line of its title or message. */
  title: Field.outsideText,
  /** Its lines on the newest head on which it was present; absent if it was not anchored. */
  anchor: Field.optional(Field.json(Anchor)),
  /** Key of the quoted code (review/CodeKey.ts), if it has one. */
  code: Field.optional(Field.text),
  /** Newest head on which it was present. */
  head: Field.text,
  outcome: Field.stored(FindingState),
  /** True once a person replied to its comment. */
  replied: Field.flag,
  /** Person who dismissed it; absent unless it is dismissed, and where this is not known. */
  dismissedBy: Field.optional(Field.stored(DecidedBy)),
  /** End of the change at which it was decided; absent while the change is open. */
  settled: Field.optional(Field.stored(ChangeEnd)),
  settledAt: Field.optional(Field.time),
  /** Person who merged the change; absent unless it is merged, and where the host does not name one. */
  mergedBy: Field.optional(Field.stored(DecidedBy))
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
  { fingerprint, problem }: Finding,
  reaction: Reaction | undefined,
  present: Present,
  isDismissed: boolean
): OutcomeRecord => ({
  fingerprint,
  category: problem.category.replaceAll("\u0000", "").slice(0, maxCategory),
  severity: problem.severity,
  title: findingTitle(problem),
  ...present,
  replied: reaction?.replied === true,
  ...dismissalOf(reaction, isDismissed, undefined)
})

/** Values of a finding that the newest review found. */
type Present = Pick<OutcomeRecord, "anchor" | "code" | "head" | "path">

const presentOn = ({ anchor, code, problem }: Finding, head: string): Present => ({
  path: (anchor?.path ?? problem.file).replaceAll("\u0000", "").slice(0, maxPath),
  anchor,
  code,
  head
})

const dismissalOf = (
  reaction: Reaction | undefined,
  isDismissed: boolean,
  before: DecidedBy | undefined
): Pick<OutcomeRecord, "dismissedBy" | "outcome"> =>
  (reaction?.dismissed ?? isDismissed)
    ? { outcome: "dismissed", dismissedBy: reaction === undefined ? before : reaction.by }
    : { outcome: "open", dismissedBy: undefined }

const isSame = (before: OutcomeRecord, after: OutcomeRecord): boolean =>
  after.outcome === before.outcome &&
  after.replied === before.replied &&
  after.head === before.head &&
  after.dismissedBy === before.dismissedBy

/** Returns the records to write: new ones, and those that the review changed. */
export const decideOutcomes = (
  before: ReadonlyArray<OutcomeRecord>,
  review: SettledReview
): ReadonlyArray<OutcomeRecord> => {
  const { head, analysis } = review
  const reactions = new Map((review.reactions ?? []).map((reaction) => [reaction.fp, reaction]))
  const present = new Map(analysis.findings.map((finding) => [finding.fingerprint, finding]))
  const refuted = new Set((analysis.refuted ?? []).map(({ finding }) => finding.fingerprint))
  const dismissedBefore = new Set(analysis.dismissed)
  const complete = isComplete(review)
  const isJudged = judgedPaths(analysis)
  const next = (earlier: OutcomeRecord): OutcomeRecord => {
    const reaction = reactions.get(earlier.fingerprint)
    const replied = earlier.replied || reaction?.replied === true
    const found = present.get(earlier.fingerprint)
    if (found !== undefined) {
      const wasDismissed = earlier.outcome === "dismissed" || dismissedBefore.has(earlier.fingerprint)
      return {
        ...earlier,
        ...presentOn(found, head),
        replied,
        ...dismissalOf(reaction, wasDismissed, earlier.dismissedBy)
      }
    }
    if (earlier.outcome !== "open") return { ...earlier, replied }
    const isGone = complete && earlier.head !== head && !refuted.has(earlier.fingerprint) && isJudged(earlier.path)
    if (isGone) return { ...earlier, replied, outcome: "fixed" }
    return { ...earlier, replied, ...dismissalOf(reaction, false, undefined) }
  }
  const known = new Set(before.map(({ fingerprint }) => fingerprint))
  const added = new Map(
    analysis.findings
      .filter(({ fingerprint }) => !known.has(fingerprint))
      .map((finding) => [
        finding.fingerprint,
        toRecord(
          finding,
          reactions.get(finding.fingerprint),
          presentOn(finding, head),
          dismissedBefore.has(finding.fingerprint)
        )
      ])
  )
  const changed = before.flatMap((earlier) => {
    const after = next(earlier)
    return isSame(earlier, after) ? [] : [after]
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
