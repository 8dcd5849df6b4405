/** What the commit of a reviewed head says of the review. Pure. */
import type { Analysis } from "./Analysis.ts"
import { unreadPaths } from "./Coverage.ts"
import { severityRank } from "./Kinds.ts"
import type { Severity } from "./Kinds.ts"
import type { StatusState } from "./Publication.ts"

export interface VerdictSettings {
  readonly unread: "neutral" | "fail" | "ignore"
  /** Least severity that fails the status. */
  readonly status_fail_on?: Severity | undefined
}

/**
 * A failure where a problem is grave enough for it. Never a success where added text was not read, unless the configuration lets that
 * pass.
 */
export const verdictOf = (
  { findings, coverage }: Pick<Analysis, "findings" | "coverage">,
  { unread, status_fail_on: failOn }: VerdictSettings
): StatusState => {
  const isGrave = ({ problem }: Analysis["findings"][number]) =>
    failOn !== undefined && severityRank(problem.severity) >= severityRank(failOn)
  if (findings.some(isGrave)) return "failure"
  if (unreadPaths(coverage).length === 0 || unread === "ignore") return "success"
  return unread === "fail" ? "failure" : "neutral"
}

/** One line for the commit. */
export const describe = ({
  findings,
  skipped,
  coverage
}: Pick<Analysis, "findings" | "skipped" | "coverage">): string => {
  const unread = unreadPaths(coverage).length
  const found = `${findings.length === 0 ? "No problems" : counted(findings.length, "problem")} found`
  if (unread > 0) return `${found} in what was read; ${counted(unread, "file")} not read in full`
  return skipped === undefined ? found : "Nothing to review"
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
