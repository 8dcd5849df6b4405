/** Implements `aicr eval`: measures how well a model reviews labelled changes. The evaluation is a parameter. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { EvalCase } from "../engine/eval/EvalCase.ts"
import type { EvalScore, ScoredCase } from "../engine/eval/Score.ts"
import { ExitWith } from "./Exit.ts"
import { print } from "./Print.ts"
import { engineFlags, engineOptions } from "./local/EngineFlags.ts"
import { renderEvalJson, renderTable } from "./local/EvalReport.ts"
import type { LocalConfigOptions } from "./local/LocalConfig.ts"
import { makeSteps } from "./local/Steps.ts"

export interface EvaluateOptions extends LocalConfigOptions {
  readonly cases: ReadonlyArray<EvalCase>
  /** Uses the rules of the demo instead of a language model. */
  readonly demo: boolean
  readonly concurrency: number
  readonly progress: (scored: ScoredCase, done: number) => Effect.Effect<void>
}

const share = (name: string, description: string) =>
  Flag.Finite(name).pipe(Flag.withMetavar("SHARE"), Flag.withDescription(description), Flag.optional)

const flags = {
  folder: Argument.String("DIR").pipe(
    Argument.withDescription("Folder with labelled changes, one YAML file each"),
    Argument.withDefault("test/eval")
  ),
  ...engineFlags,
  demo: Flag.Boolean("demo").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Use the demo's rules, which are not a language model and need no key")
  ),
  only: Flag.String("only").pipe(
    Flag.withMetavar("WORD"),
    Flag.withDescription("Only changes with this in their name; several are comma-separated"),
    Flag.optional
  ),
  format: Flag.Literals("format", ["table", "json"]).pipe(
    Flag.withDescription("How to print the figures"),
    Flag.withDefault("table" as const)
  ),
  concurrency: Flag.Int("concurrency").pipe(Flag.withDescription("Reviews at the same time"), Flag.withDefault(2)),
  minPrecision: share("min-precision", "Exit with 1 when precision is below this, 0 to 1"),
  minRecall: share("min-recall", "Exit with 1 when recall is below this, 0 to 1")
}

const isShare = (value: number): boolean => value >= 0 && value <= 1

export const evalCommand = (
  runs: Effect.Effect<{ readonly evaluate: (options: EvaluateOptions) => Effect.Effect<EvalScore, ExitWith> }>
) =>
  Command.make(
    "eval",
    flags,
    Effect.fnUntraced(function* ({ folder, only, format, concurrency, demo, minPrecision, minRecall, ...engine }) {
      const least = { precision: Option.getOrUndefined(minPrecision), recall: Option.getOrUndefined(minRecall) }
      if (concurrency < 1 || concurrency > 64)
        return yield* new ExitWith({ code: 2, message: "--concurrency is 1 to 64" })
      for (const [name, value] of Object.entries(least)) {
        if (value !== undefined && !isShare(value))
          return yield* new ExitWith({ code: 2, message: `--min-${name} is a share from 0 to 1, such as 0.8` })
      }
      const words = Option.match(only, { onNone: () => [], onSome: (text) => text.split(",").map((one) => one.trim()) })
      const { readCases } = yield* Effect.promise(() => import("./local/EvalCases.ts"))
      const cases = yield* readCases(folder, words)
      const { evaluate } = yield* runs
      const score = yield* Effect.scoped(
        Effect.gen(function* () {
          const steps = yield* makeSteps
          return yield* evaluate({
            cases,
            demo,
            concurrency,
            ...engineOptions(engine),
            progress: ({ name, met, expected, wrong, failed }, done) =>
              steps.show(
                `${done} of ${cases.length}: ${name}: ${failed === undefined ? `${met.length} of ${expected} found, ${wrong.length} wrong` : "failed"}`
              )
          })
        })
      )
      yield* print(format === "json" ? renderEvalJson(score) : renderTable(score))
      if (score.failed > 0) {
        return yield* new ExitWith({ code: 3, message: `${score.failed} of ${score.cases} reviews failed` })
      }
      for (const name of ["precision", "recall"] as const) {
        const [reached, wanted] = [score[name], least[name]]
        if (wanted === undefined || (reached !== undefined && reached >= wanted)) continue
        const is = reached === undefined ? "unknown, because nothing was found or expected" : reached.toFixed(3)
        return yield* new ExitWith({
          code: 1,
          message: `${name} is ${is}; at least ${wanted} is required (--min-${name})`
        })
      }
    })
  ).pipe(
    Command.withDescription("Review labelled changes and measure the quality of the reviews"),
    Command.withExamples([
      { command: "aicr eval", description: "The bundled changes, model from the environment" },
      {
        command: "aicr eval my-cases --config config.yaml --format json --min-recall 0.7",
        description: "Own changes and configuration, for a build"
      }
    ])
  )
