/** Selects the findings that a channel publishes. Pure. */
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import { countProblems, openFindings } from "../../domain/Analysis.ts"
import type { Analysis } from "../../domain/Analysis.ts"
import { severityRank } from "../../domain/Kinds.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { Severity } from "../../domain/Kinds.ts"
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

/** Returns the late findings of at least the channel's minimum severity, the most severe first. */
export const visibleLate = (channel: ChannelConfig, { late = [] }: Pick<Analysis, "late">): ReadonlyArray<Finding> =>
  bySeverity(channel, late)

/** Returns the findings of folded kinds of at least the channel's minimum severity, the most severe first. */
export const visibleFolded = (
  channel: ChannelConfig,
  { folded = [] }: Pick<Analysis, "folded">
): ReadonlyArray<Finding> =>
  bySeverity(
    channel,
    folded.map(({ finding }) => finding)
  )

/** Returns the number of findings that are not dismissed and are below the channel's minimum severity. */
export const countHidden = (channel: ChannelConfig, analysis: Findings): number =>
  openFindings(analysis).length - visibleFindings(channel, analysis).length

/** Returns the findings of at least the channel's minimum severity, also dismissed ones. */
export const trackedFindings = (channel: ChannelConfig, { findings }: Findings): ReadonlyArray<Finding> =>
  bySeverity(channel, findings)

/** Defaults of review channels. */
const inlineMinSeverity: Severity = "medium"
const maxComments = 10

const isInline = ({ inline_min_severity: min = inlineMinSeverity }: ChannelConfig, { problem }: Finding): boolean =>
  severityRank(problem.severity) >= severityRank(min)

/** Returns the findings that get comments at their lines. `visible`: the most severe first. */
export const selectInline = (channel: ChannelConfig, visible: ReadonlyArray<Finding>): ReadonlyArray<Finding> =>
  visible
    .filter((finding) => finding.anchor !== undefined && isInline(channel, finding))
    .slice(0, channel.max_comments ?? maxComments)

/** The findings of a review, and how a channel shows them. */
export interface Shown {
  /** Findings to list, the most severe first. */
  readonly findings: ReadonlyArray<Finding>
  /** Findings that the text has with their message: no line has them. */
  readonly detailed: ReadonlySet<Finding>
  /** Findings below the severity from which problems get comments at lines. */
  readonly folded: ReadonlySet<Finding>
}

/**
 * Returns how a summary shows findings: those beyond the maximum number of comments by their title, the others without a comment with their
 * message, minor ones folded.
 */
export const selectShown = (
  channel: ChannelConfig,
  findings: ReadonlyArray<Finding>,
  inline: ReadonlyArray<Finding>,
  hasLines: boolean
): Shown => {
  const atLine = new Set(inline)
  const minor = findings.filter((finding) => !isInline(channel, finding))
  const isOverMax = (finding: Finding) => hasLines && finding.anchor !== undefined && isInline(channel, finding)
  return {
    findings,
    detailed: new Set(findings.filter((finding) => !atLine.has(finding) && !isOverMax(finding))),
    folded: new Set(minor)
  }
}

/** Returns the fingerprints of all problems that exist, published or not. */
export const listPresent = ({
  findings,
  folded = [],
  late = [],
  private: delivered = []
}: Pick<Analysis, "findings" | "folded" | "late" | "private">): ReadonlyArray<string> =>
  [...findings, ...late, ...[...folded, ...delivered].map(({ finding }) => finding)].map(
    ({ fingerprint }) => fingerprint
  )

/**
 * Returns whether the analysis lists all problems: a skipped one, or one that reached its limit of problems, may be incomplete.
 */
export const listsAllProblems = ({ analysis, workspace }: PublishInput): boolean =>
  analysis.skipped === undefined && countProblems(analysis) < workspace.review.max_problems
