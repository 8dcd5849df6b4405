/** Selects the submitted changes that are reviewed although no hook reported them, within the limits of a trigger. Pure. */
import type { SubmittedRevision } from "../../src/vcs/SubmittedChanges.ts"

/**
 * Time in milliseconds after its commit in which a change may be reported: a hook calls within a minute. A server may also list a change
 * of another path a moment later than one with a greater number.
 */
export const reportMillis = 120_000

interface MissedLimits {
  readonly isReported: (change: SubmittedRevision) => boolean
  /** Leaves changes for the next search whose report may still come. */
  readonly waitsForReports: boolean
  readonly maxAgeMillis: number
  readonly maxChanges: number
  readonly now: number
}

interface Missed {
  /** Oldest first. */
  readonly chosen: ReadonlyArray<SubmittedRevision>
  /** Number of changes that are too old, or too many. */
  readonly skipped: number
  /** Changes up to this number need not be listed again. */
  readonly mark: number
}

/** `changes`: the newest first. The clock of the server may be ahead: a change in the future waits for nothing. */
export const selectMissed = (
  changes: ReadonlyArray<SubmittedRevision>,
  { isReported, maxAgeMillis, maxChanges, now, waitsForReports }: MissedLimits
): Missed => {
  const isYoung = ({ at }: SubmittedRevision) => at !== undefined && at <= now && now - at < reportMillis
  const missed = changes.filter((one) => !isReported(one) && !(waitsForReports && isYoung(one)))
  const recent = missed.filter(({ at }) => at === undefined || now - at <= maxAgeMillis)
  const chosen = recent.slice(0, maxChanges)
  const oldestYoung = changes.findLast(isYoung)
  return {
    chosen: chosen.toReversed(),
    skipped: missed.length - chosen.length,
    mark: oldestYoung === undefined ? Number.MAX_SAFE_INTEGER : oldestYoung.revision - 1
  }
}
