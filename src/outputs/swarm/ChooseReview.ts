/** Chooses the review of Swarm on which a changelist is commented, and the version that has its files. Pure. */
import type { Change } from "../../domain/Change.ts"
import type { SwarmReview } from "../../forge/swarm/Client.ts"

/** Returns the number of the changelist; a shelf has its version behind it. */
export const toChangelist = ({ head = "" }: Pick<Change, "head">): string => head.split("-", 1)[0] ?? head

const rank = (review: SwarmReview, changelist: string): number =>
  (review.commits.includes(changelist) ? 2 : 0) + (review.state === "archived" || review.state === "rejected" ? 0 : 1)

/**
 * Returns the review that was committed as the changelist, else an open one that contains it, else the newest. Undefined if none contains
 * it.
 */
export const chooseReview = (reviews: ReadonlyArray<SwarmReview>, changelist: string): SwarmReview | undefined =>
  reviews
    .filter(({ changes, commits }) => changes.includes(changelist) || commits.includes(changelist))
    .toSorted((a, b) => rank(b, changelist) - rank(a, changelist) || Number(b.id) - Number(a.id))[0]

/** Returns the position of the last version that is this changelist, from 1; undefined if it is none, or the newest. */
export const chooseVersion = (
  versions: ReadonlyArray<ReadonlyArray<string>>,
  changelist: string
): number | undefined => {
  const position = versions.findLastIndex((changes) => changes.includes(changelist)) + 1
  return position === 0 || position === versions.length ? undefined : position
}
