/**
 * Wakes the scheduler of each workspace whose pause ended, one in the cluster. An operator may resume a workspace in the store of the queue,
 * without any message to an actor; without this actor the next sweep would find it. Reminds operators of pauses that may be forgotten. The
 * state in memory is only what the last scan found.
 */
import { Clock, Duration, Effect, Schedule, Stream } from "effect"
import { Singleton } from "effect/cluster"
import { QueueControl } from "../../src/queue/operator/QueueControl.ts"
import type { Pause } from "../../src/queue/operator/QueueControl.ts"
import { countStart } from "../ActorStarts.ts"
import type { ShardGroup } from "../Placement.ts"
import { WorkspaceScheduler } from "./WorkspaceScheduler.ts"

/** Interval in which reminders are looked for. */
const remindInterval = "1 minute"

/** Returns the workspaces that were paused before and are not any more. */
export const listResumed = (before: ReadonlySet<string>, pauses: ReadonlyArray<Pause>): ReadonlyArray<string> => {
  const paused = listPaused(pauses)
  return [...before].filter((workspace) => !paused.has(workspace))
}

export const listPaused = (pauses: ReadonlyArray<Pause>): ReadonlySet<string> =>
  new Set(pauses.flatMap(({ name, scope }) => (scope === "workspace" ? [name] : [])))

const remindMillis = Duration.toMillis("1 hour")

/** Returns the pauses whose reminder is due. `remindedAt` has the time of the last one by scope and name, and is updated. */
export const listReminders = (
  pauses: ReadonlyArray<Pause>,
  remindedAt: Map<string, number>,
  now: number
): ReadonlyArray<Pause> => {
  const named = pauses.map((pause) => [`${pause.scope} ${pause.name}`, pause] as const)
  const names = new Set<string>(named.map(([name]) => name))
  for (const name of remindedAt.keys()) if (!names.has(name)) remindedAt.delete(name)
  const due = named.filter(([name, { since }]) => now - Math.max(since, remindedAt.get(name) ?? since) >= remindMillis)
  for (const [name] of due) remindedAt.set(name, now)
  return due.map(([, pause]) => pause)
}

const shardGroup: ShardGroup = "actors"

export const layer = Singleton.make(
  "ResumeWatch",
  Effect.gen(function* () {
    yield* countStart("ResumeWatch")
    const control = yield* QueueControl
    const schedulerOf = yield* WorkspaceScheduler.client
    let paused: ReadonlySet<string> = new Set()
    const remindedAt = new Map<string, number>()
    const follow = Effect.fnUntraced(function* (pauses: ReadonlyArray<Pause>) {
      const resumed = listResumed(paused, pauses)
      paused = listPaused(pauses)
      for (const workspace of resumed)
        yield* Effect.ignore(schedulerOf(workspace).Wake(undefined, { discard: true }), { log: "Debug" })
    })
    const remind = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      for (const { name, reason, scope, since } of listReminders(yield* control.pauses, remindedAt, now)) {
        const hours = Math.floor((now - since) / remindMillis)
        yield* Effect.logWarning("still paused, no review starts until aicr queue resume", {
          scope,
          name,
          reason,
          hours
        })
      }
    })
    yield* Effect.all(
      [
        Stream.runForEach(control.watchPauses, follow),
        Effect.repeat(Effect.ignore(remind, { log: "Debug" }), Schedule.spaced(remindInterval))
      ],
      { concurrency: 2, discard: true }
    )
  }),
  { shardGroup }
)
