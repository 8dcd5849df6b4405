/** Reads what people of a repository made of earlier findings, for a review with `review.acceptance_floor`. */
import { Clock, Effect } from "effect"
import type { Workspace } from "../../src/config/Snapshot.ts"
import { repositoryKey } from "../../src/domain/Change.ts"
import { estimateAcceptance } from "../../src/review/Acceptance.ts"
import { Outcomes } from "../../src/store/Outcomes.ts"
import type { Run } from "../../src/store/Runs.ts"

/** Returns undefined without a floor, and if the records cannot be read: everything is published then. */
export const readAcceptance = Effect.fnUntraced(function* ({ change }: Pick<Run, "change">, { review }: Workspace) {
  const floor = review.acceptance_floor
  if (floor === 0) return undefined
  const { judged, judgedEverywhere } = yield* Outcomes
  const repository = repositoryKey(change)
  return yield* Effect.all([judged(repository), judgedEverywhere], { concurrency: 2 }).pipe(
    Effect.flatMap(([findings, organisation]) =>
      Effect.map(Clock.currentTimeMillis, (now) => estimateAcceptance(findings, organisation, floor, now))
    ),
    Effect.catch(({ message }) =>
      Effect.as(
        Effect.logWarning("acceptance of the repository unavailable, nothing is folded", {
          repository,
          error: message
        }),
        undefined
      )
    )
  )
})
