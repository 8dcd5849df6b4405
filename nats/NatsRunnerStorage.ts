/**
 * Membership and shard locks of the cluster, in two buckets:
 *
 * - `leases`, one key per runner, which ends by itself 9 s after its last refresh. Its value names an *epoch*: the time from taking the
 *   lease to losing it. A refresh is one compare-and-set, however many shards there are.
 * - `shards`, one key per shard, `<runner>#<epoch>`. It is held if and only if a lease with that epoch is alive. An epoch that has ended
 *   never comes back, so a shard whose holder's epoch is gone may be taken, by compare-and-set.
 *
 * Reads are answered by the leader of the stream at one moment: a live runner is never missing from a list, however fast it refreshes.
 * A write that was not answered may have happened; the next one then conflicts, and finds its own epoch there, and goes on from it.
 *
 * Going away is in two steps: `unregister` only takes the runner off the list (its actors still run, its shards stay its own);
 * `releaseAll` gives up the shards and then the lease.
 */
import { nuid } from "@nats-io/transport-node"
import { Context, Effect, Layer, Schedule, Schema, Semaphore } from "effect"
import { ClusterError, RunnerStorage } from "effect/cluster"
import { makeBucket } from "./NatsBucket.ts"
import { NatsConnection } from "./NatsConnection.ts"
import type { NatsError } from "./NatsError.ts"
import { leaseMillis, streams } from "./NatsStreams.ts"
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

/** What a runner knows of its own lease. */
export class NatsRunnerLease extends Context.Service<
  NatsRunnerLease,
  {
    /** Undefined while there is none. It differs from every other, before and after. */
    readonly epoch: Effect.Effect<string | undefined>
    /**
     * Of a shard (`group:number`) that this runner holds: a number that is higher than that of every earlier holder. A store that
     * refuses writes with a lower one than it has seen is safe from a runner that was frozen and does not know yet. Undefined when
     * the shard is not held, or the lease may have ended by this runner's own clock.
     */
    readonly fence: (shardId: string) => Effect.Effect<number | undefined>
    /** Addresses of the runners whose leases are alive. */
    readonly alive: Effect.Effect<ReadonlyArray<string>, NatsError>
  }
>()("aicr/nats/NatsRunnerLease") {}

interface Own {
  readonly key: string
  readonly lease: Lease
  readonly revision: number
  /** When the last write that is known to have happened was begun. */
  readonly writtenAt: number
}

/** A shard of this runner's. */
interface Held {
  readonly revision: number
  /** When the cluster last named it as one that it wants to keep. */
  wantedAt: number
}

/** A lease this old is not trusted to take anything with; the cluster stops actors at this age. */
const trustMillis = (leaseMillis * 2) / 3

/** For the way out: a server that is away is not waited for, the lease ends by itself. */
const partWithin = "1500 millis"

const make = Effect.gen(function* () {
  const connection = yield* NatsConnection
  const leases = yield* makeBucket(streams.leases)
  const shards = yield* makeBucket(streams.shards)
  const writing = Semaphore.makeUnsafe(1)
  const held = new Map<string, Held>()
  let own: Own | undefined

  const isFresh = (within: number) => own !== undefined && performance.now() - own.writtenAt < within
  const lose = () => {
    own = undefined
    held.clear()
  }

  const keep = (shardId: string, revision: number) => {
    held.set(shardId, { revision, wantedAt: performance.now() })
  }

  /** Through a server that is away; the cluster's own timeouts end it. */
  const steady = <A>(effect: Effect.Effect<A, NatsError>): Effect.Effect<A, NatsError> =>
    Effect.flatMap(connection.status, ({ connected }) => (connected ? Effect.void : connection.reconnected)).pipe(
      Effect.andThen(effect),
      Effect.retry({ while: (error) => error.reason === "unavailable", schedule: Schedule.spaced("100 millis") })
    )

  const liveLeases = Effect.map(leases.entries(), (entries) =>
    entries.flatMap((entry) => {
      const lease = decodeLease(entry.value)
      return lease._tag === "Some" ? [{ ...lease.value, revision: entry.revision }] : []
    })
  )

  /** True when the lease stands with this value; false when it is lost. */
  const writeLease = (current: Own, lease: Lease): Effect.Effect<boolean, NatsError> => {
    const at = performance.now()
    const value = encodeLease(lease)
    return leases.update(current.key, value, current.revision).pipe(
      Effect.map((revision) => {
        own = { key: current.key, lease, revision, writtenAt: at }
        return true
      }),
      Effect.catchIf(
        (error) => error.reason === "conflict",
        () =>
          Effect.flatMap(leases.get(current.key), (found) => {
            const there = found === undefined ? undefined : decodeLease(found.value)
            if (found === undefined || there?._tag !== "Some" || there.value.epoch !== lease.epoch) {
              lose()
              return Effect.succeed(false)
            }
            // A write of ours that was not answered. Its age is not known: only the next write makes the lease fresh.
            return writeLease({ ...current, revision: found.revision }, lease)
          })
      )
    )
  }

  const takeLease = Effect.fnUntraced(function* (address: string, runner: string) {
    const others = yield* liveLeases
    const at = performance.now()
    const lease: Lease = {
      address,
      runner,
      epoch: nuid.next(),
      machine: freeMachine(others.map(({ machine }) => machine)),
      registered: true
    }
    const key = token(address)
    held.clear()
    // Whatever stands there is of an earlier epoch of this runner: an address belongs to one process.
    own = { key, lease, revision: yield* leases.put(key, encodeLease(lease)), writtenAt: at }
    const rivals = (yield* liveLeases).filter(
      (other) => other.address !== address && other.machine === lease.machine && other.revision < (own?.revision ?? 0)
    )
    return rivals.length === 0
  })

  const register = (address: string, runner: string) =>
    Effect.gen(function* () {
      if (
        own !== undefined &&
        own.lease.address === address &&
        (yield* writeLease(own, { ...own.lease, runner, registered: true }))
      ) {
        return own.lease.machine
      }
      while (!(yield* takeLease(address, runner)))
        yield* Effect.logDebug("Another runner has this machine id; taking another")
      return own?.lease.machine ?? 0
    })

  /** Marks of runners that are gone for good. */
  const forgetMarks = Effect.gen(function* () {
    const marks = yield* shards.keys(`${unhealthy}.*`)
    if (marks.length === 0) return
    const alive = new Set((yield* liveLeases).map(({ address }) => markOf(address)))
    yield* Effect.forEach(marks, (mark) => (alive.has(mark) ? Effect.void : shards.delete(mark)), { discard: true })
  })

  const getRunners = Effect.gen(function* () {
    const marks = new Set(yield* shards.keys(`${unhealthy}.*`))
    return (yield* liveLeases)
      .filter(({ registered }) => registered)
      .map(({ address, runner }) => [runner, !marks.has(markOf(address))] as const)
  })

  const take = (shardId: string, epoch: string, expected: number): Effect.Effect<boolean, NatsError> => {
    const key = keyOf(shardId)
    return shards.update(key, `${own?.key ?? ""}#${epoch}`, expected).pipe(
      Effect.map((revision) => {
        if (own?.lease.epoch === epoch) keep(shardId, revision)
        return true
      }),
      Effect.catchIf(
        (error) => error.reason === "conflict",
        () => Effect.succeed(false)
      )
    )
  }

  const acquire = Effect.fnUntraced(function* (address: string, shardIds: ReadonlyArray<string>) {
    if (own === undefined || own.lease.address !== address) return []
    const { epoch } = own.lease
    const pipelined = { concurrency: 128 } as const
    // First what nobody ever had; what that does not get is looked at.
    const unknown = shardIds.filter((id) => !held.has(id))
    const rest: Array<string> = []
    yield* Effect.forEach(
      unknown,
      (id) => Effect.map(take(id, epoch, 0), (taken) => (taken ? undefined : rest.push(id))),
      pipelined
    )
    if (rest.length > 0) {
      const found = yield* Effect.forEach(
        rest,
        (id) => Effect.map(shards.last(keyOf(id)), (entry) => [id, entry] as const),
        pipelined
      )
      // Read after the holders: an epoch that is not among them is over, not yet to come.
      const alive = new Set((yield* liveLeases).map((lease) => lease.epoch))
      yield* Effect.forEach(
        found,
        ([id, entry]) => {
          const holder = entry?.value?.split("#")[1]
          if (entry !== undefined && holder === epoch) return Effect.sync(() => keep(id, entry.revision))
          return holder !== undefined && alive.has(holder) ? Effect.void : take(id, epoch, entry?.revision ?? 0)
        },
        { ...pipelined, discard: true }
      )
    }
    // It may have ended meanwhile, and then these are nobody's.
    return own?.lease.epoch === epoch && isFresh(trustMillis) ? shardIds.filter((id) => held.has(id)) : []
  })

  const refresh = Effect.fnUntraced(function* (address: string, shardIds: ReadonlyArray<string>) {
    if (own === undefined || own.lease.address !== address) return []
    // Asked once per reply that is stored: a lease that was just written answers for one shard.
    const isJustWritten = shardIds.length === 1 && isFresh(leaseMillis / 9)
    if (!isJustWritten && !(yield* writeLease(own, own.lease))) return []
    const now = performance.now()
    for (const id of shardIds) {
      const shard = held.get(id)
      if (shard !== undefined) shard.wantedAt = now
    }
    const kept = shardIds.filter((id) => held.has(id))
    // Taken by an `acquire` that the cluster did not wait for: nobody would ever give them up.
    const unwanted = [...held].filter(([, { wantedAt }]) => wantedAt < now - leaseMillis)
    yield* Effect.forEach(unwanted, ([id]) => release(id), { discard: true })
    return kept
  })

  const release = (shardId: string): Effect.Effect<void, NatsError> =>
    Effect.suspend(() => {
      const shard = held.get(shardId)
      if (shard === undefined) return Effect.void
      return shards.delete(keyOf(shardId), shard.revision).pipe(
        // A delete that was not answered, or somebody else's since the lease ended: either way it is not ours.
        Effect.catchIf(
          (error) => error.reason === "conflict",
          () => Effect.void
        ),
        Effect.tap(Effect.sync(() => held.delete(shardId)))
      )
    })

  const releaseAll = Effect.gen(function* () {
    yield* Effect.forEach([...held.keys()], release, { concurrency: 128, discard: true })
    if (own === undefined || own.lease.registered) return
    const { key, revision } = own
    lose()
    yield* Effect.catchIf(
      leases.delete(key, revision),
      (error) => error.reason === "conflict",
      () => Effect.void
    )
  })

  const exclusively = <A>(effect: Effect.Effect<A, NatsError>) => refail(steady(writing.withPermits(1)(effect)))
  const storage = RunnerStorage.makeEncoded({
    getRunners: Effect.map(refail(steady(getRunners)), (runners) => [...runners]),
    register: (address, runner) =>
      Effect.tap(
        exclusively(Effect.suspend(() => register(address, runner))),
        Effect.ignore(Effect.andThen(shards.delete(markOf(address)), forgetMarks))
      ),
    unregister: (address) =>
      exclusively(
        Effect.suspend(() =>
          own === undefined || own.lease.address !== address
            ? Effect.void
            : Effect.asVoid(writeLease(own, { ...own.lease, registered: false }))
        )
      ).pipe(Effect.timeoutOption(partWithin), Effect.asVoid),
    // In a bucket without times: whoever judges a runner must not prolong its lease.
    setRunnerHealth: (address, healthy) =>
      refail(
        steady(healthy ? shards.delete(markOf(address)) : Effect.asVoid(shards.put(markOf(address), "unhealthy")))
      ),
    acquire: (address, shardIds) => Effect.map(refail(steady(acquire(address, shardIds))), (ids) => [...ids]),
    refresh: (address, shardIds) => exclusively(Effect.suspend(() => refresh(address, shardIds))),
    release: (_address, shardId) => refail(steady(release(shardId))),
    releaseAll: () => exclusively(releaseAll).pipe(Effect.timeoutOption(partWithin), Effect.asVoid)
  })
  const lease = NatsRunnerLease.of({
    epoch: Effect.sync(() => own?.lease.epoch),
    fence: (shardId) => Effect.sync(() => (isFresh(leaseMillis) ? held.get(shardId)?.revision : undefined)),
    alive: Effect.map(liveLeases, (found) => found.map(({ address }) => address))
  })
  return Context.make(RunnerStorage.RunnerStorage, storage).pipe(Context.add(NatsRunnerLease, lease))
})

/** One service per process: it holds the lease of the one runner of this process, or only reads, in a process that is none. */
export const layer = Layer.effectContext(make)

const refail = ClusterError.PersistenceError.refail

const keyOf = (shardId: string): string => `shard.${shardId.split(":").map(token).join(".")}`

const unhealthy = "unhealthy"
const markOf = (address: string): string => `${unhealthy}.${token(address)}`

const machines = 1024
const freeMachine = (taken: ReadonlyArray<number>): number => {
  const used = new Set(taken)
  const first = Math.floor(Math.random() * machines)
  for (let step = 0; step < machines; step++) {
    const machine = (first + step) % machines
    if (!used.has(machine)) return machine
  }
  return first
}
