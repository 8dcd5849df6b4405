/**
 * Manages the lease of this process's runner in the bucket `leases`. Its *epoch* is the time from taking the lease to losing it. A refresh
 * is one compare-and-set, however many shards the runner has. A write whose response was lost may have happened; the next one then
 * conflicts, reads its own epoch, and continues from that revision.
 */
import { nuid } from "@nats-io/transport-node"
import { Effect, Option, Schema } from "effect"
import type { NatsBucket } from "./NatsBucket.ts"
import type { NatsError } from "./NatsError.ts"
import { token } from "./NatsSubjects.ts"

const Lease = Schema.Struct({
  address: Schema.String,
  /** Encoded by the cluster. */
  runner: Schema.String,
  epoch: Schema.String,
  /** Machine number from 0 to 1023, part of the ids that the runner creates. */
  machine: Schema.Int,
  registered: Schema.Boolean
})
type Lease = typeof Lease.Type
const LeaseJson = Schema.fromJsonString(Lease)
const decodeLease = Schema.decodeUnknownOption(LeaseJson)
const encodeLease = Schema.encodeSync(LeaseJson)

interface LiveLease extends Lease {
  readonly revision: number
}

/** Returns the leases in these values. */
export const readLeases = (values: ReadonlyArray<{ readonly value: string }>): ReadonlyArray<Lease> =>
  values.flatMap(({ value }) => Option.toArray(decodeLease(value)))

/** Returns the leases of all live runners. */
export const liveLeases = (leases: NatsBucket): Effect.Effect<ReadonlyArray<LiveLease>, NatsError> =>
  Effect.map(leases.entries(), (entries) =>
    entries.flatMap((entry) => {
      const lease = decodeLease(entry.value)
      return lease._tag === "Some" ? [{ ...lease.value, revision: entry.revision }] : []
    })
  )

interface OwnLease {
  readonly key: string
  readonly lease: Lease
  readonly revision: number
  /** Start of the last write that is confirmed. */
  readonly writtenAt: number
}

/** A shard that this runner holds. */
interface HeldShard {
  readonly revision: number
  /** Time at which the cluster last listed it as one to keep. */
  wantedAt: number
}

/** The lease and shards of this runner, to its knowledge. Shards end with the lease. */
export class Holdings {
  readonly shards = new Map<string, HeldShard>()
  /** Time of the last confirmed write of any lease; at first that of the start. */
  confirmedAt = performance.now()
  #own: OwnLease | undefined

  get own(): OwnLease | undefined {
    return this.#own
  }

  /** Returns the lease if it belongs to this address. */
  ownOf(address: string): OwnLease | undefined {
    return this.#own?.lease.address === address ? this.#own : undefined
  }

  isFresh(withinMillis: number): boolean {
    return this.#own !== undefined && performance.now() - this.#own.writtenAt < withinMillis
  }

  /** Starts a new epoch without shards. */
  begin(own: OwnLease): void {
    this.shards.clear()
    this.refreshed(own)
  }

  refreshed(own: OwnLease): void {
    this.#own = own
    this.confirmedAt = own.writtenAt
  }

  lose(): void {
    this.#own = undefined
    this.shards.clear()
  }

  keep(shardId: string, revision: number): void {
    this.shards.set(shardId, { revision, wantedAt: performance.now() })
  }
}

/** Writes the lease. Returns true if the bucket holds this value, and false if the lease is lost. */
export const writeLease = (
  leases: NatsBucket,
  holdings: Holdings,
  current: OwnLease,
  lease: Lease
): Effect.Effect<boolean, NatsError> => {
  const at = performance.now()
  return leases.update(current.key, encodeLease(lease), current.revision).pipe(
    Effect.map((revision) => {
      holdings.refreshed({ key: current.key, lease, revision, writtenAt: at })
      return true
    }),
    Effect.catchIf(
      (error) => error.reason === "conflict",
      () =>
        Effect.flatMap(leases.get(current.key), (entry) => {
          const stored = entry === undefined ? undefined : decodeLease(entry.value)
          if (entry === undefined || stored?._tag !== "Some" || stored.value.epoch !== lease.epoch) {
            holdings.lose()
            return Effect.succeed(false)
          }
          // A previous write of this runner whose response was lost. Its age is unknown, so only the next write makes the lease fresh.
          return writeLease(leases, holdings, { ...current, revision: entry.revision }, lease)
        })
    )
  )
}

/** Starts an epoch. Returns the machine id, or undefined if another runner took the same one before. */
const takeLease = Effect.fnUntraced(function* (
  leases: NatsBucket,
  holdings: Holdings,
  address: string,
  runner: string
) {
  const others = yield* liveLeases(leases)
  const at = performance.now()
  const machine = freeMachine(others.map((other) => other.machine))
  const lease: Lease = { address, runner, epoch: nuid.next(), machine, registered: true }
  const key = token(address)
  holdings.lose()
  // The key holds an earlier epoch of this runner, because an address belongs to one process.
  const revision = yield* leases.put(key, encodeLease(lease))
  const rivals = (yield* liveLeases(leases)).filter(
    (other) => other.address !== address && other.machine === machine && other.revision < revision
  )
  if (rivals.length > 0) return undefined
  // Not before: if the list of rivals is unavailable, the next attempt must not keep a machine id that two runners may have.
  holdings.begin({ key, lease, revision, writtenAt: at })
  return machine
})

/** Registers the runner with its current lease or a new one. Returns its machine id. */
export const registerRunner = Effect.fnUntraced(function* (
  leases: NatsBucket,
  holdings: Holdings,
  address: string,
  runner: string
) {
  const own = holdings.ownOf(address)
  if (own !== undefined && (yield* writeLease(leases, holdings, own, { ...own.lease, runner, registered: true }))) {
    return own.lease.machine
  }
  for (;;) {
    const machine = yield* takeLease(leases, holdings, address, runner)
    if (machine !== undefined) return machine
    yield* Effect.logDebug("machine id already in use, trying another")
  }
})

/** Removes the runner from the list. It keeps its lease and its shards. */
export const unregisterRunner = (
  leases: NatsBucket,
  holdings: Holdings,
  address: string
): Effect.Effect<void, NatsError> =>
  Effect.suspend(() => {
    const own = holdings.ownOf(address)
    return own === undefined
      ? Effect.void
      : Effect.asVoid(writeLease(leases, holdings, own, { ...own.lease, registered: false }))
  })

/** Deletes leases that have not been refreshed since they were read. */
export const evictRunners = Effect.fnUntraced(function* (leases: NatsBucket, hasEnded: (address: string) => boolean) {
  for (const { address, revision } of yield* liveLeases(leases)) {
    if (!hasEnded(address)) continue
    yield* leases.delete(token(address), revision).pipe(
      Effect.tap(Effect.logWarning("lease of a runner ended, its process no longer exists", { runner: address })),
      Effect.catchIf(
        (error) => error.reason === "conflict",
        () => Effect.void
      )
    )
  }
})

const machines = 1024
const freeMachine = (used: ReadonlyArray<number>): number => {
  const inUse = new Set(used)
  const first = Math.floor(Math.random() * machines)
  for (let step = 0; step < machines; step++) {
    const machine = (first + step) % machines
    if (!inUse.has(machine)) return machine
  }
  return first
}
