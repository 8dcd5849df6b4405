/** Runs a review from the options of `aicr review`: configuration, revisions, engine; failures as exit codes. */
import { Effect } from "effect"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"
import type { Analysis } from "../../domain/Analysis.ts"
import type { Agent } from "../../agent/Agent.ts"
import { reviewRepository } from "../../engine/ReviewRepository.ts"
import type { ChangeThreads } from "../../engine/ChangeThreads.ts"
import type { Catalog } from "../../llm/Catalog.ts"
import type { Gateway } from "../../llm/Gateway.ts"
import type { VcsKind } from "../../domain/Kinds.ts"
import type { Vcs } from "../../vcs/Checkout.ts"
import { perforceClient as toPerforceClient } from "../../vcs/ConfiguredServer.ts"
import type { ContextRepositories } from "../../vcs/ContextRepositories.ts"
import { LocalRepository } from "../../vcs/LocalRepository.ts"
import type { UncommittedChanges } from "../../vcs/LocalRepository.ts"
import { ExitWith } from "../Exit.ts"
import type { StoredRevisions } from "../ReadSnapshot.ts"
import { localConfig } from "./LocalConfig.ts"
import type { LocalConfigOptions, ModelFinder } from "./LocalConfig.ts"
import type { FoundChange, WantedChange } from "./FindChange.ts"
import type { PublishedReview } from "./PublishReview.ts"
import type { LocalReview } from "./Report.ts"
import { describeStep } from "./Steps.ts"
import { ModelRun } from "../../llm/ModelRun.ts"

export interface LocalReviewOptions extends LocalConfigOptions {
  readonly path: string
  readonly base: string | undefined
  readonly head: string | undefined
  /** Reviews these changes instead of commits. */
  readonly changes?: UncommittedChanges | undefined
  /** Changelist of Perforce whose shelved files are reviewed. */
  readonly shelved?: string | undefined
  readonly vcs?: VcsKind | undefined
  /** Publishes the review on the pull request that has the head. */
  readonly publish?: WantedChange | undefined
  /** Called with a short phrase for each step. */
  readonly progress: (text: string) => Effect.Effect<void>
}

/** Finds the change at the host before a model is paid, and publishes on it after. */
export interface LocalPublisher {
  readonly find: (
    snapshot: Snapshot,
    workspace: Workspace,
    wanted: WantedChange,
    head: string
  ) => Effect.Effect<FoundChange, ExitWith>
  readonly publish: (
    snapshot: Snapshot,
    workspace: Workspace,
    found: FoundChange,
    analysis: Analysis
  ) => Effect.Effect<PublishedReview, ExitWith>
}

export const reviewLocally = Effect.fn("reviewLocally")(function* (
  options: LocalReviewOptions,
  finder: ModelFinder,
  publisher: LocalPublisher
): Effect.fn.Return<
  LocalReview,
  ExitWith,
  Vcs | ContextRepositories | LocalRepository | Agent | Catalog | ChangeThreads | Gateway | StoredRevisions
> {
  if (options.publish !== undefined && options.config === undefined) {
    return yield* new ExitWith({
      code: 2,
      message: "--publish needs --config: the git host and the channels to publish through are configured there"
    })
  }
  const repository = yield* LocalRepository
  const readConfig = localConfig(options, finder, process.env)
  // The configuration names the client of Perforce. Without one, a wrong folder is reported before a missing model.
  const configured = options.config === undefined ? undefined : yield* readConfig
  const perforceClient = configured === undefined ? undefined : toPerforceClient(configured.snapshot)
  const rangeOf = (base: string | undefined) =>
    Effect.mapError(
      repository.range({ ...options, base, perforceClient }),
      ({ message, reason }) => new ExitWith({ code: reason === "unreachable" ? 3 : 2, message })
    )
  let range = yield* rangeOf(options.base)
  for (const notice of range.notices) yield* options.progress(notice)
  if (options.publish !== undefined && range.vcs !== "git") {
    return yield* new ExitWith({
      code: 2,
      message: `--publish: ${range.root} is not a git repository; reviews are published on pull requests of git hosts`
    })
  }
  const { snapshot, workspace } = configured ?? (yield* readConfig)
  let found: FoundChange | undefined
  if (options.publish !== undefined) {
    found = yield* publisher.find(snapshot, workspace, options.publish, range.head)
    yield* options.progress(`publishing on ${found.url}`)
    // Reviews the diff that the pull request displays.
    if (options.base === undefined) {
      const { base, baseRef } = found.change
      range = yield* Effect.mapError(rangeOf(base), ({ message }) => {
        const what = `the base of the pull request (${baseRef ?? base}) is not here: run git fetch, or name a base with --base`
        return new ExitWith({ code: 2, message: `${what}. ${message}` })
      })
      range = { ...range, baseName: baseRef ?? range.baseName }
    }
  }
  yield* options.progress(`comparing ${range.headName} with ${range.baseName}`)
  const { from, analysis } = yield* reviewRepository({
    snapshot,
    workspace,
    range,
    progress: (step) => options.progress(describeStep(step))
  }).pipe(
    Effect.provideService(ModelRun, { id: "local", repository: "local" }),
    Effect.mapError(({ message }) => new ExitWith({ code: 3, message: `the review failed: ${message}` }))
  )
  const { baseName, head, headName, root, vcs } = range
  const review = { vcs, root, baseName, from, head, headName, analysis }
  if (found === undefined) return review
  yield* options.progress("publishing")
  return { ...review, published: yield* Effect.result(publisher.publish(snapshot, workspace, found, analysis)) }
})
