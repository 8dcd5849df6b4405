/**
 * Responds to links to shared reviews, which need no login. Without a valid signature nothing is read. Each node limits the wrong links of a client
 * and the reads of one link: a stranger who guesses, or a page that loads again and again, costs little.
 */
import { Clock, Effect, Metric } from "effect"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { MinuteCounts } from "../../domain/MinuteCounts.ts"
import { logFailure } from "../../observability/LimitedWarnings.ts"
import { sharedReviews } from "../../observability/Metrics.ts"
import { openReviewLink } from "../../outputs/ReviewLinks.ts"
import { Outbox } from "../../store/Outbox.ts"
import { Runs } from "../../store/Runs.ts"
import type { SharedRequest } from "../AdminApi.ts"
import { noSharedReview, sharedReviewPage, tooManyShared } from "../views/SharedReview.ts"

/** Wrong links of one client in a minute, and reads of one link. */
const maxWrong = 30
const maxReads = 120

const count = (outcome: "shown" | "refused" | "limited") =>
  Metric.update(Metric.withAttributes(sharedReviews, { outcome }), 1)

export const makeSharedReviews = () => {
  const wrong = new MinuteCounts(maxWrong)
  const reads = new MinuteCounts(maxReads)
  const read = Effect.fnUntraced(function* ({ acceptLanguage, client, path }: SharedRequest) {
    const now = yield* Clock.currentTimeMillis
    const link = openReviewLink((yield* ConfigStore).current(), path, now)
    const isAdmitted = link === undefined ? wrong.admits(client, now) : reads.admits(link.run, now)
    if (!isAdmitted) return tooManyShared
    const run = link === undefined ? undefined : yield* (yield* Runs).get(link.run)
    if (link === undefined || run === undefined) return noSharedReview
    const publications = yield* (yield* Outbox).ofRun(run.id)
    return sharedReviewPage({ run, publications, expiresAt: link.expiresAt, acceptLanguage })
  })
  return (request: SharedRequest) =>
    read(request).pipe(
      Effect.catch((error) => Effect.as(logFailure("shared review not read")(error), noSharedReview)),
      Effect.tap(({ status }) => count(status === 200 ? "shown" : status === 429 ? "limited" : "refused"))
    )
}
