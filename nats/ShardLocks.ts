/**
 * Locks shards in the bucket `shards`: `<runner>#<epoch>` under one key per shard. A shard is held if and only if a lease with that epoch
 * is alive. Epochs are never reused, so a shard whose holder's epoch has ended may be taken by compare-and-set.
 */
import { Effect } from "effect"
import type { NatsBucket } from "./NatsBucket.ts"
import type { NatsError } from "./NatsError.ts"
import { leaseMillis } from "./NatsStreams.ts"
import { token } from "./NatsSubjects.ts"
import { liveLeases, writeLease } from "./RunnerLease.ts"
import type { Holdings } from "./RunnerLease.ts"

/** The two buckets, and what this runner holds in them. */
export interface Locks {
  readonly leases: NatsBucket
  readonly shards: NatsBucket
  readonly holdings: Holdings
}

/** Maximum age of a lease that may take shards; the cluster stops actors at this age. */
const trustMillis = (leaseMillis * 2) / 3

const pipelined = { concurrency: 128 } as const

const keyOf = (shardId: string): string => `shard.${shardId.split(":").map(token).join(".")}`

const take = (
  { shards, holdings }: Locks,
  shardId: string,
  epoch: string,
  expected: number
): Effect.Effect<boolean, NatsError> =>
  shards.update(keyOf(shardId), `${holdings.own?.key ?? ""}#${epoch}`, expected).pipe(
    Effect.map((revision) => {
      if (holdings.own?.lease.epoch === epoch) holdings.keep(shardId, revision)
      return true
    }),
    Effect.catchIf(
      (error) => error.reason === "conflict",
      () => Effect.succeed(false)
    )
  )

/** Takes the shards whose holder's epoch has ended. */
const takeAbandoned = Effect.fnUntraced(function* (locks: Locks, shardIds: ReadonlyArray<string>, epoch: string) {
  const { leases, shards, holdings } = locks
  const entries = yield* Effect.forEach(
    shardIds,
    (id) => Effect.map(shards.last(keyOf(id)), (entry) => [id, entry] as const),
    pipelined
  )
  // Read after the holders, so that an epoch missing here has ended and is not one that starts later.
  const alive = new Set((yield* liveLeases(leases)).map((lease) => lease.epoch))
  yield* Effect.forEach(
    entries,
    ([id, entry]) => {
      const holder = entry?.value?.split("#")[1]
      if (entry !== undefined && holder === epoch) return Effect.sync(() => holdings.keep(id, entry.revision))
      return holder !== undefined && alive.has(holder) ? Effect.void : take(locks, id, epoch, entry?.revision ?? 0)
    },
    { ...pipelined, discard: true }
  )
})

/** Takes the free ones of these shards. Returns those that this runner holds. */
export const acquireShards = Effect.fnUntraced(function* (
  locks: Locks,
  address: string,
  shardIds: ReadonlyArray<string>
) {
  const { holdings } = locks
  const own = holdings.ownOf(address)
  if (own === undefined) return []
  const { epoch } = own.lease
  // Shards without an earlier holder come first; for the others the holder is read.
  const rest: Array<string> = []
  yield* Effect.forEach(
    shardIds.filter((id) => !holdings.shards.has(id)),
    (id) => Effect.map(take(locks, id, epoch, 0), (isTaken) => (isTaken ? undefined : rest.push(id))),
    pipelined
  )
  if (rest.length > 0) yield* takeAbandoned(locks, rest, epoch)
  // The epoch may have ended since then; then these shards have no holder.
  const isHeld = holdings.own?.lease.epoch === epoch && holdings.isFresh(trustMillis)
  return isHeld ? shardIds.filter((id) => holdings.shards.has(id)) : []
})

/** Extends the lease. Returns the shards that it covers. */
export const refreshShards = Effect.fnUntraced(function* (
  locks: Locks,
  address: string,
  shardIds: ReadonlyArray<string>
) {
  const { leases, holdings } = locks
  const own = holdings.ownOf(address)
  if (own === undefined) return []
  // Called once per stored reply: a lease that was just written covers a single shard without another write.
  const isJustWritten = shardIds.length === 1 && holdings.isFresh(leaseMillis / 9)
  if (!isJustWritten && !(yield* writeLease(leases, holdings, own, own.lease))) return []
  const now = performance.now()
  for (const id of shardIds) {
    const shard = holdings.shards.get(id)
    if (shard !== undefined) shard.wantedAt = now
  }
  const kept = shardIds.filter((id) => holdings.shards.has(id))
  // Shards taken by an `acquire` that the cluster had given up would otherwise be held forever.
  const unwanted = [...holdings.shards].filter(([, { wantedAt }]) => wantedAt < now - leaseMillis)
  yield* Effect.forEach(unwanted, ([id]) => releaseShard(locks, id), { discard: true })
  return kept
})

export const releaseShard = ({ shards, holdings }: Locks, shardId: string): Effect.Effect<void, NatsError> =>
  Effect.suspend(() => {
    const shard = holdings.shards.get(shardId)
    if (shard === undefined) return Effect.void
    return shards.delete(keyOf(shardId), shard.revision).pipe(
      // A delete whose response was lost, or a shard that another runner took since the lease ended: either way it is not held here.
      Effect.catchIf(
        (error) => error.reason === "conflict",
        () => Effect.void
      ),
      Effect.tap(Effect.sync(() => holdings.shards.delete(shardId)))
    )
  })

/** Releases every shard, and the lease if the runner is not on the list. */
export const releaseEverything = Effect.fnUntraced(function* (locks: Locks) {
  const { leases, holdings } = locks
  yield* Effect.forEach([...holdings.shards.keys()], (id) => releaseShard(locks, id), { ...pipelined, discard: true })
  const { own } = holdings
  if (own === undefined || own.lease.registered) return
  holdings.lose()
  yield* Effect.catchIf(
    leases.delete(own.key, own.revision),
    (error) => error.reason === "conflict",
    () => Effect.void
  )
})
