/**
 * Decides the outcome of each published finding of a pull request: one record per target and fingerprint, updated by each later review. Pure.
 *
 * | present | before     | people at the host | its file                    | outcome               |
 * | ------- | ---------- | ------------------ | --------------------------- | --------------------- |
 * | yes     | any        | dismissed it       |                             | dismissed             |
 * | yes     | any        | an objection withdrew it |                       | withdrawn             |
 * | yes     | any        | did not dismiss it |                             | open                  |
 * | yes     | any        | not read, but before |                           | dismissed             |
 * | yes     | dismissed, withdrawn | not read |                             | unchanged             |
 * | yes     | other      | not read           |                             | open                  |
 * | no      | open       | any                | read on another head        | fixed                 |
 * | no      | open       | any                | no longer in the change     | fixed                 |
 * | no      | open       | dismissed it       | otherwise                   | dismissed             |
 * | no      | open       | otherwise          | otherwise                   | open                  |
 * | no      | another one | any               |                             | unchanged             |
 *
 * The end of the change decides last (`settleOutcome`). A finding of a change that was opened again is like one that no end had decided about:
 * `open` above includes `partly` and `open_at_merge`.
 */
import { Schema } from "effect"
import { countProblems } from "./Analysis.ts"
import type { Analysis } from "./Analysis.ts"
import { namesAll } from "./Coverage.ts"
import { canonicalCategory } from "./CanonicalCategory.ts"
import { DecidedBy } from "./DecidedBy.ts"
import { FindingEvidence } from "./FindingEvidence.ts"
import { FindingState, isUnresolved } from "./FindingState.ts"
import { Severity } from "./Kinds.ts"
import { Anchor, findingTitle } from "./Problem.ts"
import type { Finding } from "./Problem.ts"
import type { Reaction } from "./Publication.ts"
import { privateDigest } from "./PrivateDigest.ts"
import * as Field from "./Field.ts"
import { record } from "./Record.ts"
import type { RecordValues } from "./Record.ts"

/** `closed`: without a merge. */
const ChangeEnd = Schema.Literals(["merged", "closed"])
type ChangeEnd = typeof ChangeEnd.Type

/** `kept`: its code is unchanged since the merge. */
const LaterChange = Schema.Literals(["changed", "kept"])
export type LaterChange = typeof LaterChange.Type

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
  evidence: Field.optional(Field.json(FindingEvidence)),
  /** Id of the rule of the repository that it cites. */
  rule: Field.optional(Field.text),
  /**
   * Digest that names it (PrivateDigest.ts) if only maintainers get it: what is read for people has this instead of its fingerprint, no title,
   * no rule and no path.
   */
  private: Field.optional(Field.text),
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
  mergedBy: Field.optional(Field.stored(DecidedBy)),
  /** Commit at which the end was decided, and the branch that a merge went to. */
  settledHead: Field.optional(Field.text),
  baseRef: Field.optional(Field.text),
  /** Whether its code was changed within the month after the merge; absent before that, and where it could not be read. */
  later: Field.optional(Field.stored(LaterChange))
})
export type OutcomeRecord = RecordValues<typeof OutcomeRecord>

export interface SettledReview {
  readonly head: string
  readonly analysis: Pick<Analysis, "findings" | "dismissed" | "private" | "coverage" | "skipped" | "refuted">
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
  countProblems(analysis) < maxProblems &&
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
  severity: problem.severity,
  ...(present.private === undefined ? wordsOf(problem) : withoutWords(problem)),
  ...present,
  replied: reaction?.replied === true,
  ...rulingOf(reaction, isDismissed ? dismissed : open)
})

/** Words of a model in the record, and the rule. */
type Words = Pick<OutcomeRecord, "category" | "rule" | "title">

const wordsOf = (problem: Finding["problem"]): Words => ({
  category: problem.category.replaceAll("\u0000", "").slice(0, maxCategory),
  title: findingTitle(problem),
  rule: problem.rule
})

const withoutWords = ({ category }: Finding["problem"]): Words => ({
  category: canonicalCategory(category),
  title: "",
  rule: undefined
})

/** Values of a finding that the newest review found. */
type Present = Pick<OutcomeRecord, "anchor" | "code" | "evidence" | "head" | "path" | "private">

interface Found {
  readonly finding: Finding
  /** Digest of one that only maintainers get. */
  readonly digest?: string
}

/** Returns the findings of a review, also those that only maintainers get. */
const listFound = ({ findings, private: delivered = [] }: SettledReview["analysis"]): ReadonlyArray<Found> => [
  ...findings.map((finding) => ({ finding })),
  ...delivered.map((one) => ({ finding: one.finding, digest: privateDigest(one) }))
]

const presentOn = ({ digest, finding: { anchor, code, evidence, problem } }: Found, head: string): Present => ({
  private: digest,
  path: (anchor?.path ?? problem.file).replaceAll("\u0000", "").slice(0, maxPath),
  anchor,
  code,
  evidence,
  head
})

type Ruling = Pick<OutcomeRecord, "dismissedBy" | "outcome">

/** `before`: the state that holds if the comments of the finding were not read. */
const rulingOf = (reaction: Reaction | undefined, before: Ruling): Ruling => {
  if (reaction === undefined) return { outcome: before.outcome, dismissedBy: before.dismissedBy }
  if (!reaction.dismissed) return open
  return reaction.withdrawn === true
    ? { outcome: "withdrawn", dismissedBy: undefined }
    : { outcome: "dismissed", dismissedBy: reaction.by }
}

const open: Ruling = { outcome: "open", dismissedBy: undefined }
const dismissed: Ruling = { outcome: "dismissed", dismissedBy: undefined }

const isRuled = ({ outcome }: Ruling): boolean => outcome === "dismissed" || outcome === "withdrawn"

const isSame = (before: OutcomeRecord, after: OutcomeRecord): boolean =>
  after.outcome === before.outcome &&
  after.replied === before.replied &&
  after.head === before.head &&
  after.dismissedBy === before.dismissedBy &&
  after.private === before.private

/** Returns the records to write: new ones, and those that the review changed. */
export const decideOutcomes = (
  before: ReadonlyArray<OutcomeRecord>,
  review: SettledReview
): ReadonlyArray<OutcomeRecord> => {
  const { head, analysis } = review
  const reactions = new Map((review.reactions ?? []).map((reaction) => [reaction.fp, reaction]))
  const found = listFound(analysis)
  const present = new Map(found.map((one) => [one.finding.fingerprint, one]))
  const refuted = new Set((analysis.refuted ?? []).map(({ finding }) => finding.fingerprint))
  const dismissedBefore = new Set(analysis.dismissed)
  const complete = isComplete(review)
  const isJudged = judgedPaths(analysis)
  const next = (earlier: OutcomeRecord): OutcomeRecord => {
    const reaction = reactions.get(earlier.fingerprint)
    const replied = earlier.replied || reaction?.replied === true
    const again = present.get(earlier.fingerprint)
    if (again !== undefined) {
      const ruling = isRuled(earlier) ? earlier : dismissedBefore.has(earlier.fingerprint) ? dismissed : open
      const { digest, finding } = again
      const words =
        digest !== undefined
          ? withoutWords(finding.problem)
          : earlier.private === undefined
            ? {}
            : wordsOf(finding.problem)
      return { ...earlier, ...presentOn(again, head), ...words, replied, ...rulingOf(reaction, ruling) }
    }
    if (!isUnresolved(earlier.outcome)) return { ...earlier, replied }
    const isGone = complete && earlier.head !== head && !refuted.has(earlier.fingerprint) && isJudged(earlier.path)
    if (isGone) return { ...earlier, replied, outcome: "fixed" }
    return { ...earlier, replied, ...rulingOf(reaction, open) }
  }
  const known = new Set(before.map(({ fingerprint }) => fingerprint))
  const added = new Map(
    found
      .filter(({ finding }) => !known.has(finding.fingerprint))
      .map((one) => {
        const { fingerprint } = one.finding
        const reaction = reactions.get(fingerprint)
        return [fingerprint, toRecord(one.finding, reaction, presentOn(one, head), dismissedBefore.has(fingerprint))]
      })
  )
  const changed = before.flatMap((earlier) => {
    const after = next(earlier)
    return isSame(earlier, after) ? [] : [after]
  })
  return [...changed, ...added.values()]
}

/** The end of a change, as its host reports it. */
export interface EndedChange {
  readonly end: ChangeEnd
  readonly head: string
  readonly baseRef: string
  readonly mergedBy: DecidedBy | undefined
}

/**
 * Returns the state of a finding before the end of its change decides about its code: what people did about its comments up to then counts. A
 * dismissal of one that was resolved before changes nothing.
 */
export const withReaction = (earlier: OutcomeRecord, reaction: Reaction | undefined): OutcomeRecord => {
  const replied = earlier.replied || reaction?.replied === true
  const isOpen = isRuled(earlier) || isUnresolved(earlier.outcome)
  return { ...earlier, replied, ...(isOpen ? rulingOf(reaction, earlier) : {}) }
}

/** Returns the record of a finding at the end of its change. `state`: what its code is then; `open` if it is still there. */
export const settleOutcome = (
  earlier: OutcomeRecord,
  state: FindingState,
  { baseRef, end, head, mergedBy }: EndedChange,
  now: number
): OutcomeRecord => ({
  ...earlier,
  outcome: state === "open" && end === "merged" ? "open_at_merge" : state,
  settled: end,
  settledAt: now,
  mergedBy: end === "merged" ? mergedBy : undefined,
  settledHead: head,
  baseRef,
  later: undefined
})

/** Returns whether the code of a finding was changed since its change was merged. `state`: what its code is now. */
export const decideLater = (state: FindingState): LaterChange =>
  state === "fixed" || state === "partly" ? "changed" : "kept"

/** Counts of one agent and model in one repository. */
export const OutcomeCounts = record({
  repository: Field.text,
  agent: Field.text,
  model: Field.text,
  findings: Field.sum,
  fixed: Field.sum,
  dismissed: Field.sum,
  partly: Field.sum,
  withdrawn: Field.sum,
  movedAway: Field.sum,
  openAtMerge: Field.sum,
  open: Field.sum,
  replied: Field.sum,
  /** Findings whose code was changed within the month after the merge. */
  changedLater: Field.sum
})
export type OutcomeCounts = RecordValues<typeof OutcomeCounts>
