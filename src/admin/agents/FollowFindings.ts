/** Combines the findings of the newest review of a change with what became of them: their numbers and states. Pure. */
import type { FindingState } from "../../domain/FindingState.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { ListedFinding } from "../../domain/Publication.ts"
import type { DatedOutcome } from "../../store/Outcomes.ts"
import type { Run } from "../../store/Runs.ts"

export interface FollowedFinding {
  readonly finding: Finding
  readonly number: number
  readonly state: FindingState
  readonly url: string | undefined
}

interface FindingRecords {
  /** Findings as the summary lists them; empty where no summary is published. */
  readonly listed: ReadonlyArray<ListedFinding>
  readonly outcomes: ReadonlyArray<DatedOutcome>
  /** Runs of replies to comments and to objections on the change. */
  readonly replies: ReadonlyArray<Run>
}

/** Returns the findings that replies withdrew on this head. */
const withdrawnBy = (replies: ReadonlyArray<Run>, head: string): ReadonlySet<string> =>
  new Set(
    replies.flatMap(({ analysis, head: other }) =>
      other === head && analysis?.reply?.outcome === "withdrawn" ? (analysis.reply.fingerprint ?? []) : []
    )
  )

/**
 * Findings that no summary lists get the numbers after those of the summary, in their order: a number means one finding for as long as this
 * review is the newest.
 */
export const followFindings = (
  { analysis, head }: Pick<Run, "analysis" | "head">,
  { listed, outcomes, replies }: FindingRecords
): ReadonlyArray<FollowedFinding> => {
  const rows = new Map(listed.map((one) => [one.fp, one]))
  const states = new Map(outcomes.map((one) => [one.fingerprint, one.outcome]))
  const withdrawn = withdrawnBy(replies, head)
  let last = Math.max(0, ...listed.map(({ number }) => number))
  return (analysis?.findings ?? []).map((finding) => {
    const { fingerprint } = finding
    const row = rows.get(fingerprint)
    const state = states.get(fingerprint) ?? row?.state ?? "open"
    return {
      finding,
      number: row?.number ?? ++last,
      state: withdrawn.has(fingerprint) ? "withdrawn" : state,
      url: row?.url
    }
  })
}
