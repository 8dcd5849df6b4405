/** A review of the service: with the further repositories of its workspace, and a record of all it read (`aicr replay`). */
import { Effect } from "effect"
import type { Scope } from "effect"
import type { ContextRepositories } from "../vcs/ContextRepositories.ts"
import { mountContext } from "./read/ContextMounts.ts"
import { recordReads } from "./record/RecordReads.ts"
import { reviewChange } from "./ReviewChange.ts"
import type { ReviewInput } from "./ReviewChange.ts"

export const reviewOnRecord = Effect.fn("reviewOnRecord")(function* (
  runId: string,
  input: ReviewInput,
  outsider: string | undefined
) {
  const services = yield* Effect.context<ContextRepositories | Scope.Scope>()
  const recording = yield* recordReads(runId, input.checkout)
  const context = Effect.map(mountContext(input.snapshot, input.workspace, outsider), recording.context)
  return yield* reviewChange({
    ...input,
    checkout: recording.checkout,
    keepReferences: recording.keepReferences,
    keepFacts: recording.keepFacts,
    context: Effect.provideContext(context, services)
  }).pipe(
    Effect.map((analysis) =>
      readsMembersOnly(input, outsider) ? { ...analysis, restricted: true as const } : analysis
    ),
    Effect.tap(() => recording.keep(input)),
    Effect.tapError(() => recording.keep(input))
  )
})

/** Returns whether the review may have read a repository that only members may read. */
const readsMembersOnly = ({ workspace }: ReviewInput, outsider: string | undefined): boolean =>
  outsider === undefined && workspace.contextRepositories.some(({ visibility }) => visibility !== "any_author")
