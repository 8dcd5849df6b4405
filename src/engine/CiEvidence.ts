/**
 * Results of tools from artifacts of CI. The author of the change can write or alter them: they are shown and cited, and hide
 * or settle nothing. They are kept with the evidence of the run, so that each attempt and each replay has the same.
 *
 * ```
 * runs/<run>/ci.json
 * ```
 */
import { Effect, Option, Schema } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import { evidenceFolder } from "../llm/Evidence.ts"
import { Objects } from "../store/Objects.ts"
import { ToolResult } from "../domain/ToolResult.ts"
import { ChangeThreads } from "./ChangeThreads.ts"
import { distinctReasons, Reason } from "../domain/Reason.ts"

export const CiEvidence = Schema.Struct({
  version: Schema.Literal(1),
  results: Schema.Array(ToolResult),
  /** Notices for the summary about what is missing. */
  notices: Schema.Array(Reason)
})
export type CiEvidence = typeof CiEvidence.Type

/** Results of all files of a review. */
const maxResults = 5000
const maxBytes = 64 * 1_048_576
/** Heap for one SARIF file of at most 8 MiB. */
const parserMb = 768

export const noCiResults = (notices: ReadonlyArray<Reason>): CiEvidence => ({ version: 1, results: [], notices })

/** Parses SARIF files, each in a thread that a hostile one may exhaust without harm to others. */
export const parseCiFiles = Effect.fn("parseCiFiles")(function* (
  files: ReadonlyArray<string>,
  found: ReadonlyArray<Reason>
): Effect.fn.Return<CiEvidence, never, ChangeThreads> {
  const threads = yield* ChangeThreads
  const results: Array<CiEvidence["results"][number]> = []
  const notices = [...found]
  for (const text of files) {
    const parsed = yield* Effect.scoped(
      Effect.flatMap(threads.open(parserMb), (thread) => thread.run("readResults", text))
    ).pipe(
      Effect.catch(({ message }) =>
        Effect.as(Effect.logWarning("file of a CI artifact not read", { error: message }), undefined)
      )
    )
    if (parsed === undefined) notices.push({ _tag: "CiFileInvalid" })
    else results.push(...parsed.slice(0, maxResults - results.length))
    if (results.length === maxResults) {
      notices.push({ _tag: "CiResultsOverLimit", limit: maxResults })
      break
    }
  }
  return { version: 1, results, notices: distinctReasons(notices) }
})

const nameOf = (runId: string): string => `${evidenceFolder}/${runId}/ci.json`
const encode = Schema.encodeEffect(Schema.fromJsonString(CiEvidence))
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(CiEvidence))

/** Returns undefined for a run that has none yet, or had none. */
export const loadCiEvidence = Effect.fnUntraced(function* (
  runId: string
): Effect.fn.Return<CiEvidence | undefined, StoreError, Objects> {
  return Option.getOrUndefined(decode(yield* (yield* Objects).get(nameOf(runId), maxBytes)))
})

export const storeCiEvidence = Effect.fnUntraced(function* (
  runId: string,
  evidence: CiEvidence
): Effect.fn.Return<void, StoreError, Objects> {
  yield* (yield* Objects).put(nameOf(runId), yield* Effect.orDie(encode(evidence)))
})
