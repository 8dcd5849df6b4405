/**
 * Comments at lines that the host does not show as the service wrote them, found by the records of earlier reviews. A comment that a person
 * edited may have lost its marker: it is recognised by its review and its line, and counts as a comment with a reply, which is never changed.
 * A comment that is gone was deleted, which only accounts with write access may do. It counts as dismissed if none of those who may have
 * deleted it is the author of the change: by the deliveries of the host where there are any, else if the author may not write. Pure, but for
 * the permissions.
 */
import { Effect } from "effect"
import type { Change } from "../../domain/Change.ts"
import { commentsIn } from "../../domain/Publication.ts"
import type { InlineComment, Publication } from "../../domain/Publication.ts"
import type { ForgeClient, HostThread } from "../../forge/Forge.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import { findDismissers, mayNotWrite } from "./Dismissal.ts"
import type { Dismissal } from "./Dismissal.ts"
import { parseMarkers } from "../Marker.ts"
import { Records } from "../Records.ts"

/** Returns the problem that a rendered comment is about. */
export const readFingerprint = ({ body }: Pick<InlineComment, "body">): string | undefined =>
  parseMarkers(body).at(-1)?.fp

export interface TakenComment {
  readonly fp: string
  readonly comment: InlineComment
  readonly review: string | undefined
}

/** Returns the comments that earlier reviews posted at their lines, the newest first. */
export const listPosted = (reviews: ReadonlyArray<Publication>): ReadonlyArray<TakenComment> =>
  reviews.flatMap(({ hostId, operation, posted = [] }) =>
    commentsIn(operation).flatMap((comment) => {
      const fp = readFingerprint(comment)
      return fp !== undefined && posted.includes(fp) ? [{ fp, comment, review: hostId }] : []
    })
  )

const isAt = ({ line, path, side }: HostThread, comment: InlineComment): boolean =>
  path === comment.path && side === comment.side && (line === comment.line || line === comment.start)

/** Returns the fingerprint of each comment of ours without a marker that an earlier review posted. */
export const recogniseEdited = (
  unmarked: ReadonlyArray<HostThread>,
  posted: ReadonlyArray<TakenComment>,
  present: ReadonlySet<string>
): ReadonlyArray<{ readonly fp: string; readonly thread: HostThread }> => {
  const taken = new Set(present)
  return unmarked.flatMap((thread) => {
    const isKnown = thread.review !== undefined && posted.some(({ review }) => review === thread.review)
    const match = posted.find(
      ({ comment, fp, review }) => !taken.has(fp) && isAt(thread, comment) && (!isKnown || review === thread.review)
    )
    if (match === undefined) return []
    taken.add(match.fp)
    return [{ fp: match.fp, thread }]
  })
}

/** Returns whether a comment that is gone from the host counts as dismissed. */
export const isDeletionDismissal = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  dismissal: Dismissal
): Effect.fn.Return<boolean, ForgeError> {
  if (dismissal === "anyone") return true
  const touched = yield* (yield* Records).touched(change)
  const people = touched.filter(({ action }) => action === "deleted").map(({ by }) => by)
  if (people.length === 0) return change.author !== undefined && (yield* mayNotWrite(client, change, change.author))
  const mayDismiss = yield* findDismissers(client, change, dismissal, people)
  return people.every(mayDismiss)
})
