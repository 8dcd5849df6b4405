/** Reports a review that is paid for but not visible anywhere: in the log, on its deliveries and on the commit. */
import { Clock, Effect } from "effect"
import type { Workspace } from "../../src/config/Snapshot.ts"
import { endDescriptions } from "../../src/domain/HeadVerdict.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { Run } from "../../src/store/Runs.ts"

/** `workspace` is undefined if the configuration under which the run was admitted is lost. */
export const reportUnpublished = Effect.fnUntraced(function* (
  run: Run,
  workspace: Workspace | undefined,
  reason: Reason | undefined
) {
  const { id: runId, change, head, targetKey } = run
  const now = yield* Clock.currentTimeMillis
  yield* Effect.logError("review not published").pipe(
    Effect.annotateLogs({ workspace: run.workspace, target: targetKey, run_id: runId, reason })
  )
  const entry = yield* Effect.orElseSucceed((yield* Queue).get(run.entryId), () => undefined)
  if (entry !== undefined)
    yield* (yield* Receipts).revise(
      entry.events,
      { outcome: "failed", reason: { _tag: "NotPublished", reason }, runId },
      now
    )
  if (workspace === undefined) return
  const input = { runId, targetKey, change, head, workspace, runUrl: undefined }
  yield* (yield* Outbox).add((yield* Outputs).status(input, "failure", endDescriptions.unpublished), now)
})
