/**
 * Fires the scheduled triggers, one in the cluster. The last fire of each repository of a trigger is stored. Several missed times cause one
 * fire, for the newest of them. A fire writes the receipt, whose delivery key contains the time, then the queue entry, then the record.
 * Repeating a step after a crash changes nothing.
 */
import { Clock, Duration, Effect } from "effect"
import { Singleton } from "effect/cluster"
import { admitScheduled, scheduleId } from "../../src/admission/AdmitScheduled.ts"
import { dueFire, nextFire } from "../../src/admission/CronTimes.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { ScheduledRepository } from "../../src/config/schema/Triggers.ts"
import type { TriggerProfile } from "../../src/config/Snapshot.ts"
import { targetKey } from "../../src/domain/Change.ts"
import { newId } from "../../src/domain/Ids.ts"
import { deliveryKey } from "../../src/domain/Keys.ts"
import { logFailure } from "../../src/observability/LimitedWarnings.ts"
import { enqueue } from "../../src/queue/Enqueue.ts"
import { logDecision } from "../../src/store/LogDecision.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { EventRecord } from "../../src/store/Receipts.ts"
import { Schedules } from "../../src/store/Schedules.ts"
import { countStart } from "../ActorStarts.ts"
import type { ShardGroup } from "../Placement.ts"
import { WorkspaceScheduler } from "./WorkspaceScheduler.ts"

/** Longest sleep in milliseconds, within which a new configuration or a clock change takes effect. */
const maxSleepMillis = Duration.toMillis("15 seconds")

const fire = Effect.fnUntraced(function* (
  trigger: TriggerProfile,
  repository: ScheduledRepository,
  at: number,
  now: number
) {
  const receipts = yield* Receipts
  const outcome = admitScheduled((yield* ConfigStore).current(), trigger, repository, now)
  const id = newId()
  const record: EventRecord = {
    id,
    deliveryKey: deliveryKey("scheduled", `${scheduleId(trigger, repository)}:${at}`),
    provider: "scheduled",
    event: "scheduled",
    action: undefined,
    trigger: trigger.name,
    workspace: outcome.workspace?.id,
    targetKind: "scheduled",
    targetKey: outcome.accepted ? targetKey(outcome.change) : undefined,
    repo: repository.repo,
    facts: { branch: repository.branch },
    decision: outcome.accepted ? "queued" : "ignored",
    reason: outcome.accepted ? undefined : outcome.reason,
    rule: outcome.rule,
    work: undefined,
    receivedAt: now
  }
  if (!outcome.accepted) {
    yield* Effect.logWarning("scheduled review skipped; bind the trigger to a workspace of a git host's trigger", {
      event_id: id,
      trigger: trigger.name,
      repository: repository.repo,
      reason: outcome.reason
    })
    yield* receipts.store(record)
    return
  }
  const { change, configHash, dueAt, priority, workspace } = outcome
  const receipt = yield* receipts.store({ ...record, work: { change, configHash, priority, dueAt } })
  yield* logDecision(record, {
    eventId: receipt._tag === "Duplicate" ? receipt.first.id : id,
    decision: receipt._tag === "Duplicate" ? "duplicate" : "queued",
    reason: undefined
  })
  // The process died right after storing the receipt. Recovery queues it.
  if (receipt._tag === "Duplicate") return
  const [admitted] = yield* enqueue([{ eventId: id, change, configHash, priority, admittedAt: now, dueAt }])
  if (admitted !== undefined && admitted.status !== record.decision)
    yield* receipts.note({ decided: [{ id, decision: admitted.status }], duplicates: [] })
  return workspace.id
})

/** Fires due triggers and notifies the scheduler of each workspace that got work. Returns when to scan again. */
export const scan = Effect.fnUntraced(function* <E, R>(wake: (workspace: string) => Effect.Effect<void, E, R>) {
  const schedules = yield* Schedules
  const now = yield* Clock.currentTimeMillis
  let next = now + maxSleepMillis
  for (const trigger of (yield* ConfigStore).current().triggersOfKind("scheduled")) {
    for (const repository of trigger.settings.repositories ?? []) {
      const id = scheduleId(trigger, repository)
      const last = yield* schedules.lastFire(id, now)
      const at = dueFire(trigger.settings, last, now)
      if (at !== undefined) {
        // Times that pass while the trigger is disabled are skipped.
        const woken = trigger.enabled ? yield* fire(trigger, repository, at, now) : undefined
        yield* schedules.fired(id, at)
        if (woken !== undefined) yield* wake(woken)
      }
      next = Math.min(next, nextFire(trigger.settings, at ?? Math.max(last, now - 1)) ?? next)
    }
  }
  return next
})

const shardGroup: ShardGroup = "actors"

export const layer = Singleton.make(
  "Schedules",
  Effect.gen(function* () {
    yield* countStart("Schedules")
    const schedulerOf = yield* WorkspaceScheduler.client
    const lookNow = scan((workspace) => schedulerOf(workspace).Wake(undefined, { discard: true }))
    while (true) {
      const next = yield* Effect.catch(lookNow, (error) =>
        logFailure(
          "scheduled reviews not started, retry scheduled",
          {},
          { level: "Error" }
        )(error).pipe(
          Effect.andThen(Clock.currentTimeMillis),
          Effect.map((now) => now + maxSleepMillis)
        )
      )
      const now = yield* Clock.currentTimeMillis
      yield* Effect.sleep(Math.max(100, Math.min(maxSleepMillis, next - now)))
    }
  }),
  { shardGroup }
)
