/** Computes the commit status of a review. Pure. */
import { isRefusedByBudget, openFindings } from "./Analysis.ts"
import type { Analysis } from "./Analysis.ts"
import { countUnread, hasUnreadText, isMostlyRead } from "./Coverage.ts"
import { severityRank } from "./Kinds.ts"
import type { Severity } from "./Kinds.ts"
import type { StatusState } from "./Publication.ts"

export interface VerdictSettings {
  readonly unread: "neutral" | "fail" | "ignore"
  /** Minimum severity that fails the status. */
  readonly status_fail_on?: Severity | undefined
}

/**
 * Returns a failure if a problem that is not dismissed reaches the severity. Never a success if less than 90 % of the changed lines were read, or if added text
 * was not read, unless the configuration allows the latter.
 */
export const decideVerdict = (
  analysis: Pick<Analysis, "findings" | "dismissed" | "coverage">,
  { unread, status_fail_on: failOn }: VerdictSettings
): StatusState => {
  const isGrave = ({ problem }: Analysis["findings"][number]) =>
    failOn !== undefined && severityRank(problem.severity) >= severityRank(failOn)
  const { coverage } = analysis
  if (openFindings(analysis).some(isGrave)) return "failure"
  if (isMostlyRead(coverage) && (!hasUnreadText(coverage) || unread === "ignore")) return "success"
  return unread === "fail" ? "failure" : "neutral"
}

/** Returns the description of the status, one line. */
export const describe = (
  analysis: Pick<Analysis, "findings" | "dismissed" | "skipped" | "coverage" | "usage">
): string => {
  const { coverage, findings, skipped, usage } = analysis
  const open = openFindings(analysis).length
  if (isRefusedByBudget({ coverage, usage }))
    return `Not reviewed: the budget for model calls is exhausted${open === 0 ? "" : `; ${counted(open, "known problem")}`}`
  const unread = countUnread(coverage)
  const dismissed = open === findings.length ? "" : `, ${findings.length - open} dismissed`
  const found = `${open === 0 ? "No problems" : counted(open, "problem")} found${dismissed}`
  const lost = coverage.unusable?.find(({ reason }) => reason === "report")?.count ?? 0
  if (lost > 0) return `${found} in what could be used; ${counted(lost, "report")} of the model could not be read`
  if (unread > 0) return `${found} in what was read; ${counted(unread, "file")} not read in full`
  if (!isMostlyRead(coverage))
    return `${found} in what was read; ${coverage.lines} of ${coverage.changed ?? 0} changed lines read`
  return skipped === undefined ? found : "Nothing to review"
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
