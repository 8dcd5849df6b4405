/**
 * The secret of a run for the fences of its prompts (src/engine/plan/Fence.ts). It is kept with the evidence of the run, so that each attempt
 * sends the same prompts, whichever process makes it, and it is removed with that.
 */
import { randomBytes } from "node:crypto"
import { Effect } from "effect"
import { fenceName, maxFenceBytes } from "../../src/llm/Evidence.ts"
import { limitWarning } from "../../src/observability/LimitedWarnings.ts"
import { Objects } from "../../src/store/Objects.ts"

/** Returns the secret of a run; undefined while it can be neither read nor stored, and the process has its own. */
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
    Effect.catch(effect, ({ message }) =>
      Effect.as(
        limitWarning("fence key", (suppressed) =>
          Effect.logWarning("fence key of a run not stored, that of the process is used", {
            run_id: runId,
            error: message,
            suppressed
          })
        ),
        undefined
      )
    )
)
