/** Implements `aicr review`: runs the service's engine on a local repository, without any server. The review is a parameter. */
import { Console, Effect, Option, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { allFindings } from "../domain/Analysis.ts"
import { Severity, VcsKind } from "../domain/Kinds.ts"
import { ExitWith, refused } from "./Exit.ts"
import { print } from "./Print.ts"
import { count } from "./Wording.ts"
import { engineFlags, engineOptions } from "./local/EngineFlags.ts"
import { renderJson } from "./local/Json.ts"
import { isPartial } from "./local/Report.ts"
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
  path: Argument.String("PATH").pipe(
    Argument.withDescription("A folder in the repository or working copy"),
    Argument.withDefault(".")
  ),
  base: Flag.String("base").pipe(
    Flag.withMetavar("REV"),
    Flag.withDescription(
      "Commit or branch to compare with; the diff starts where the head left it (merge base). Default: the default branch. Subversion and Perforce: a revision or changelist, by default the one before the head"
    ),
    Flag.optional
  ),
  head: Flag.String("head").pipe(
    Flag.withMetavar("REV"),
    Flag.withDescription(
      "The revision to review. Default: HEAD. Subversion and Perforce: by default the newest one of the branch"
    ),
    Flag.optional
  ),
  uncommitted: Flag.Boolean("uncommitted").pipe(
    Flag.withDescription(
      "Review the uncommitted changes of the work tree, new files included. Subversion: what svn status shows, without unversioned files. Perforce: the opened files"
    ),
    Flag.withDefault(false)
  ),
  staged: Flag.Boolean("staged").pipe(
    Flag.withDescription("Review the staged changes instead of commits, for a hook (git only)"),
    Flag.withDefault(false)
  ),
  shelved: Flag.String("shelved").pipe(
    Flag.withMetavar("CHANGELIST"),
    Flag.withDescription("Review the shelved files of this changelist (Perforce only)"),
    Flag.optional
  ),
  vcs: Flag.Literals("vcs", VcsKind.literals).pipe(
    Flag.withDescription("Version control system, if the folder is in working copies of several. Default: git"),
    Flag.optional
  ),
  format: Flag.Literals("format", ["text", "json", "sarif", "markdown"] satisfies ReadonlyArray<Format>).pipe(
    Flag.withDescription("How to print the review"),
    Flag.withDefault("text" as const)
  ),
  ...engineFlags,
  publish: Flag.Boolean("publish").pipe(
    Flag.withDescription(
      "Publish the review on the open pull request of the reviewed commit, with the trigger and the channels of --config. Running it again duplicates no comment"
    ),
    Flag.withDefault(false)
  ),
  pull: Flag.Int("pull").pipe(
    Flag.withMetavar("NUMBER"),
    Flag.withDescription("Pull request to publish on, if several have the reviewed commit"),
    Flag.optional
  ),
  repo: Flag.String("repo").pipe(
    Flag.withMetavar("OWNER/NAME"),
    Flag.withDescription("Repository at the host, if the workspace has several"),
    Flag.optional
  ),
  failOn: Flag.Literals("fail-on", Severity.literals).pipe(
    Flag.withDescription(
      "Exit with 1 when a problem of this severity or above is found, or a report of the model could not be read"
    ),
    Flag.optional
  ),
  failOnPartial: Flag.Boolean("fail-on-partial").pipe(
    Flag.withDescription("Exit with 1 when a part of the change was not read"),
    Flag.withDefault(false)
  )
}

/**
 * Returns why the command ends with 1: problems of the severity, reports of the model that could not be read (they may be of any severity),
 * and what was not read.
 */
export const listFailures = (
  { analysis }: Pick<LocalReview, "analysis">,
  failOn: Severity | undefined,
  failOnPartial: boolean
): ReadonlyArray<string> => {
  const serious = failOn === undefined ? 0 : atOrAbove(allFindings(analysis), failOn).length
  const lost = (analysis.coverage.unusable ?? []).find(({ reason }) => reason === "report")?.count ?? 0
  return [
    ...(failOn === undefined || lost === 0
      ? []
      : [`${count(lost, "report")} of the model could not be read, of unknown severity (--fail-on ${failOn})`]),
    ...(serious === 0 ? [] : [`${count(serious, "problem")} of severity ${failOn} or above (--fail-on ${failOn})`]),
    ...(failOnPartial && isPartial(analysis) ? ["a part of the change was not read (--fail-on-partial)"] : [])
  ]
}

export const reviewCommand = <R>(
  runs: Effect.Effect<{
    readonly reviewLocally: (options: LocalReviewOptions) => Effect.Effect<LocalReview, ExitWith, R>
  }>
) =>
  Command.make(
    "review",
    flags,
    Effect.fnUntraced(function* (given) {
      const { path, base, head, format, publish, pull, repo, shelved, uncommitted, staged, vcs, ...engine } = given
      const changes = uncommitted ? "uncommitted" : staged ? "staged" : undefined
      if (uncommitted && staged) return yield* refused("--uncommitted includes what is staged: leave out --staged")
      if (changes !== undefined && (Option.isSome(head) || publish))
        return yield* refused(`--${changes} has no commit at the host: leave out --head and --publish`)
      if (Option.isSome(shelved) && publish)
        return yield* refused("--shelved has no commit at the host: leave out --publish")
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
            changes,
            shelved: Option.getOrUndefined(shelved),
            vcs: Option.getOrUndefined(vcs),
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
      const failures = listFailures(found, Option.getOrUndefined(given.failOn), given.failOnPartial)
      if (failures.length > 0) return yield* new ExitWith({ code: 1, message: failures.join("\n") })
    })
  ).pipe(
    Command.withDescription(
      "Review a change of a local repository or working copy (git, Subversion, Perforce) and print what was found"
    ),
    Command.withExamples([
      { command: "aicr review", description: "HEAD against the default branch, model from the environment" },
      {
        command: "aicr review --base HEAD~3 --format sarif --fail-on high > review.sarif",
        description: "The last three commits, for a build"
      },
      { command: "aicr review --staged --fail-on high", description: "What is about to be committed, for a hook" },
      { command: "aicr review --uncommitted", description: "What is not committed, in any working copy" },
      { command: "aicr review --base 41 --head 45", description: "Revisions 42 to 45 of a Subversion branch" },
      { command: "aicr review --shelved 1234", description: "A shelved changelist of Perforce" },
      {
        command: "aicr review --config config.yaml --workspace app --publish",
        description: "Publish the review of HEAD on its open pull request"
      }
    ])
  )
