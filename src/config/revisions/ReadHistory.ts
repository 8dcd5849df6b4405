/** Reads the changes of all revisions that exist, newest first. */
import { Effect } from "effect"
import type { ConfigRevision } from "./Revision.ts"
import type { RevisionStore, SourceUnavailable } from "./RevisionStore.ts"

type Change = Pick<ConfigRevision, "actor" | "diff" | "number">

const pageSize = 100

export const readHistory = Effect.fnUntraced(function* (
  store: RevisionStore["Service"]
): Effect.fn.Return<ReadonlyArray<Change>, SourceUnavailable> {
  const changes: Array<Change> = []
  let before: number | undefined
  do {
    const page = yield* store.list({ before, limit: pageSize })
    for (const { number } of page.items) {
      const revision = yield* store.read(number)
      if (revision !== undefined) changes.push({ actor: revision.actor, diff: revision.diff, number })
    }
    before = page.next
  } while (before !== undefined)
  return changes
})
