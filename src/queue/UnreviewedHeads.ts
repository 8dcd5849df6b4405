/**
 * Selects admitted changes whose head has verdicts, but none of their own pull request and base branch: the status of the head becomes
 * pending until they are reviewed (domain/HeadVerdict.ts). One read of the records for all of them.
 */
import { Effect } from "effect"
import type { Change } from "../domain/Change.ts"
import { foldRepo, targetKey } from "../domain/Change.ts"
import { isMergeable } from "../domain/Kinds.ts"
import { isUnreviewed } from "../domain/HeadVerdict.ts"
import { Runs } from "../store/Runs.ts"

export interface AdmittedChange {
  readonly entryId: string
  readonly change: Change
}

export const selectUnreviewed = Effect.fnUntraced(function* <A extends AdmittedChange>(admitted: ReadonlyArray<A>) {
  const pulls = admitted.flatMap((item) => {
    const { baseRef, head, target } = item.change
    return isMergeable(target.kind) && head !== undefined && baseRef !== undefined ? [{ item, head }] : []
  })
  if (pulls.length === 0) return []
  const reviewed = yield* (yield* Runs).reviewedHeads([...new Set(pulls.map(({ head }) => head))])
  if (reviewed.length === 0) return []
  return pulls.flatMap(({ head, item }) => {
    const { change } = item
    const repo = foldRepo(change.repo.fullName)
    const ofHead = reviewed.filter((verdict) => verdict.head === head && verdict.repo === repo)
    return isUnreviewed({ targetKey: targetKey(change), baseRef: change.baseRef }, ofHead) ? [item] : []
  })
})
