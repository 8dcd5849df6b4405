/** Implements `aicr eval --recorded`: what became of the findings that a service published. Reading the records is a parameter. */
import { Clock, Effect, Option } from "effect"
import type { OutcomeCounts } from "../domain/FindingOutcome.ts"
import type { ListedOutcome } from "../store/Outcomes.ts"
import type { ExitWith } from "./Exit.ts"
import { refused } from "./Exit.ts"
import { print } from "./Print.ts"

/** Reads outcomes of findings found since then (milliseconds since the epoch) from the records of a configuration file. */
export type ReadOutcomes = (config: string, since: number) => Effect.Effect<ReadonlyArray<OutcomeCounts>, ExitWith>

/** Passes the outcomes of findings on, in pages; `since` as above. */
export type ListOutcomes = (
  config: string,
  print: (outcomes: ReadonlyArray<ListedOutcome>) => Effect.Effect<void>,
  since: number
) => Effect.Effect<void, ExitWith>

export interface RecordedOutcomes {
  readonly readOutcomes: ReadOutcomes
  readonly listOutcomes: ListOutcomes
}

const maxDays = 3650

/** Returns the names of given flags that have no effect with `--recorded`. */
export const unusedWhenRecorded = (given: {
  readonly path: Option.Option<string>
  readonly models: ReadonlyArray<string>
  readonly workspace: Option.Option<string>
  readonly demo: boolean
  readonly only: Option.Option<string>
  readonly dataset: Option.Option<string>
  readonly earlier: Option.Option<string>
  readonly html: Option.Option<string>
  readonly minPrecision: Option.Option<number>
  readonly minRecall: Option.Option<number>
}): ReadonlyArray<string> => [
  ...(Option.isSome(given.path) ? ["PATH"] : []),
  ...(given.models.length > 0 ? ["--model"] : []),
  ...(given.demo ? ["--demo"] : []),
  ...(Option.isSome(given.workspace) ? ["--workspace"] : []),
  ...(Option.isSome(given.only) ? ["--only"] : []),
  ...(Option.isSome(given.dataset) ? ["--dataset"] : []),
  ...(Option.isSome(given.earlier) ? ["--compare"] : []),
  ...(Option.isSome(given.html) ? ["--html"] : []),
  ...(Option.isSome(given.minPrecision) ? ["--min-precision"] : []),
  ...(Option.isSome(given.minRecall) ? ["--min-recall"] : [])
]

/** Prints what became of published findings. */
export const reportRecorded = Effect.fnUntraced(function* (
  { listOutcomes, readOutcomes }: RecordedOutcomes,
  configs: ReadonlyArray<string>,
  days: number | undefined,
  { json, lines }: { readonly json: boolean; readonly lines: boolean }
) {
  if (json && lines) return yield* refused("--json and --lines are two formats: give one of them")
  if (configs.length > 1) return yield* refused("--recorded reads one configuration: give --config once")
  if (days !== undefined && (days < 1 || days > maxDays)) return yield* refused(`--days is 1 to ${maxDays}`)
  const now = yield* Clock.currentTimeMillis
  const since = days === undefined ? 0 : now - days * 86_400_000
  const config = configs[0] ?? "config.yaml"
  const { renderLines, renderRecorded, renderRecordedJson } = yield* Effect.promise(
    () => import("./local/EvalRecorded.ts")
  )
  if (lines) return yield* listOutcomes(config, (outcomes) => print(renderLines(outcomes)), since)
  const counts = yield* readOutcomes(config, since)
  yield* print(json ? renderRecordedJson(counts) : renderRecorded(counts))
})
