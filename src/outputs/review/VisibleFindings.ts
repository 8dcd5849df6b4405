/** Selects the findings that a channel publishes. Pure. */
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import { openFindings } from "../../domain/Analysis.ts"
import type { Analysis } from "../../domain/Analysis.ts"
import { severityRank } from "../../domain/Kinds.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { PublishInput } from "../channels/Channel.ts"

type Findings = Pick<Analysis, "dismissed" | "findings">

const bySeverity = (channel: ChannelConfig, findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  const minRank = severityRank(channel.min_severity ?? "info")
  return findings
    .filter(({ problem }) => severityRank(problem.severity) >= minRank)
    .toSorted((a, b) => severityRank(b.problem.severity) - severityRank(a.problem.severity))
}

/** Returns the findings that are not dismissed, of at least the channel's minimum severity, the most severe first. */
export const visibleFindings = (channel: ChannelConfig, analysis: Findings): ReadonlyArray<Finding> =>
  bySeverity(channel, openFindings(analysis))

/** Returns the number of findings that are not dismissed and are below the channel's minimum severity. */
export const countHidden = (channel: ChannelConfig, analysis: Findings): number =>
  openFindings(analysis).length - visibleFindings(channel, analysis).length

/** Returns the findings of at least the channel's minimum severity, also dismissed ones. */
export const trackedFindings = (channel: ChannelConfig, { findings }: Findings): ReadonlyArray<Finding> =>
  bySeverity(channel, findings)

/**
 * Returns whether the analysis lists all problems: a skipped one, or one that reached its limit of problems, may be incomplete.
 */
export const listsAllProblems = ({ analysis, workspace }: PublishInput): boolean =>
  analysis.skipped === undefined && analysis.findings.length < workspace.review.max_problems
