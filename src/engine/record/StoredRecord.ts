/** Writes the record of a review and its diff to the objects of the run, and reads them. */
import { Effect, Option, Schema } from "effect"
import type { StoreError } from "../../database/StoreError.ts"
import { Objects } from "../../store/Objects.ts"
import { ReviewRecord } from "./ReviewRecord.ts"
import type { ChangeThread } from "../ChangeThreads.ts"

const folderOf = (runId: string): string => `runs/${runId}`
/** Limits of a record. Larger parts are not stored, and a replay reports that. */
export const maxDiffLength = 32_000_000
export const maxReadLength = 32_000_000

const encode = Schema.encodeEffect(ReviewRecord)
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(ReviewRecord))

export const writeDiff = Effect.fnUntraced(function* (runId: string, diff: Uint8Array) {
  yield* (yield* Objects).put(`${folderOf(runId)}/diff`, diff)
})

/** Returns the diff of a run; undefined if it is longer, or was not stored. */
export const readStoredDiff = Effect.fnUntraced(function* (runId: string, maxBytes: number) {
  return yield* (yield* Objects).get(`${folderOf(runId)}/diff`, maxBytes)
})

/** `recorder` has the texts of the record, whose lists of them are empty. */
export const writeRecord = Effect.fnUntraced(function* (runId: string, record: ReviewRecord, recorder: ChangeThread) {
  const json = yield* recorder.run("recordJson", yield* Effect.orDie(encode(record)))
  yield* (yield* Objects).put(`${folderOf(runId)}/review.json`, json)
})

/** Returns undefined where the record was not stored, was removed with its run, or is of another version. */
export const readRecord = Effect.fnUntraced(function* (
  runId: string
): Effect.fn.Return<{ readonly record: ReviewRecord; readonly diff: string } | undefined, StoreError, Objects> {
  const objects = yield* Objects
  const record = Option.getOrUndefined(decode(yield* objects.get(`${folderOf(runId)}/review.json`, 8 * maxReadLength)))
  const diff = yield* objects.get(`${folderOf(runId)}/diff`, 4 * maxDiffLength)
  return record === undefined || diff === undefined ? undefined : { record, diff }
})
