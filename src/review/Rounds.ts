/**
 * Decides which findings of a round are new, late or carried, and which of them are published.
 *
 * | reported before | its lines                   | severity       | bar      | round   | published |
 * |-----------------|-----------------------------|----------------|----------|---------|-----------|
 * | yes             | any                         | any            | any      | carried | yes       |
 * | no              | one changed or was not read | any            | any      | new     | yes       |
 * | no              | an earlier round read all   | high, critical | any      | late    | yes       |
 * | no              | an earlier round read all   | lower          | lifted   | late    | yes       |
 * | no              | an earlier round read all   | lower          | in force | late    | no        |
 *
 * A person lifts the bar for one review. Pure.
 */
import { isUnresolved } from "../domain/FindingState.ts"
import { severityRank } from "../domain/Kinds.ts"
import type { Severity } from "../domain/Kinds.ts"
import { findingTitle } from "../domain/Problem.ts"
import type { Finding } from "../domain/Problem.ts"
import type { FindingRound, RememberedFinding } from "../domain/Round.ts"

/** Late findings of at least this severity are published. */
const publishedFrom = severityRank("high")

interface RoundInput {
  readonly number: number
  /** Findings of the last review, and those that earlier rounds reported. */
  readonly earlier: ReadonlyArray<Finding>
  /** Late findings of the last review. */
  readonly late: ReadonlyArray<Finding>
  readonly reported: ReadonlyArray<RememberedFinding>
  readonly isLifted: boolean
}

export interface SettledRound {
  readonly published: ReadonlyArray<Finding>
  readonly late: ReadonlyArray<Finding>
}

/** `roundsRead`: the first round that had read all lines of each finding, or 0. */
export const settleRound = (
  findings: ReadonlyArray<Finding>,
  roundsRead: ReadonlyArray<number>,
  input: RoundInput
): SettledRound => {
  const reads = roundsRead.map((round) => (round < input.number ? round : 0))
  const known = knownFindings(input)
  const since = new Map(input.late.map(({ fingerprint, round }) => [fingerprint, round?.since]))
  const named = withEarlierNames(findings, reads, input)
  const settled = named.map((finding, at): Finding => {
    const read = reads[at] ?? 0
    const before = known.get(finding.fingerprint)
    if (before === undefined)
      return { ...finding, round: roundOf(finding, read, since.get(finding.fingerprint) ?? input.number, input.number) }
    return { ...withinSeverity(finding, before.severity, read), round: before.round }
  })
  const isPublished = ({ problem, round }: Finding): boolean =>
    round?.kind !== "late" || input.isLifted || severityRank(problem.severity) >= publishedFrom
  return { published: settled.filter(isPublished), late: settled.filter((finding) => !isPublished(finding)) }
}

/** A finding on lines that did not change becomes more severe only if it would be published as a late one, too. */
const withinSeverity = (finding: Finding, before: Severity, read: number): Finding => {
  const rank = severityRank(finding.problem.severity)
  return read === 0 || rank <= severityRank(before) || rank >= publishedFrom
    ? finding
    : { ...finding, problem: { ...finding.problem, severity: before } }
}

/** Marks findings of files that were not read again. */
export const carriedOn = (findings: ReadonlyArray<Finding>, number: number): ReadonlyArray<Finding> =>
  findings.map((finding) => ({ ...finding, round: toCarried(finding, number) }))

/** A finding of no model exists from the round on in which its line was added. */
const roundOf = ({ fact }: Finding, read: number, since: number, number: number): FindingRound =>
  read === 0 || fact !== undefined ? { kind: "new", since: number } : { kind: "late", since, missed: read }

/** Keeps the round of a finding that a review of the same round reported, because that review was not published. */
const toCarried = ({ round }: Pick<Finding, "round">, number: number): FindingRound =>
  round !== undefined && round.since === number
    ? round
    : {
        kind: "carried",
        since: round?.since ?? 1,
        ...(round?.missed === undefined ? {} : { missed: round.missed })
      }

interface KnownFinding {
  readonly round: FindingRound
  readonly severity: Severity
}

const knownFindings = ({ earlier, number, reported }: RoundInput): ReadonlyMap<string, KnownFinding> => {
  const known = new Map<string, KnownFinding>()
  for (const { fingerprint, severity, since, state } of reported) {
    // A finding that was repaired and returns is judged by its lines.
    if (state === "fixed" || state === "moved_away") continue
    known.set(fingerprint, { round: { kind: since === number ? "new" : "carried", since }, severity })
  }
  for (const finding of earlier)
    known.set(finding.fingerprint, { round: toCarried(finding, number), severity: finding.problem.severity })
  return known
}

/**
 * Replaces a late finding by one of the last review about the same code that was not found again: a model names the same problem differently,
 * and the comment about it remains. One that became high or critical is another problem.
 */
const withEarlierNames = (
  findings: ReadonlyArray<Finding>,
  reads: ReadonlyArray<number>,
  { earlier }: RoundInput
): ReadonlyArray<Finding> => {
  const found = new Set(findings.map(({ fingerprint }) => fingerprint))
  const known = new Set(earlier.map(({ fingerprint }) => fingerprint))
  const missing = earlier.filter(
    ({ code, fact, fingerprint }) => code !== undefined && fact === undefined && !found.has(fingerprint)
  )
  const byCode = new Map(missing.map((finding) => [keyOfCode(finding), finding]))
  return findings.map((finding, at) => {
    const { anchor, code, fingerprint, problem } = finding
    const before =
      code === undefined || reads[at] === 0 || known.has(fingerprint) ? undefined : byCode.get(keyOfCode(finding))
    const rank = severityRank(problem.severity)
    if (before === undefined || (rank >= publishedFrom && rank > severityRank(before.problem.severity))) return finding
    byCode.delete(keyOfCode(finding))
    const { end_line, line, quote } = problem
    return {
      ...before,
      ...(anchor && { anchor }),
      problem: { ...before.problem, ...defined({ end_line, line, quote }) }
    }
  })
}

const defined = <A extends object>(values: A) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

const keyOfCode = ({ anchor, code }: Finding): string => JSON.stringify([anchor?.path, anchor?.side, code])

/** Findings that a round remembers; those that count are kept first, then the newest. */
const maxRemembered = 300

/** Returns what the round reported, with everything that earlier ones reported. `isJudged`: whether a file was read in full. */
export const rememberRound = (
  reported: ReadonlyArray<RememberedFinding>,
  findings: ReadonlyArray<Finding>,
  number: number,
  isJudged: (file: string) => boolean
): ReadonlyArray<RememberedFinding> => {
  const present = new Map(findings.map((finding) => [finding.fingerprint, finding]))
  const known = new Set(reported.map(({ fingerprint }) => fingerprint))
  const earlier = reported.map((one): RememberedFinding => {
    const isFound = present.has(one.fingerprint)
    if (isFound) return one.state === "fixed" ? { ...one, state: "open" } : one
    return isUnresolved(one.state) && isJudged(one.file) ? { ...one, state: "fixed" } : one
  })
  const added = [...present.values()].flatMap((finding): ReadonlyArray<RememberedFinding> => {
    const { anchor, fingerprint, problem, round } = finding
    if (known.has(fingerprint)) return []
    const { severity } = problem
    const [file, title] = [anchor?.path ?? problem.file, findingTitle(problem)]
    return [{ fingerprint, file, severity, title, since: round?.since ?? number, state: "open" }]
  })
  return [...earlier, ...added]
    .toSorted((a, b) => Number(isUnresolved(b.state)) - Number(isUnresolved(a.state)) || b.since - a.since)
    .slice(0, maxRemembered)
}
