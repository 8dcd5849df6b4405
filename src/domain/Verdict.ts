/** Computes the commit status of a review. Pure. */
import type { Reason } from "./Reason.ts"
import { countBySeverity, countedSeverities, countProblems, isRefusedByBudget } from "./Analysis.ts"
import type { Analysis, MemberVerdict } from "./Analysis.ts"
import { countUnread, hasUnreadText, isMostlyRead } from "./Coverage.ts"
import { severityRank } from "./Kinds.ts"
import type { Severity } from "./Kinds.ts"
import type { StatusState } from "./Publication.ts"

interface VerdictSettings {
  readonly unread: "neutral" | "fail" | "ignore"
  /** Minimum severity that fails the status. */
  readonly status_fail_on?: Severity | undefined
}

/**
 * Returns a failure if a problem that is not dismissed reaches the severity. Never a success if less than 90 % of the changed lines were read, or if added text
 * was not read, unless the configuration allows the latter.
 */
export const decideVerdict = (
  analysis: Pick<Analysis, "findings" | "dismissed" | "private" | "coverage" | "members">,
  settings: VerdictSettings
): StatusState => {
  const own = decideOwn(analysis, settings)
  const states = unpassedMembers(analysis).map(({ state }) => state)
  if (own === "failure" || states.length === 0) return own
  return states.includes("failure") || settings.unread === "fail" ? "failure" : "neutral"
}

/** Returns the pull requests of a merge group whose own verdict is not `success`: the group does not pass either. */
export const unpassedMembers = ({ members = [] }: Pick<Analysis, "members">): ReadonlyArray<MemberVerdict> =>
  members.filter(({ state }) => state !== undefined && state !== "success")

const decideOwn = (
  analysis: Pick<Analysis, "findings" | "dismissed" | "private" | "coverage">,
  { unread, status_fail_on: failOn }: VerdictSettings
): StatusState => {
  const isGrave = (severity: Severity) => failOn !== undefined && severityRank(severity) >= severityRank(failOn)
  const { coverage } = analysis
  if (countedSeverities(analysis).some(isGrave)) return "failure"
  if (isMostlyRead(coverage) && (!hasUnreadText(coverage) || unread === "ignore")) return "success"
  return unread === "fail" ? "failure" : "neutral"
}

type Described = Pick<Analysis, "findings" | "dismissed" | "private" | "skipped" | "coverage" | "usage">

/** Returns the description of the status. */
export const describe = (analysis: Described & Pick<Analysis, "members">): Reason => {
  const found = describeOwn(analysis)
  const changes = unpassedMembers(analysis).map(({ number }) => `#${number}`)
  return changes.length === 0 ? found : { _tag: "MembersUnpassed", found, changes }
}

const describeOwn = (analysis: Described): Reason => {
  const { coverage, skipped, usage } = analysis
  const counted = countedSeverities(analysis)
  const count = counted.length
  const all = countProblems(analysis)
  if (isRefusedByBudget({ coverage, usage }))
    return { _tag: "BudgetExhausted", ...(count === 0 ? {} : { known: count }) }
  const dismissed = count === all ? {} : { dismissed: all - count }
  const severities = countBySeverity(counted).map((one): Reason => ({ _tag: "SeverityCount", ...one }))
  const found: Reason =
    count === 0 ? { _tag: "NoProblemsFound", ...dismissed } : { _tag: "ProblemsFound", severities, ...dismissed }
  const lost = coverage.unusable?.find(({ reason }) => reason === "report")?.count ?? 0
  if (lost > 0) return { _tag: "ReportsLost", found, count: lost }
  const unread = countUnread(coverage)
  if (unread > 0) return { _tag: "FilesUnread", found, count: unread }
  if (!isMostlyRead(coverage))
    return { _tag: "LinesUnread", found, lines: coverage.lines, changed: coverage.changed ?? 0 }
  return skipped === undefined ? found : { _tag: "NothingToReview" }
}
