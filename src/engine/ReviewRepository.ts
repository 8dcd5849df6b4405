/** The engine on a repository of this machine: no host, no queue, no channel. */
import { Effect } from "effect"
import type { Scope } from "effect"
import { AgentError } from "../agent/Agent.ts"
import type { Agent } from "../agent/Agent.ts"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import { isRefusedByBudget } from "../domain/Analysis.ts"
import type { Analysis } from "../domain/Analysis.ts"
import type { Catalog } from "../llm/Catalog.ts"
import type { Gateway } from "../llm/Gateway.ts"
import { CheckoutError, Vcs } from "../vcs/Checkout.ts"
import type { ContextRepositories } from "../vcs/ContextRepositories.ts"
import { LocalRepository } from "../vcs/LocalRepository.ts"
import type { LocalRange } from "../vcs/LocalRepository.ts"
import { noCiResults } from "./CiEvidence.ts"
import { mountContext } from "./read/ContextMounts.ts"
import type { PatchTooLarge } from "./read/PatchTooLarge.ts"
import type { AnalysisError } from "./AnalysisError.ts"
import type { ChangeThreads } from "./ChangeThreads.ts"
import { reviewChange } from "./ReviewChange.ts"
import type { ReviewStep } from "./ReviewChange.ts"
import type { ModelRun } from "../llm/ModelRun.ts"

interface RepositoryReviewInput {
  readonly snapshot: Snapshot
  readonly workspace: Workspace
  readonly range: LocalRange
  readonly progress?: (step: ReviewStep) => Effect.Effect<void>
}

interface RepositoryReview {
  /** Start of the diff: the merge base. */
  readonly from: string
  readonly analysis: Analysis
}

/** Filters are the workspace's own; there is no trigger here. */
export const reviewRepository = Effect.fn("reviewRepository")(function* (
  input: RepositoryReviewInput
): Effect.fn.Return<
  RepositoryReview,
  AgentError | CheckoutError | PatchTooLarge | AnalysisError,
  Vcs | ContextRepositories | LocalRepository | Agent | Catalog | ChangeThreads | Gateway | ModelRun
> {
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const checkout = yield* checkoutOf(input)
      const local = yield* LocalRepository
      const services = yield* Effect.context<ContextRepositories | Scope.Scope>()
      const analysis = yield* reviewChange({
        snapshot: input.snapshot,
        workspace: input.workspace,
        checkout,
        title: undefined,
        description: undefined,
        ci: input.workspace.review.evidence.ci.artifacts?.length ? noCiResults([notLocal]) : undefined,
        readLocal: (path, maxBytes) => local.file(input.range.root, path, maxBytes),
        filters: { watchPath: [], include: [], exclude: [] },
        context: Effect.provideContext(mountContext(input.snapshot, input.workspace, undefined), services),
        progress: input.progress
      })
      if (isRefusedByBudget(analysis)) return yield* overBudget
      return { from: checkout.from, analysis }
    })
  )
})

/** There is no change at a host whose readers a notice would reach: the caller gets the failure. */
const overBudget = new AgentError({
  reason: "failed",
  why: { _tag: "BudgetAllowsNoCall" }
})

const notLocal = { _tag: "CiLocal" } as const

const checkoutOf = Effect.fnUntraced(function* ({ range, workspace }: RepositoryReviewInput) {
  const vcs = yield* Vcs
  const local = yield* LocalRepository
  const headOnly = workspace.review.commit_strategy === "head_only"
  if (range.checkout !== undefined) return yield* range.checkout(headOnly)
  const checkout = vcs.checkout({
    url: range.root,
    mirror: range.root,
    authorization: undefined,
    head: range.head,
    base: range.base,
    headRef: undefined,
    baseRef: undefined,
    compare: "merge-base",
    rules: { commit: range.base, ref: undefined },
    headOnly
  })
  if (!range.shallow) return yield* checkout
  const deepened = Effect.andThen(local.deepen(range.root), checkout)
  return yield* Effect.catch(checkout, (error) =>
    workspace.review.git.allow_deepen
      ? deepened
      : Effect.fail(
          new CheckoutError({
            reason: "failed",
            why: { _tag: "ShallowClone", why: error.why, root: range.root }
          })
        )
  )
})
