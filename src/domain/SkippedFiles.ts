/** Bounds the files that a coverage names; a change may have a hundred thousand. Does not load Effect, for threads that start quickly. */

export const maxNamedSkipped = 2_000

interface Skipped {
  readonly reason: string
  readonly unread?: boolean | undefined
}

export interface BoundedSkipped<A extends Skipped> {
  readonly named: ReadonlyArray<A>
  /** Number of the other files by reason. */
  readonly counts: Readonly<Record<string, number>>
  /** Number of the other files with added text that was not read. */
  readonly unread: number
}

/** Names files with added text that was not read first, and counts those that are not named. */
export const boundSkipped = <A extends Skipped>(skipped: ReadonlyArray<A>): BoundedSkipped<A> => {
  if (skipped.length <= maxNamedSkipped) return { named: skipped, counts: {}, unread: 0 }
  const ordered = [
    ...skipped.filter(({ unread }) => unread === true),
    ...skipped.filter(({ unread }) => unread !== true)
  ]
  const rest = ordered.slice(maxNamedSkipped)
  const counts: Record<string, number> = {}
  for (const { reason } of rest) counts[reason] = (counts[reason] ?? 0) + 1
  return {
    named: ordered.slice(0, maxNamedSkipped),
    counts,
    unread: rest.filter(({ unread }) => unread === true).length
  }
}
