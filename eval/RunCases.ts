/** Runs labelled changes through the engine like any other change: a real repository each, the same prompts, tools and checks. */
import { Clock, Effect } from "effect"
import type { Agent } from "../src/agent/Agent.ts"
import type { Snapshot, Workspace } from "../src/config/Snapshot.ts"
import type { Catalog } from "../src/llm/Catalog.ts"
import type { Gateway } from "../src/llm/Gateway.ts"
import { ModelRun } from "../src/llm/ModelRun.ts"
import type { CheckoutError, Vcs } from "../src/vcs/Checkout.ts"
import type { ContextRepositories } from "../src/vcs/ContextRepositories.ts"
import type { LocalRepository } from "../src/vcs/LocalRepository.ts"
import { ScratchRepository } from "../src/vcs/ScratchRepository.ts"
import type { ChangeThreads } from "../src/engine/ChangeThreads.ts"
import { noUsage } from "../src/domain/Analysis.ts"
import { reviewRepository } from "../src/engine/ReviewRepository.ts"
import type { EvalCase } from "./EvalCase.ts"
import { scoreAll, scoreCase } from "./Score.ts"
import type { EvalScore, Reviewed, ScoredCase } from "./Score.ts"

export interface EvalInput {
  readonly snapshot: Snapshot
  readonly workspace: Workspace
  readonly cases: ReadonlyArray<EvalCase>
  /** Reviews at the same time. */
  readonly concurrency: number
  /** Runs after each case. */
  readonly progress: (scored: ScoredCase, done: number) => Effect.Effect<void>
}

/** Scores need all findings, also those that only maintainers would get. */
const withoutPrivate = (workspace: Workspace): Workspace => {
  const { review } = workspace
  return { ...workspace, review: { ...review, private: { ...review.private, channel: undefined } } }
}

/** A review that fails counts as a result without findings. */
export const runCases = Effect.fn("runCases")(function* (
  input: EvalInput
): Effect.fn.Return<
  EvalScore,
  CheckoutError,
  Vcs | ContextRepositories | LocalRepository | ScratchRepository | Agent | Catalog | ChangeThreads | Gateway
> {
  const scratch = yield* ScratchRepository
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const ranges = yield* scratch.make(
        input.cases.map(({ before, after, title, description }) => ({
          before,
          after,
          message: description === undefined ? title : `${title}\n\n${description}`
        }))
      )
      let done = 0
      const scored = yield* Effect.forEach(
        input.cases,
        Effect.fnUntraced(function* (one, index) {
          const range = ranges[index]
          if (range === undefined) return yield* Effect.die("a change without its range")
          const began = yield* Clock.currentTimeMillis
          const review = yield* reviewRepository({
            snapshot: input.snapshot,
            workspace: withoutPrivate(input.workspace),
            range
          }).pipe(Effect.provideService(ModelRun, { id: `eval:${one.name}`, repository: "eval" }), Effect.result)
          const seconds = ((yield* Clock.currentTimeMillis) - began) / 1000
          const reviewed: Reviewed =
            review._tag === "Success"
              ? { ...review.success.analysis, seconds, failed: undefined }
              : { findings: [], usage: noUsage, models: [], seconds, failed: review.failure.message }
          const result = scoreCase(one, reviewed)
          yield* input.progress(result, ++done)
          return result
        }),
        { concurrency: input.concurrency }
      )
      return scoreAll(scored)
    })
  )
})
