/** Lines of the recorded diff of a review, for requests about its findings. */
import { Effect } from "effect"
import type { Anchor } from "../domain/Problem.ts"
import { diffAround } from "../review/DiffAround.ts"
import { readStoredDiff } from "./record/StoredRecord.ts"

/** A longer diff is not read: its lines are not shown. */
const maxDiffBytes = 4 * 1024 * 1024
const maxCharacters = 12_000

/** Returns the lines around these places; empty without a place, or if the diff was not recorded. */
export const readDiffAround = Effect.fnUntraced(function* (runId: string, places: ReadonlyArray<Anchor>) {
  if (places.length === 0) return ""
  const diff = yield* Effect.catch(readStoredDiff(runId, maxDiffBytes), (error) =>
    Effect.as(Effect.logInfo("diff of a review not read", { run_id: runId, error: error.message }), undefined)
  )
  return diff === undefined ? "" : diffAround(diff, places, maxCharacters)
})
