/**
 * The word of the fences around a change in prompts: a keyed hash of the change. The author of a change has the change but not the
 * key, and another attempt at the same review sends the same prompts, whose responses are recorded.
 */
import { createHmac, randomBytes } from "node:crypto"
import { Effect } from "effect"
import { ModelRun } from "../../llm/ModelRun.ts"

/** Key of runs that have none of their own, such as those of single commands. */
const processKey = randomBytes(32).toString("hex")

export const deriveFence = (parts: ReadonlyArray<string | undefined>) =>
  Effect.map(ModelRun, ({ fenceKey = processKey }) =>
    createHmac("sha256", fenceKey).update(JSON.stringify(parts)).digest("hex").slice(0, 24)
  )
