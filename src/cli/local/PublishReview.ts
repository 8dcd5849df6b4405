/**
 * Publishes a local review on its pull request like any publication: rows of an outbox, sent by the change's publisher. The outbox lives as
 * long as the command; comments of an earlier call are found at the host by their markers.
 */
import { Clock, Duration, Effect } from "effect"
import type { Sharding } from "effect/cluster"
import { publishers } from "../../../actors/publishing/ChangePublisher.ts"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"
import type { Analysis } from "../../domain/Analysis.ts"
import { targetKey as keyOf } from "../../domain/Change.ts"
import { nextLease, noLease } from "../../domain/FencingToken.ts"
import { newId } from "../../domain/Ids.ts"
import { Outputs } from "../../outputs/Outputs.ts"
import { Outbox } from "../../store/Outbox.ts"
import { withSettings } from "../../domain/RepositorySettings.ts"
import { Runs } from "../../store/Runs.ts"
import { inEnglish } from "../../text/en.ts"
import { ExitWith } from "../Exit.ts"
import { count } from "../Wording.ts"
import type { FoundChange } from "./FindChange.ts"

export interface PublishedReview {
  readonly url: string
  /** Channels that were written to. */
  readonly channels: ReadonlyArray<string>
}

/** Time limit: hosts accept a write a second, and a host that refuses for longer is given up. */
const publishTimeout = Duration.minutes(10)
const token = nextLease(noLease)

const failed = (message: string) => new ExitWith({ code: 3, message: `--publish: ${message}` })

export const publishReview = Effect.fn("publishReview")(function* (
  snapshot: Snapshot,
  workspace: Workspace,
  { change, url }: FoundChange,
  analysis: Analysis
): Effect.fn.Return<PublishedReview, ExitWith, Runs | Outbox | Outputs | Sharding.Sharding> {
  // A message that only maintainers get cannot be repeated, and the other texts say that it was sent.
  if (analysis.private !== undefined)
    return yield* failed(
      `nothing is published, because the review has ${count(analysis.private.length, "problem")} for maintainers only (review.private), which only the service delivers: let it review the change`
    )
  const [runs, outbox, outputs] = [yield* Runs, yield* Outbox, yield* Outputs]
  const publisherOf = yield* publishers
  const targetKey = keyOf(change)
  const { head, base } = change
  const now = yield* Clock.currentTimeMillis
  const work = Effect.gen(function* () {
    const begun = {
      entryId: newId(),
      workspace: workspace.id,
      targetKey,
      change,
      head,
      base,
      configHash: snapshot.hash
    }
    const run = yield* runs.begin(begun, token, now)
    if (run === undefined) return yield* failed("the review could not be recorded")
    yield* runs.move(run.id, token, "analyzing", now)
    const chosen = withSettings(workspace, analysis.settings)
    const input = { runId: run.id, targetKey, change, head, workspace: chosen, runUrl: undefined, analysis }
    // Messages on chat platforms cannot be looked up, and a label refers to the service's reviews.
    const rows = outputs
      .plan(input)
      .filter(({ operation: { _tag } }) => _tag !== "Chat" && _tag !== "DirectMessage" && _tag !== "Label")
    yield* runs.complete(run.id, token, analysis, rows, now)
    yield* publisherOf(targetKey).Publish()
    return yield* outbox.ofRun(run.id)
  }).pipe(
    Effect.mapError((error) => (error instanceof ExitWith ? error : failed(error.message))),
    Effect.timeoutOrElse({
      duration: publishTimeout,
      orElse: () =>
        failed(`publishing did not finish within ${Duration.toMinutes(publishTimeout)} minutes; run it again`)
    })
  )
  const rows = yield* work
  const left = rows.filter(({ status }) => status !== "sent" && status !== "nothing_to_do")
  if (left.length > 0) {
    const why = [
      ...new Set(
        left.map(({ channel, error, status }) => `${channel}: ${error === undefined ? status : inEnglish(error)}`)
      )
    ]
    return yield* failed(`${left.length} of ${rows.length} writes failed: ${why.join("; ")}`)
  }
  return { url, channels: [...new Set(rows.map(({ channel }) => channel))] }
})
