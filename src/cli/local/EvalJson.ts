/** Formats evaluations as JSON with stable field names, and reads the tallies of an earlier one for a comparison. */
import { readFile, stat } from "node:fs/promises"
import { Effect, Schema, SchemaIssue } from "effect"
import { usageJson } from "../../domain/Analysis.ts"
import type { ExpectedProblem } from "../../../eval/EvalCase.ts"
import { tallyCase } from "../../../eval/Metrics.ts"
import type { Tally } from "../../../eval/Metrics.ts"
import type { EvalScore, Figures, ScoredCase } from "../../../eval/Score.ts"
import { refused } from "../Exit.ts"
import type { NamedComparison, NamedFigures } from "./EvalCompared.ts"
import { formatTitle } from "./Report.ts"

const figuresJson = ({ cases, expected, met, missed, wrong, precision, recall, lineAccuracy }: Figures) => ({
  cases,
  expected,
  found: met,
  missed,
  wrong,
  precision: precision ?? null,
  recall: recall ?? null,
  line_accuracy: lineAccuracy ?? null
})

const labelJson = ({ file, side, first, last, categories, why }: ExpectedProblem) => ({
  file: file ?? null,
  side,
  line: first ?? null,
  end_line: last ?? null,
  category: categories[0] ?? null,
  why
})

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

const TallyJson = Schema.Struct({
  found: Count,
  located: Count,
  on_line: Count,
  missed: Count,
  wrong: Count,
  input_tokens: Count,
  output_tokens: Count,
  cached_tokens: Count,
  cost_usd: Schema.NullOr(Amount),
  seconds: Amount
})

const tallyJson = (tally: Tally): typeof TallyJson.Type => ({
  found: tally.met,
  located: tally.located,
  on_line: tally.onLine,
  missed: tally.missed,
  wrong: tally.wrong,
  input_tokens: tally.inputTokens,
  output_tokens: tally.outputTokens,
  cached_tokens: tally.cachedTokens,
  cost_usd: tally.costUsd ?? null,
  seconds: tally.seconds
})

const toTally = (name: string, tally: typeof TallyJson.Type): Tally => ({
  name,
  met: tally.found,
  located: tally.located,
  onLine: tally.on_line,
  missed: tally.missed,
  wrong: tally.wrong,
  inputTokens: tally.input_tokens,
  outputTokens: tally.output_tokens,
  cachedTokens: tally.cached_tokens,
  costUsd: tally.cost_usd ?? undefined,
  seconds: tally.seconds
})

const changeJson = (one: ScoredCase) => ({
  name: one.name,
  language: one.language,
  kind: one.kind,
  failed: one.failed ?? null,
  found: one.met.map(({ expected, onLine }) => ({ ...labelJson(expected), on_line: onLine ?? null })),
  missed: one.missed.map(labelJson),
  wrong: one.wrong.map((finding) => ({
    file: finding.anchor?.path ?? finding.problem.file,
    line: finding.anchor?.line ?? null,
    category: finding.problem.category,
    severity: finding.problem.severity,
    title: formatTitle(finding)
  })),
  tally: tallyJson(tallyCase(one))
})

const scoreJson = ({ name, figures, score }: NamedFigures & { readonly score: EvalScore }) => ({
  name,
  metrics: Object.fromEntries(
    figures.map(({ metric, value, interval }) => [metric, { value: value ?? null, interval: interval ?? null }])
  ),
  ...figuresJson(score),
  cross_file: figuresJson(score.crossFile),
  clean: score.clean,
  silent: score.silent,
  failed: score.failed,
  models: score.models,
  seconds: score.seconds,
  usage: usageJson(score.usage),
  by_category: Object.fromEntries([...score.byCategory].map(([key, one]) => [key, figuresJson(one)])),
  by_language: Object.fromEntries([...score.byLanguage].map(([key, one]) => [key, figuresJson(one)])),
  changes: score.scored.map(changeJson)
})

export const renderEvalJson = (
  results: ReadonlyArray<NamedFigures & { readonly score: EvalScore }>,
  comparisons: ReadonlyArray<NamedComparison>
): string => `${JSON.stringify({ configurations: results.map(scoreJson), comparisons }, undefined, 2)}\n`

const maxBytes = 67_108_864
const Earlier = Schema.fromJsonString(
  Schema.Struct({
    configurations: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        changes: Schema.Array(Schema.Struct({ name: Schema.String, tally: TallyJson }))
      })
    ).check(Schema.isMinLength(1), Schema.isMaxLength(64))
  })
)
const decode = Schema.decodeUnknownEffect(Earlier)
const issues = SchemaIssue.makeFormatterStandardSchemaV1()

export interface EarlierResult {
  readonly name: string
  readonly tallies: ReadonlyArray<Tally>
}

/** Reads what `--json` printed earlier. */
export const readEarlier = Effect.fnUntraced(function* (file: string) {
  const text = yield* Effect.tryPromise({
    try: async () => ((await stat(file)).size > maxBytes ? undefined : readFile(file, "utf8")),
    catch: () => refused(`${file} cannot be read`)
  })
  if (text === undefined) return yield* refused(`${file} is longer than ${maxBytes} bytes`)
  const read = yield* decode(text).pipe(
    Effect.mapError(({ issue }) => {
      const [first] = issues(issue).issues
      const at = (first?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
      return refused(
        `${file} is not the result of aicr eval --json: ${at === "" ? "" : `${at}: `}${first?.message.slice(0, 300) ?? ""}`
      )
    })
  )
  return read.configurations.map(({ name, changes }): EarlierResult => ({
    name,
    tallies: changes.map((one) => toTally(one.name, one.tally))
  }))
})
