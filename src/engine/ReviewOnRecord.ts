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
    context: Effect.provideContext(context, services)
  }).pipe(
    Effect.tap(() => recording.keep(input)),
    Effect.tapError(() => recording.keep(input))
  )
})
