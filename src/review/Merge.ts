/**
 * Selects the findings to publish: merges duplicates, drops those below the severity, and applies the limit. Dropped
 * findings are counted. Pure.
 */
import { canonicalCategory } from "../domain/CanonicalCategory.ts"
import { severityRank } from "../domain/Kinds.ts"
import type { Severity } from "../domain/Kinds.ts"
import type { Finding } from "../domain/Problem.ts"

export interface Merged {
  /** Most severe first, then by place. */
  readonly findings: ReadonlyArray<Finding>
  readonly duplicates: number
  readonly belowSeverity: number
  readonly overLimit: number
  /** Paths of problems over the limit, whose findings are not complete in the record. */
  readonly cutPaths: ReadonlySet<string>
}

export const mergeFindings = (
  found: ReadonlyArray<Finding>,
  limits: { readonly minSeverity: Severity; readonly maxProblems: number }
): Merged => {
  const distinct = mergeOverlapping(mergeSame(found))
  const loud = distinct.filter(({ problem }) => severityRank(problem.severity) >= severityRank(limits.minSeverity))
  const joined = joinEqualLines(loud)
  const ordered = joined.toSorted(bySeverityThenPlace)
  const findings = ordered.slice(0, limits.maxProblems)
  return {
    findings,
    duplicates: found.length - distinct.length + loud.length - joined.length,
    belowSeverity: distinct.length - loud.length,
    overLimit: ordered.length - findings.length,
    cutPaths: new Set(ordered.slice(limits.maxProblems).map(({ anchor, problem }) => anchor?.path ?? problem.file))
  }
}

const mergeSame = (found: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  const byIdentity = new Map<string, Finding>()
  for (const finding of found) {
    const known = byIdentity.get(finding.fingerprint)
    byIdentity.set(finding.fingerprint, known === undefined ? finding : stronger(known, finding))
  }
  return [...byIdentity.values()]
}

/** The same category on nearly the same lines is the same problem, quoted with a line more or less. */
const mergeOverlapping = (found: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  const groups = new Map<string, Array<Finding>>()
  for (const finding of found) {
    const { anchor, problem } = finding
    const key =
      anchor === undefined
        ? finding.fingerprint
        : JSON.stringify([anchor.path, anchor.side, canonicalCategory(problem.category)])
    const group = groups.get(key) ?? []
    if (group.length === 0) groups.set(key, group)
    const similar = group.findIndex((other) => overlap(other, finding) >= 0.5)
    const other = group[similar]
    if (other === undefined) group.push(finding)
    else group[similar] = stronger(other, finding)
  }
  return [...groups.values()].flat()
}

/** Problems of exactly the same lines are one, whatever their categories: the stronger one, which names the other. */
const joinEqualLines = (found: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  const byLines = new Map<string, Finding>()
  for (const finding of found) {
    const { anchor, fingerprint } = finding
    const key =
      anchor === undefined ? fingerprint : JSON.stringify([anchor.path, anchor.side, firstLine(finding), anchor.line])
    const known = byLines.get(key)
    byLines.set(key, known === undefined ? finding : join(known, finding))
  }
  return [...byLines.values()]
}

const join = (one: Finding, other: Finding): Finding => {
  const kept = stronger(one, other)
  const { message, title } = byStrength(one, other)[1].problem
  const also = title === undefined ? message : `**${title}**: ${message}`
  if (kept.problem.message.includes(message)) return kept
  return { ...kept, problem: { ...kept.problem, message: `${kept.problem.message}\n\n${also}` } }
}

/** Lines that two findings share, of all the lines they cover. */
const overlap = (a: Finding, b: Finding): number => {
  const shared = Math.min(lastLine(a), lastLine(b)) - Math.max(firstLine(a), firstLine(b)) + 1
  const all = Math.max(lastLine(a), lastLine(b)) - Math.min(firstLine(a), firstLine(b)) + 1
  return shared / all
}

const firstLine = ({ anchor }: Finding): number => anchor?.start ?? anchor?.line ?? 0
const lastLine = ({ anchor }: Finding): number => anchor?.line ?? 0

/** Returns the more severe one, then the more certain one, then the first, and after it the other. */
const byStrength = (a: Finding, b: Finding): readonly [Finding, Finding] => {
  const bySeverity = severityRank(b.problem.severity) - severityRank(a.problem.severity)
  const isSecond = bySeverity === 0 ? (b.problem.confidence ?? 0) > (a.problem.confidence ?? 0) : bySeverity > 0
  return isSecond ? [b, a] : [a, b]
}

/** Returns the stronger one, with the rule that the other one cites if it cites none. */
const stronger = (a: Finding, b: Finding): Finding => {
  const [kept, other] = byStrength(a, b)
  const { rule } = other.problem
  return kept.problem.rule !== undefined || rule === undefined ? kept : { ...kept, problem: { ...kept.problem, rule } }
}

const bySeverityThenPlace = (a: Finding, b: Finding): number => {
  const severity = severityRank(b.problem.severity) - severityRank(a.problem.severity)
  if (severity !== 0) return severity
  const [left, right] = [a.anchor?.path ?? a.problem.file, b.anchor?.path ?? b.problem.file]
  return left === right ? firstLine(a) - firstLine(b) : left < right ? -1 : 1
}
