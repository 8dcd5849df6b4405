/** What a channel shows of a review, and what a review says of problems that it does not show. Pure. */
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { Analysis } from "../domain/Analysis.ts"
import { severityRank } from "../domain/Kinds.ts"
import type { Finding } from "../domain/Problem.ts"
import type { PublishInput } from "./Channel.ts"

/** Problems of the channel's least severity or above, the gravest first. */
export const shownBy = (channel: ChannelConfig, { findings }: Analysis): ReadonlyArray<Finding> => {
  const least = severityRank(channel.min_severity ?? "info")
  return findings
    .filter(({ problem }) => severityRank(problem.severity) >= least)
    .toSorted((a, b) => severityRank(b.problem.severity) - severityRank(a.problem.severity))
}

/** Whether it names every problem that stands: one that was skipped, or reached its limit of problems, may have left some out. */
export const namesAll = ({ analysis, workspace }: PublishInput): boolean =>
  analysis.skipped === undefined && analysis.findings.length < workspace.review.max_problems
