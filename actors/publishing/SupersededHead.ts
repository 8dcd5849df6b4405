/** Handles a reviewed head that is no longer the newest: queues the newest and ends the status of the old one. */
import { Clock, Effect } from "effect"
import type { Workspace } from "../../src/config/Snapshot.ts"
import { pullRequestDue } from "../../src/admission/Windows.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { findPause, QueueControl } from "../../src/queue/operator/QueueControl.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import type { Run } from "../../src/store/Runs.ts"
import { lateNote } from "./PublishDecision.ts"
import { queueHead } from "./QueueHead.ts"

/**
 * Queues the newest head before the stale one is dropped; it joins the entry that its webhook created. It waits for its schedule, unless a
 * person requested the review. Returns the note for readers if the review of the newest head starts so late that the stale one is published
 * on the commit it was made for.
 */
export const followHead = Effect.fnUntraced(function* (run: Run, workspace: Workspace | undefined, head: string) {
  const now = yield* Clock.currentTimeMillis
  const isAutomatic = workspace !== undefined && run.change.requestedBy === undefined
  const due = isAutomatic ? pullRequestDue(workspace.review, now) : now
  // Only the head is known to have changed. The base may have changed since then.
  const { base: _base, baseRef: _baseRef, ...change } = run.change
  const admitted = yield* queueHead({
    eventId: `follow:${run.id}:${head}`,
    change: { ...change, head },
    configHash: run.configHash,
    workspace: run.workspace,
    now,
    dueAt: due
  })
  const pause = findPause(yield* (yield* QueueControl).pauses, "workspace", run.workspace)
  return lateNote({
    reviewed: run.head,
    newest: head,
    now,
    dueAt: admitted?.dueAt ?? due,
    isPaused: pause !== undefined
  })
})

/** Ends the pending status of a commit whose review is not published, with the reason. A worse verdict on record takes precedence. */
export const endStatus = Effect.fnUntraced(function* (run: Run, workspace: Workspace, newest: string) {
  const { id: runId, targetKey, change, head } = run
  const description = { _tag: "SupersededBy", head: newest.slice(0, 12) } as const
  const rows = (yield* Outputs).status(
    { runId, targetKey, change, head, workspace, runUrl: undefined },
    "neutral",
    description
  )
  yield* (yield* Outbox).add(rows, yield* Clock.currentTimeMillis)
})
