/** Selects the findings that a channel publishes. Pure. */
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { Analysis } from "../domain/Analysis.ts"
import { severityRank } from "../domain/Kinds.ts"
import type { Finding } from "../domain/Problem.ts"
import type { PublishInput } from "./Channel.ts"

/** Returns the findings of at least the channel's minimum severity, the most severe first. */
export const visibleFindings = (channel: ChannelConfig, { findings }: Analysis): ReadonlyArray<Finding> => {
  const minRank = severityRank(channel.min_severity ?? "info")
  return findings
    .filter(({ problem }) => severityRank(problem.severity) >= minRank)
    .toSorted((a, b) => severityRank(b.problem.severity) - severityRank(a.problem.severity))
}

/**
 * Returns whether the analysis lists all problems: a skipped one, or one that reached its limit of problems, may be incomplete.
 */
export const listsAllProblems = ({ analysis, workspace }: PublishInput): boolean =>
  analysis.skipped === undefined && analysis.findings.length < workspace.review.max_problems
