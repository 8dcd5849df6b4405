/** Reads documents of revisions from the store. */
import { Effect } from "effect"
import { formatPath } from "../document/Path.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import { emptyDocument } from "./DatabaseDocument.ts"
import type { PublishProblem } from "./Publish.ts"
import type { RevisionHead } from "./Revision.ts"
import { noRevision } from "./Revision.ts"
import type { RevisionStore, SourceUnavailable } from "./RevisionStore.ts"
import { deserialise } from "./SealDocument.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface LoadedRevision {
  readonly head: RevisionHead
  readonly document: DatabaseDocument
  /** Fields that a newer release wrote. An edit by this release would remove them. */
  readonly unknown: ReadonlyArray<PublishProblem>
}

const nothingPublished: LoadedRevision = { head: noRevision, document: emptyDocument, unknown: [] }

/** Returns what to do about a database whose newest revision is older than the one that a node works with. */
export const lostRevisions = (head: number, active: number): Reason => ({ _tag: "RevisionsLost", head, active })

/** Returns undefined if the revision does not exist any more. */
export const loadRevision = Effect.fnUntraced(function* (
  store: RevisionStore["Service"],
  number: number
): Effect.fn.Return<LoadedRevision | undefined, SourceUnavailable> {
  if (number === 0) return nothingPublished
  const found = yield* store.read(number)
  if (found === undefined) return undefined
  const unknown: Array<PublishProblem> = []
  const document = deserialise(found.document, ({ path, reason }) =>
    unknown.push({
      code: "newer_release",
      entity: "",
      path: formatPath(path),
      reason: { _tag: "NewerRelease", number, why: reason }
    })
  )
  return { head: { number, hash: found.hash }, document, unknown }
})

export const loadHead = Effect.fnUntraced(function* (
  store: RevisionStore["Service"]
): Effect.fn.Return<LoadedRevision, SourceUnavailable> {
  const { number } = yield* store.head
  return (yield* loadRevision(store, number)) ?? nothingPublished
})
