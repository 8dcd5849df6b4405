/** `aicr review`: the service's own engine on a local repository, without any server. What it runs is handed in. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Severity } from "../domain/Kinds.ts"
import { ExitWith } from "./Exit.ts"
import { renderJson } from "./local/Json.ts"
import { renderMarkdown } from "./local/Markdown.ts"
import { count } from "./local/Report.ts"
import type { LocalReview } from "./local/Report.ts"
import type { LocalReviewOptions } from "./local/ReviewLocally.ts"
import { renderSarif } from "./local/Sarif.ts"
import { makeSteps } from "./local/Steps.ts"
import { atOrAbove, renderText } from "./local/Text.ts"

const formats = {
  text: (review: LocalReview) => renderText(review, process.stdout.isTTY && process.env["NO_COLOR"] === undefined),
  json: renderJson,
  sarif: renderSarif,
  markdown: renderMarkdown
}
type Format = keyof typeof formats

const flags = {
  path: Argument.String("PATH").pipe(Argument.withDescription("A folder in the repository"), Argument.withDefault(".")),
  base: Flag.String("base").pipe(
    Flag.withMetavar("REV"),
    Flag.withDescription(
      "What to compare with; the diff starts at its merge base with the head. Default: the default branch"
    ),
    Flag.optional
  ),
  head: Flag.String("head").pipe(
    Flag.withMetavar("REV"),
    Flag.withDescription("The revision to review. Default: HEAD"),
    Flag.optional
  ),
  format: Flag.Literals("format", ["text", "json", "sarif", "markdown"] satisfies ReadonlyArray<Format>).pipe(
    Flag.withDescription("How to print the review"),
    Flag.withDefault("text" as const)
  ),
  config: Flag.String("config").pipe(
    Flag.withAlias("c"),
    Flag.withMetavar("FILE"),
    Flag.withDescription("Configuration (YAML). Without it the model is found by the keys in the environment"),
    Flag.optional
  ),
  workspace: Flag.String("workspace").pipe(
    Flag.withMetavar("ID"),
    Flag.withDescription("Workspace of the configuration whose settings to use, where it has several"),
    Flag.optional
  ),
  model: Flag.String("model").pipe(
    Flag.withMetavar("PROVIDER/MODEL"),
    Flag.withDescription("The model to ask instead of the configured ones"),
    Flag.optional
  ),
  failOn: Flag.Literals("fail-on", Severity.literals).pipe(
    Flag.withDescription("Exit with 1 when a problem of this severity or above is found"),
    Flag.optional
  )
}

export const reviewCommand = <R>(review: (options: LocalReviewOptions) => Effect.Effect<LocalReview, ExitWith, R>) =>
  Command.make(
    "review",
    flags,
    Effect.fnUntraced(function* ({ path, base, head, format, config, workspace, model, failOn }) {
      const found = yield* Effect.scoped(
        Effect.gen(function* () {
          const steps = yield* makeSteps({
            isTerminal: process.stderr.isTTY,
            write: (text) => void process.stderr.write(text)
          })
          return yield* review({
            path,
            base: Option.getOrUndefined(base),
            head: Option.getOrUndefined(head),
            config: Option.getOrUndefined(config),
            workspace: Option.getOrUndefined(workspace),
            model: Option.getOrUndefined(model),
            progress: steps.show
          })
        })
      )
      yield* print(formats[format](found))
      if (Option.isNone(failOn)) return
      const serious = atOrAbove(found.analysis.findings, failOn.value).length
      if (serious === 0) return
      const message = `${count(serious, "problem")} of severity ${failOn.value} or above (--fail-on ${failOn.value})`
      return yield* new ExitWith({ code: 1, message })
    })
  ).pipe(
    Command.withDescription("Review a change of a local repository and print what was found"),
    Command.withExamples([
      { command: "aicr review", description: "HEAD against the default branch, model from the environment" },
      {
        command: "aicr review --base HEAD~3 --format sarif --fail-on high > review.sarif",
        description: "The last three commits, for a build"
      }
    ])
  )

/** Written whole, also into a pipe that is slow: the process ends only after. */
const print = (text: string): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    process.stdout.write(text, () => resume(Effect.void))
  })
