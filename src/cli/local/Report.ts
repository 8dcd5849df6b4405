/** What `aicr review` has to show, whatever the format. */
import type { Result } from "effect"
import type { Analysis } from "../../domain/Analysis.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { ExitWith } from "../Exit.ts"
import { count } from "../Wording.ts"
import type { PublishedReview } from "./PublishReview.ts"

export interface LocalReview {
  readonly root: string
  readonly baseName: string
  /** Full commit ids; `from` is where the diff starts. */
  readonly from: string
  readonly head: string
  readonly analysis: Analysis
  /** Where it was published, or why not; absent where that was not asked for. */
  readonly published?: Result.Result<PublishedReview, ExitWith>
}

export const titleOf = ({ problem }: Finding): string =>
  problem.title ?? problem.message.split("\n", 1)[0]?.slice(0, 120) ?? problem.category

/** `path:line`, `path:first-last`, or the file alone. */
export const placeOf = ({ anchor, problem }: Finding): string => {
  if (anchor === undefined) return problem.file
  const lines = anchor.start === undefined ? String(anchor.line) : `${anchor.start}-${anchor.line}`
  return `${anchor.path}:${lines}${anchor.side === "old" ? " (removed)" : ""}`
}

/** One line about the whole. */
export const verdictOf = ({ analysis, baseName, head }: LocalReview): string => {
  const { findings, coverage, skipped } = analysis
  const range = `${baseName}...${head.slice(0, 10)}`
  if (skipped !== undefined) return `${range}: not reviewed. ${skipped}`
  const read = `${count(coverage.reviewed.length, "file")}, ${count(coverage.lines, "changed line")}`
  return `${range}: ${count(findings.length, "problem")} in ${read}`
}
