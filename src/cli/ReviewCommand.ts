/** Implements `aicr review`: runs the service's engine on a local repository, without any server. The review is a parameter. */
import { Console, Effect, Option, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Severity } from "../domain/Kinds.ts"
import { ExitWith } from "./Exit.ts"
import { print } from "./Print.ts"
import { count } from "./Wording.ts"
import { engineFlags, engineOptions } from "./local/EngineFlags.ts"
import { renderJson } from "./local/Json.ts"
import type { LocalReview } from "./local/Report.ts"
import type { LocalReviewOptions } from "./local/ReviewLocally.ts"
import { renderSarif } from "./local/Sarif.ts"
import { makeSteps } from "./local/Steps.ts"
import { atOrAbove, renderText } from "./local/Text.ts"

const formats = {
  text: (review) => Effect.succeed(renderText(review, process.stdout.isTTY && process.env["NO_COLOR"] === undefined)),
  json: (review) => Effect.succeed(renderJson(review)),
  sarif: (review) => Effect.succeed(renderSarif(review)),
  // Loads the parser that makes text of outsiders inert.
  markdown: (review) =>
    Effect.promise(async () => {
      const { renderMarkdown } = await import("./local/Markdown.ts")
      return renderMarkdown(review)
    })
} satisfies Record<string, (review: LocalReview) => Effect.Effect<string>>
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
  ...engineFlags,
  publish: Flag.Boolean("publish").pipe(
    Flag.withDescription(
      "Write the review on the open pull request that has the reviewed head, through the trigger and channels of --config; repeating it repeats no comment"
    ),
    Flag.withDefault(false)
  ),
  pull: Flag.Int("pull").pipe(
    Flag.withMetavar("NUMBER"),
    Flag.withDescription("The pull request to publish on, where its head is not enough to find it"),
    Flag.optional
  ),
  repo: Flag.String("repo").pipe(
    Flag.withMetavar("OWNER/NAME"),
    Flag.withDescription("The repository at the host, where the workspace is for several"),
    Flag.optional
  ),
  failOn: Flag.Literals("fail-on", Severity.literals).pipe(
    Flag.withDescription("Exit with 1 when a problem of this severity or above is found"),
    Flag.optional
  )
}

export const reviewCommand = <R>(
  runs: Effect.Effect<{
    readonly reviewLocally: (options: LocalReviewOptions) => Effect.Effect<LocalReview, ExitWith, R>
  }>
) =>
  Command.make(
    "review",
    flags,
    Effect.fnUntraced(function* ({ path, base, head, format, publish, pull, repo, failOn, ...engine }) {
      if (!publish && (Option.isSome(pull) || Option.isSome(repo))) {
        return yield* new ExitWith({ code: 2, message: "--pull and --repo say where to publish: add --publish" })
      }
      const { reviewLocally } = yield* runs
      const found = yield* Effect.scoped(
        Effect.gen(function* () {
          const steps = yield* makeSteps
          return yield* reviewLocally({
            path,
            base: Option.getOrUndefined(base),
            head: Option.getOrUndefined(head),
            ...engineOptions(engine),
            ...(publish ? { publish: { pull: Option.getOrUndefined(pull), repo: Option.getOrUndefined(repo) } } : {}),
            progress: steps.show
          })
        })
      )
      yield* print(yield* formats[format](found))
      if (found.published !== undefined) {
        // The review is paid for and displayed, whatever the result of its publication.
        if (Result.isFailure(found.published)) return yield* found.published.failure
        const { channels, url } = found.published.success
        yield* Console.error(
          channels.length === 0 ? `Nothing to publish on ${url}` : `Published on ${url} (${channels.join(", ")})`
        )
      }
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
      },
      {
        command: "aicr review --config config.yaml --workspace app --publish",
        description: "HEAD on its open pull request"
      }
    ])
  )
