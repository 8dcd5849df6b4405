/** Determines to which account the model calls of a run are charged, and which earlier attempts it continues. */
import { Effect } from "effect"
import { authorKey, repositoryKey } from "../../src/domain/Change.ts"
import type { ModelAccount } from "../../src/llm/ModelRun.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import { loadFenceKey } from "./FenceKey.ts"
import type { ReviewWork } from "./ReviewWork.ts"

/** Newest runs of a target that are searched for lost attempts. */
const earlierAttempts = 5

/**
 * Returns the account of model calls that this run continues. Earlier attempts that were lost are the run itself, runs of an entry that a
 * restart replaced, and runs of a head that a force push replaced; their calls are not paid for again.
 */
export const modelAccount = Effect.fnUntraced(function* (run: Run, { lease }: ReviewWork) {
  const { change, head, configHash, id, targetKey } = run
  const others = yield* (yield* Runs).list({ targetKey, limit: earlierAttempts })
  const isAutomatic = change.requestedBy === undefined
  const lost = others.filter(
    (other) =>
      other.id !== id &&
      other.configHash === configHash &&
      (isReplaced(other) || (isAutomatic && other.head === head && isLost(other)))
  )
  const earlier = [...(lease.token > 1 ? [id] : []), ...lost.map((other) => other.id)]
  return {
    id,
    repository: repositoryKey(change),
    author: authorKey(change),
    fenceKey: yield* loadFenceKey(id),
    ...(earlier.length === 0 ? {} : { resumes: { attempt: lease.token, earlier } })
  } satisfies ModelAccount
})

const isReplaced = ({ reason, status }: Run): boolean => status === "cancelled" && reason?._tag === "HeadReplaced"

const isLost = ({ analysis, reason, status }: Run): boolean =>
  analysis === undefined &&
  (status === "preparing" || status === "analyzing" || (status === "failed" && reason?._tag === "ProcessLost"))
