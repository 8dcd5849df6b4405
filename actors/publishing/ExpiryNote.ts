/** Records that an entry expired: a run with the reason, and the messages for chat groups. */
import { Clock, Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { expiredVerdict } from "../../src/domain/HeadVerdict.ts"
import { planExpiryNotice } from "../../src/outputs/ExpiryNotice.ts"
import { queuedTimeoutHours } from "../../src/queue/ExpiryCutoffs.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Runs } from "../../src/store/Runs.ts"

/** Records nothing where no chat group is configured for it. Idempotent. */
export const noteExpiry = Effect.fnUntraced(function* (entryId: string) {
  const entry = yield* (yield* Queue).get(entryId)
  if (entry?.status !== "expired") return
  const { change, configHash, targetKey, token } = entry
  const config = yield* ConfigStore
  const runs = yield* Runs
  const workspace = (yield* config.pinned(configHash)).workspaces.get(entry.workspace)
  if (workspace === undefined) return
  const hours = queuedTimeoutHours(config.current(), entry.workspace)
  const planned = planExpiryNotice("", entry, workspace, hours)
  const recorded = (yield* runs.list({ targetKey, limit: 100 })).filter((run) => run.entryId === entryId)
  const isNoted = recorded.some((run) => run.reason?._tag === "QueuedTimeout")
  // Of a change that waited for its first review.
  const verdict = expiredVerdict(recorded.find((run) => run.status === "queued")?.verdict)
  if (planned.length === 0 || isNoted) return
  const now = yield* Clock.currentTimeMillis
  const { base, head = "" } = change
  const { team } = workspace.instance
  const begun = { entryId, workspace: entry.workspace, team, targetKey, change, head, base, configHash, verdict }
  const run = yield* runs.begin(begun, token, now)
  if (run === undefined) return
  yield* (yield* Outbox).add(
    planned.map((row) => ({ ...row, runId: run.id })),
    now
  )
  yield* runs.move(run.id, token, "skipped", now, { _tag: "QueuedTimeout" }, verdict)
})
