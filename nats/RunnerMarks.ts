/**
 * Marks runners that others consider unhealthy, in the bucket `shards`, which has no TTL: writing a mark must not extend the runner's
 * lease.
 */
import { Effect } from "effect"
import type { NatsBucket } from "./NatsBucket.ts"
import type { NatsError } from "./NatsError.ts"
import { token } from "./NatsSubjects.ts"
import { liveLeases } from "./RunnerLease.ts"
import type { Locks } from "./ShardLocks.ts"

const unhealthy = "unhealthy"
const markOf = (address: string): string => `${unhealthy}.${token(address)}`

export const setHealth = (shards: NatsBucket, address: string, isHealthy: boolean): Effect.Effect<void, NatsError> =>
  isHealthy ? shards.delete(markOf(address)) : Effect.asVoid(shards.put(markOf(address), unhealthy))

/** Deletes the marks of runners that no longer exist. */
export const deleteMarks = Effect.fnUntraced(function* ({ leases, shards }: Pick<Locks, "leases" | "shards">) {
  const marks = yield* shards.keys(`${unhealthy}.*`)
  if (marks.length === 0) return
  const alive = new Set((yield* liveLeases(leases)).map(({ address }) => markOf(address)))
  yield* Effect.forEach(marks, (mark) => (alive.has(mark) ? Effect.void : shards.delete(mark)), { discard: true })
})

/** Lists the registered runners and their health. */
export const listRunners = Effect.fnUntraced(function* ({ leases, shards }: Pick<Locks, "leases" | "shards">) {
  const marks = new Set(yield* shards.keys(`${unhealthy}.*`))
  return (yield* liveLeases(leases))
    .filter(({ registered }) => registered)
    .map(({ address, runner }): [runner: string, isHealthy: boolean] => [runner, !marks.has(markOf(address))])
})
