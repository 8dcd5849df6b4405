/** Determines to which account the model calls of a run are charged, and which earlier attempts it continues. */
import { Effect } from "effect"
import { authorKey, repositoryKey } from "../../src/domain/Change.ts"
import type { ModelAccount } from "../../src/llm/ModelRun.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import type { ReviewWork } from "./ReviewWork.ts"
import { randomBytes } from "node:crypto"
import { fenceName, maxFenceBytes } from "../../src/llm/Evidence.ts"
import { logFailure } from "../../src/observability/LimitedWarnings.ts"
import { Objects } from "../../src/store/Objects.ts"

/**
 * The secret of a run for the fences of its prompts (src/engine/plan/Fence.ts). It is kept with the evidence of the run, so that each attempt
 * sends the same prompts, whichever process makes it, and it is removed with that.
 *
 * Returns the secret of a run; undefined while it can be neither read nor stored, and the process has its own.
 */
export const loadFenceKey = Effect.fnUntraced(
  function* (runId: string) {
    const objects = yield* Objects
    const name = fenceName(runId)
    const known = yield* objects.get(name, maxFenceBytes)
    if (known !== undefined) return known
    const made = randomBytes(32).toString("hex")
    yield* objects.put(name, made)
    return made
  },
  (effect, runId) =>
    Effect.catch(effect, (error) =>
      Effect.as(
        logFailure("fence key of a run not stored, that of the process is used", { run_id: runId })(error),
        undefined
      )
    )
)

/** Newest runs of a target that are searched for lost attempts. */
const earlierAttempts = 5

/**
 * Returns the account of model calls that this run continues. Earlier attempts that were lost are the run itself, runs of an entry that a
 * restart replaced, and runs of a head that a force push replaced; their calls are not paid for again.
 */
export const modelAccount = Effect.fnUntraced(function* (run: Run, { lease, workspace }: ReviewWork) {
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
    team: workspace.instance.team,
    fenceKey: yield* loadFenceKey(id),
    ...(earlier.length === 0 ? {} : { resumes: { attempt: lease.token, earlier } })
  } satisfies ModelAccount
})

const isReplaced = ({ reason, status }: Run): boolean => status === "cancelled" && reason?._tag === "HeadReplaced"

const isLost = ({ analysis, reason, status }: Run): boolean =>
  analysis === undefined &&
  (status === "preparing" || status === "analyzing" || (status === "failed" && reason?._tag === "ProcessLost"))
