/** Content of the output of `aicr review`, independent of the format. */
import type { Result } from "effect"
import { countProblems } from "../../domain/Analysis.ts"
import type { Analysis } from "../../domain/Analysis.ts"
import { countReviewed, hasUnreadText, isMostlyRead } from "../../domain/Coverage.ts"
import type { VcsKind } from "../../domain/Kinds.ts"
import type { SkippedFile } from "../../domain/Coverage.ts"
import type { Finding } from "../../domain/Problem.ts"
import { showName } from "../../domain/Text.ts"
import type { ExitWith } from "../Exit.ts"
import { count } from "../Wording.ts"
import type { PublishedReview } from "./PublishReview.ts"
import { inEnglish } from "../../text/en.ts"

export interface LocalReview {
  readonly vcs: VcsKind
  readonly root: string
  readonly baseName: string
  /** Full commit ids or numbers of revisions; `from` is the start of the diff. */
  readonly from: string
  readonly head: string
  readonly headName: string
  readonly analysis: Analysis
  /** Result of the publication; absent if it was not requested. */
  readonly published?: Result.Result<PublishedReview, ExitWith>
}

/** Returns whether a part of the change was not read in full. */
export const isPartial = ({ coverage, partial }: Analysis): boolean =>
  partial === true || hasUnreadText(coverage) || !isMostlyRead(coverage)

export const formatTitle = ({ problem }: Finding): string =>
  problem.title ?? problem.message.split("\n", 1)[0]?.slice(0, 120) ?? problem.category

/** Formats a location as `path:line`, `path:first-last`, or the file alone. */
export const formatLocation = ({ anchor, problem }: Finding): string => {
  if (anchor === undefined) return showName(problem.file)
  const lines = anchor.start === undefined ? String(anchor.line) : `${anchor.start}-${anchor.line}`
  return `${showName(anchor.path)}:${lines}${anchor.side === "old" ? " (removed)" : ""}`
}

/** Formats why a file was not read, and how many of its changed lines were. */
export const formatSkip = ({ changed, read, reason, rule }: SkippedFile): string =>
  [
    rule === undefined ? reason : `${reason} by ${rule}`,
    ...(changed === undefined || read === undefined ? [] : [`${read} of ${changed} changed lines read`])
  ].join(", ")

/** Formats notices. The command delivers nothing, so it has the number of problems for maintainers only in place of their delivery. */
export const formatNotices = ({ notices, private: kept = [] }: Analysis): ReadonlyArray<string> => [
  ...notices.filter(({ _tag }) => _tag !== "DeliveredPrivately").map(inEnglish),
  ...(kept.length === 0
    ? []
    : [`${count(kept.length, "problem")} for maintainers only (review.private): counted, and not shown or delivered`])
]

/** Formats the result in one line. */
export const formatVerdict = ({ analysis, baseName, headName }: LocalReview): string => {
  const { coverage, skipped } = analysis
  const range = `${baseName}...${headName}`
  if (skipped !== undefined) return `${range}: not reviewed. ${inEnglish(skipped)}`
  const read = `${count(countReviewed(coverage), "file")}, ${count(coverage.lines, "changed line")}`
  const missing = coverage.unusable === undefined ? "" : "; problems may be missing"
  return `${range}: ${count(countProblems(analysis), "problem")} in ${read}${missing}`
}
