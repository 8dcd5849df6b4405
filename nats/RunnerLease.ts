/**
 * The lease of the one runner of this process, in the bucket `leases`, and what this runner knows of it. Its *epoch* is the time from
 * taking the lease to losing it. A refresh is one compare-and-set, however many shards the runner has. A write whose reply got lost may
 * have happened; the next one then conflicts, reads its own epoch, and continues from that revision.
 */
import { nuid } from "@nats-io/transport-node"
import { Effect, Schema } from "effect"
import type { NatsBucket } from "./NatsBucket.ts"
import type { NatsError } from "./NatsError.ts"
import { token } from "./NatsSubjects.ts"

const Lease = Schema.Struct({
  address: Schema.String,
  /** As the cluster encodes it. */
  runner: Schema.String,
  epoch: Schema.String,
  /** 0 to 1023, part of the ids that the runner makes. */
  machine: Schema.Int,
  registered: Schema.Boolean
})
type Lease = typeof Lease.Type
const LeaseJson = Schema.fromJsonString(Lease)
const decodeLease = Schema.decodeUnknownOption(LeaseJson)
const encodeLease = Schema.encodeSync(LeaseJson)

export interface LiveLease extends Lease {
  readonly revision: number
}

/** The leases of all runners that are alive. */
export const liveLeases = (leases: NatsBucket): Effect.Effect<ReadonlyArray<LiveLease>, NatsError> =>
  Effect.map(leases.entries(), (entries) =>
    entries.flatMap((entry) => {
      const lease = decodeLease(entry.value)
      return lease._tag === "Some" ? [{ ...lease.value, revision: entry.revision }] : []
    })
  )

export interface OwnLease {
  readonly key: string
  readonly lease: Lease
  readonly revision: number
  /** When the last write that is known to have happened was begun. */
  readonly writtenAt: number
}

/** A shard of this runner's. */
export interface HeldShard {
  readonly revision: number
  /** When the cluster last named it as one that it wants to keep. */
  wantedAt: number
}

/** What this runner holds, as far as it knows: a lease, and shards under it. Shards end with the lease. */
export class Holdings {
  readonly shards = new Map<string, HeldShard>()
  #own: OwnLease | undefined

  get own(): OwnLease | undefined {
    return this.#own
  }

  /** The lease, where it is this address's. */
  ownOf(address: string): OwnLease | undefined {
    return this.#own?.lease.address === address ? this.#own : undefined
  }

  isFresh(withinMillis: number): boolean {
    return this.#own !== undefined && performance.now() - this.#own.writtenAt < withinMillis
  }

  /** The lease of a new epoch, under which nothing is held. */
  begin(own: OwnLease): void {
    this.shards.clear()
    this.#own = own
  }

  refreshed(own: OwnLease): void {
    this.#own = own
  }

  lose(): void {
    this.#own = undefined
    this.shards.clear()
  }

  keep(shardId: string, revision: number): void {
    this.shards.set(shardId, { revision, wantedAt: performance.now() })
  }
}

/** True when the bucket holds the lease with this value; false when the lease is lost. */
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
          // An own write whose reply got lost. Its age is unknown: only the next write makes the lease fresh.
          return writeLease(leases, holdings, { ...current, revision: entry.revision }, lease)
        })
    )
  )
}

/** Begins an epoch. Returns the machine id, undefined when another runner took the same one before. */
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
  // What the key holds is of an earlier epoch of this runner: an address belongs to one process.
  const revision = yield* leases.put(key, encodeLease(lease))
  holdings.begin({ key, lease, revision, writtenAt: at })
  const rivals = (yield* liveLeases(leases)).filter(
    (other) => other.address !== address && other.machine === machine && other.revision < revision
  )
  return rivals.length === 0 ? machine : undefined
})

/** Puts the runner on the list, with the lease it has or a new one. Returns its machine id. */
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

/** Takes the runner off the list; it keeps its lease and its shards. */
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
