/** From the options of `aicr review` to a review: configuration, revisions, engine; failures as exit codes. */
import { Effect } from "effect"
import type { Agent } from "../../agent/Agent.ts"
import { reviewRepository } from "../../engine/ReviewRepository.ts"
import type { Gateway } from "../../llm/Gateway.ts"
import type { Vcs } from "../../vcs/Checkout.ts"
import { LocalRepository } from "../../vcs/LocalRepository.ts"
import { ExitWith } from "../Exit.ts"
import { localConfig } from "./LocalConfig.ts"
import type { LocalConfigOptions, ModelFinder } from "./LocalConfig.ts"
import type { LocalReview } from "./Report.ts"
import { describeStep } from "./Steps.ts"

export interface LocalReviewOptions extends LocalConfigOptions {
  readonly path: string
  readonly base: string | undefined
  readonly head: string | undefined
  /** Told what is being done, one short phrase at a time. */
  readonly progress: (text: string) => Effect.Effect<void>
}

export const reviewLocally = Effect.fn("reviewLocally")(function* (
  options: LocalReviewOptions,
  finder: ModelFinder
): Effect.fn.Return<LocalReview, ExitWith, Vcs | LocalRepository | Agent | Gateway> {
  const { snapshot, workspace } = yield* localConfig(options, finder, process.env)
  const repository = yield* LocalRepository
  const range = yield* repository
    .range(options)
    .pipe(Effect.mapError(({ message }) => new ExitWith({ code: 2, message })))
  yield* options.progress(`comparing ${range.head.slice(0, 10)} with ${range.baseName}`)
  const { from, analysis } = yield* reviewRepository({
    snapshot,
    workspace,
    range,
    progress: (step) => options.progress(describeStep(step))
  }).pipe(Effect.mapError(({ message }) => new ExitWith({ code: 3, message: `the review failed: ${message}` })))
  return { root: range.root, baseName: range.baseName, from, head: range.head, analysis }
})
