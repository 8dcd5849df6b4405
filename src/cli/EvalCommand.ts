/** Implements `aicr eval`: measures how well configurations review labelled changes. The evaluation is a parameter. */
import { writeFile } from "node:fs/promises"
import { basename, extname, join } from "node:path"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { EvalCase } from "../../eval/EvalCase.ts"
import { setNames } from "../../eval/datasets/Sets.ts"
import { compare, measure, tallyCase } from "../../eval/Metrics.ts"
import type { EvalScore, ScoredCase } from "../../eval/Score.ts"
import { reportRecorded, unusedWhenRecorded } from "./EvalRecorded.ts"
import type { RecordedOutcomes } from "./EvalRecorded.ts"
import { ExitWith, refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { engineFlags } from "./local/EngineFlags.ts"
import type { NamedComparison } from "./local/EvalCompared.ts"
import type { EarlierResult } from "./local/EvalJson.ts"
import type { LocalConfigOptions } from "./local/LocalConfig.ts"
import { makeSteps } from "./local/Steps.ts"
import { print } from "./Print.ts"
import type { StoredRevisions } from "./ReadSnapshot.ts"

export interface EvaluateOptions extends LocalConfigOptions {
  readonly cases: ReadonlyArray<EvalCase>
  /** Uses the rules of the demo instead of a language model. */
  readonly demo: boolean
  readonly concurrency: number
  readonly progress: (scored: ScoredCase, done: number) => Effect.Effect<void>
}

interface Configuration extends LocalConfigOptions {
  readonly name: string
}

interface Result {
  readonly name: string
  readonly figures: ReturnType<typeof measure>
  readonly score: EvalScore
}

const share = (name: string, description: string) =>
  Flag.Finite(name).pipe(Flag.withMetavar("SHARE"), Flag.withDescription(description), Flag.optional)
const file = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar("FILE"), Flag.withDescription(description), Flag.optional)

const maxConfigurations = 8
/** The bundled changes, whatever the folder of the caller. */
const bundledCases = join(import.meta.dirname, "../../eval/cases")

const flags = {
  path: Argument.String("PATH").pipe(
    Argument.withDescription(
      "Folder with labelled changes, one YAML file each; for --dataset a file or a folder of files. Default: eval/cases"
    ),
    Argument.optional
  ),
  configs: Flag.String("config").pipe(
    Flag.withAlias("c"),
    Flag.withMetavar("[NAME=]FILE"),
    Flag.withDescription(
      "Configuration file (YAML); several are compared with the first. Without it, API keys in the environment select the model"
    ),
    Flag.between(0, maxConfigurations)
  ),
  workspace: engineFlags.workspace,
  fileOnly: engineFlags.fileOnly,
  models: Flag.String("model").pipe(
    Flag.withMetavar("PROVIDER/MODEL"),
    Flag.withDescription("Model to use instead of the configured ones; several are compared with the first"),
    Flag.between(0, maxConfigurations)
  ),
  demo: Flag.Boolean("demo").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Use the demo's rules, which are not a language model and need no key")
  ),
  only: Flag.String("only").pipe(
    Flag.withMetavar("WORD"),
    Flag.withDescription("Only changes with this in their name; several are comma-separated"),
    Flag.optional
  ),
  dataset: Flag.Literals("dataset", setNames).pipe(
    Flag.withDescription("Public set that PATH holds, instead of labelled changes as YAML"),
    Flag.optional
  ),
  earlier: file("compare", "Earlier result (--json) to compare with"),
  recorded: Flag.Boolean("recorded").pipe(
    Flag.withDefault(false),
    Flag.withDescription(
      "Review nothing; report what became of the findings that the service of --config published (default: config.yaml)"
    )
  ),
  lines: Flag.Boolean("lines").pipe(
    Flag.withDefault(false),
    Flag.withDescription("With --recorded: print one JSON object per finding, a line each, instead of numbers")
  ),
  days: Flag.Int("days").pipe(Flag.withDescription("With --recorded: only findings of the last days"), Flag.optional),
  json: jsonFlag,
  html: file("html", "Also write the result as a page"),
  concurrency: Flag.Int("concurrency").pipe(Flag.withDescription("Reviews at the same time"), Flag.withDefault(2)),
  minPrecision: share("min-precision", "Exit with 1 when precision is below this, 0 to 1"),
  minRecall: share("min-recall", "Exit with 1 when recall is below this, 0 to 1")
}

const isShare = (value: number): boolean => value >= 0 && value <= 1

/** Returns every configuration with every model. */
const listConfigurations = Effect.fnUntraced(function* ({
  configs,
  demo,
  fileOnly,
  models,
  workspace
}: Pick<EvaluateOptions, "demo" | "fileOnly" | "workspace"> & {
  readonly configs: ReadonlyArray<string>
  readonly models: ReadonlyArray<string>
}) {
  const files = configs.map((given) => {
    const at = given.indexOf("=")
    const config = given.slice(at + 1)
    return { name: at > 0 ? given.slice(0, at) : basename(config, extname(config)), config }
  })
  const all = (files.length === 0 ? [undefined] : files).flatMap((one) =>
    (models.length === 0 ? [undefined] : models).map((model): Configuration => {
      const name = [one?.name, model].filter((part) => part !== undefined).join(" ")
      return { name: name || (demo ? "demo" : "environment"), config: one?.config, model, workspace, fileOnly }
    })
  )
  if (all.length > maxConfigurations)
    return yield* refused(`${all.length} configurations: at most ${maxConfigurations} are compared`)
  if (demo && all.length > 1) return yield* refused("--demo has one configuration: leave out --config and --model")
  const twice = all.find(({ name }, at) => all.findIndex((other) => other.name === name) !== at)
  return twice === undefined
    ? all
    : yield* refused(`two configurations are named ${twice.name}; name them: --config NAME=FILE`)
})

/** Returns the earlier result of a configuration: the one with its name, or the only one. */
const findEarlier = (name: string, all: ReadonlyArray<EarlierResult>, isOnly: boolean): EarlierResult | undefined =>
  all.find((one) => one.name === name) ?? (isOnly && all.length === 1 ? all[0] : undefined)

const compareAll = (
  results: ReadonlyArray<Result>,
  earlier: ReadonlyArray<EarlierResult>,
  earlierFile: string
): ReadonlyArray<NamedComparison> => {
  const tallies = ({ score }: Result) => score.scored.map(tallyCase)
  const [first, ...others] = results
  const amongEachOther = others.map((one) => ({
    name: `${one.name} against ${first?.name}`,
    ...compare(first === undefined ? [] : tallies(first), tallies(one))
  }))
  const withEarlier = results.flatMap((one) => {
    const found = findEarlier(one.name, earlier, results.length === 1)
    return found === undefined
      ? []
      : [{ name: `${one.name} against ${found.name} of ${earlierFile}`, ...compare(found.tallies, tallies(one)) }]
  })
  return [...amongEachOther, ...withEarlier]
}

const report = Effect.fnUntraced(function* (
  results: ReadonlyArray<Result>,
  comparisons: ReadonlyArray<NamedComparison>,
  json: boolean,
  html: string | undefined
) {
  if (html !== undefined) {
    const { renderPage } = yield* Effect.promise(() => import("./local/EvalPage.ts"))
    yield* Effect.tryPromise({
      try: () => writeFile(html, renderPage({ results, comparisons })),
      catch: () => refused(`${html} cannot be written`)
    })
  }
  const { renderEvalJson } = yield* Effect.promise(() => import("./local/EvalJson.ts"))
  const { renderEval } = yield* Effect.promise(() => import("./local/EvalReport.ts"))
  yield* print(json ? renderEvalJson(results, comparisons) : renderEval(results, comparisons))
})

/** Fails where a review failed or a share is below its minimum. */
const judge = Effect.fnUntraced(function* (
  { name, score }: Result,
  least: { readonly precision: number | undefined; readonly recall: number | undefined }
) {
  if (score.failed > 0)
    return yield* new ExitWith({ code: 3, message: `${name}: ${score.failed} of ${score.cases} reviews failed` })
  for (const figure of ["precision", "recall"] as const) {
    const [reached, wanted] = [score[figure], least[figure]]
    if (wanted === undefined || (reached !== undefined && reached >= wanted)) continue
    const is = reached === undefined ? "unknown, because nothing was found or expected" : reached.toFixed(3)
    const message = `${name}: ${figure} is ${is}; at least ${wanted} is required (--min-${figure})`
    return yield* new ExitWith({ code: 1, message })
  }
})

export interface EvalRuns extends RecordedOutcomes {
  readonly evaluate: (options: EvaluateOptions) => Effect.Effect<EvalScore, ExitWith, StoredRevisions>
}

export const evalCommand = (runs: Effect.Effect<EvalRuns>) =>
  Command.make(
    "eval",
    flags,
    Effect.fnUntraced(function* ({ concurrency, json, ...given }) {
      const { only, demo, configs, days } = given
      if (given.recorded) {
        const unused = unusedWhenRecorded(given)
        if (unused.length > 0) return yield* refused(`--recorded reviews nothing: leave out ${unused.join(", ")}`)
        return yield* reportRecorded(yield* runs, configs, Option.getOrUndefined(days), { json, lines: given.lines })
      }
      if (given.lines) return yield* refused("--lines needs --recorded")
      if (Option.isSome(days)) return yield* refused("--days needs --recorded")
      const path = Option.getOrElse(given.path, () => bundledCases)
      const least = {
        precision: Option.getOrUndefined(given.minPrecision),
        recall: Option.getOrUndefined(given.minRecall)
      }
      if (concurrency < 1 || concurrency > 64) return yield* refused("--concurrency is 1 to 64")
      for (const [name, value] of Object.entries(least)) {
        if (value !== undefined && !isShare(value))
          return yield* refused(`--min-${name} is a share from 0 to 1, such as 0.8`)
      }
      const workspace = Option.getOrUndefined(given.workspace)
      const configurations = yield* listConfigurations({ ...given, workspace })
      const earlierFile = Option.getOrElse(given.earlier, () => "")
      const { readEarlier } = yield* Effect.promise(() => import("./local/EvalJson.ts"))
      const earlier = earlierFile === "" ? [] : yield* readEarlier(earlierFile)
      if (
        earlier.length > 0 &&
        !configurations.some(({ name }) => findEarlier(name, earlier, configurations.length === 1))
      )
        return yield* refused(
          `${earlierFile} has none of these configurations; it has ${earlier.map(({ name }) => name).join(", ")}`
        )
      const words = Option.match(only, { onNone: () => [], onSome: (text) => text.split(",").map((one) => one.trim()) })
      const { readCases } = yield* Effect.promise(() => import("./local/EvalCases.ts"))
      const cases = yield* readCases(path, Option.getOrUndefined(given.dataset), words)
      const { evaluate } = yield* runs
      const results = yield* Effect.scoped(
        Effect.gen(function* () {
          const steps = yield* makeSteps
          return yield* Effect.forEach(configurations, ({ name, ...configuration }) => {
            const prefix = configurations.length === 1 ? "" : `${name}: `
            return evaluate({
              cases,
              demo,
              concurrency,
              ...configuration,
              progress: ({ name: change, met, expected, wrong, failed }, done) =>
                steps.show(
                  `${prefix}${done} of ${cases.length}: ${change}: ${failed === undefined ? `${met.length} of ${expected} found, ${wrong.length} wrong` : "failed"}`
                )
            }).pipe(Effect.map((score): Result => ({ name, score, figures: measure(score.scored.map(tallyCase)) })))
          })
        })
      )
      yield* report(results, compareAll(results, earlier, earlierFile), json, Option.getOrUndefined(given.html))
      yield* Effect.forEach(results, (result) => judge(result, least), { discard: true })
    })
  ).pipe(
    Command.withDescription("Review labelled changes and measure the quality of the reviews"),
    Command.withExamples([
      {
        command: "aicr eval --recorded --config config.yaml",
        description: "Share of published findings that a later commit fixed, per repository and model"
      },
      { command: "aicr eval", description: "The bundled changes, model from the environment" },
      {
        command: "aicr eval my-cases --config config.yaml --json --min-recall 0.7",
        description: "Own changes and configuration, for a build"
      },
      {
        command: "aicr eval --config old=a.yaml --config new=b.yaml --html result.html",
        description: "Two configurations side by side, also as a page"
      }
    ])
  )
