/**
 * Stores membership and shard locks of the cluster in two buckets: `leases`, one key per runner, which expires 9 s after its last refresh
 * (RunnerLease.ts), and `shards`, one key per shard, held under the epoch of a lease (ShardLocks.ts).
 *
 * Reads go to the leader of the stream and see one moment: a live runner is never missing from a list, however fast it refreshes. The list
 * of runners is wanted every second; it is read when messages show that it may have changed, or no refresh of a lease (`watchValues`).
 *
 * A runner leaves in two steps: `unregister` only removes it from the list (its actors and shards continue); `releaseAll` releases the
 * shards and then the lease.
 */
import { Context, Effect, Latch, Layer, Schedule, Semaphore } from "effect"
import { ClusterError, RunnerStorage } from "effect/cluster"
import { makeBucket } from "./NatsBucket.ts"
import { NatsConnection } from "./NatsConnection.ts"
import type { NatsError } from "./NatsError.ts"
import { leaseMillis, streams, bucketSubject } from "./NatsStreams.ts"
import { Holdings, evictRunners, liveLeases, readLeases, registerRunner, unregisterRunner } from "./RunnerLease.ts"
import { acquireShards, refreshShards, releaseEverything, releaseShard } from "./ShardLocks.ts"
import type { Locks } from "./ShardLocks.ts"
import type { NatsBucket } from "./NatsBucket.ts"
import { token } from "./NatsSubjects.ts"
import type { Scope } from "effect"
import type { StreamPlan } from "./NatsStreams.ts"

interface KnownValue {
  /** Undefined: the key was deleted. */
  readonly value: string | undefined
}

/** Milliseconds for which nothing is read while the messages show no change. */
const restMillis = 30_000

/** Time in which the messages about a bucket show no change of it. */
class Rest {
  readonly #writtenWithin: number
  /** Times of the last messages, by key. */
  readonly #writtenAt = new Map<string, number>()
  #until = Number.NEGATIVE_INFINITY
  readonly #ended = Latch.makeUnsafe(true)
  /** Waits until a message shows a change. */
  readonly ended: Effect.Effect<void> = this.#ended.await

  constructor(writtenWithin: number) {
    this.#writtenWithin = writtenWithin
  }

  begin(): void {
    this.#until = performance.now() + restMillis
    this.#ended.closeUnsafe()
  }

  end(): void {
    this.#until = Number.NEGATIVE_INFINITY
    this.#ended.openUnsafe()
  }

  noteWrite(key: string): void {
    this.#writtenAt.set(key, performance.now())
  }

  /** Forgets the writes of other keys. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#writtenAt.keys()) if (!keys.has(key)) this.#writtenAt.delete(key)
  }

  /** Returns whether these are the keys of the bucket, and none may have expired. */
  covers(listed: ReadonlyArray<{ readonly key: string }>): boolean {
    const now = performance.now()
    const isWritten = ({ key }: { readonly key: string }): boolean =>
      this.#writtenWithin === Number.POSITIVE_INFINITY ||
      now - (this.#writtenAt.get(key) ?? Number.NEGATIVE_INFINITY) < this.#writtenWithin
    return now < this.#until && listed.every(isWritten)
  }
}

/**
 * Reads a bucket repeatedly at low cost. Which keys exist is read from the stream's leader, in one request. A value is read once,
 * and again after a message about its key with another value. Such a message only shows that the value may have changed: the stream may
 * have refused it. Nothing is read while the messages show no change, for at most thirty seconds.
 *
 * `writtenWithin`: milliseconds within which each key is written again before it expires. Once one is late, each call reads until it is
 * written or gone.
 *
 * `read` returns the keys that fit the filter, with their values: the same list as long as nothing was read. `changed` waits until a message
 * shows a change of what was read.
 */
export const watchValues = Effect.fnUntraced(function* (
  bucket: Pick<NatsBucket, "last" | "subjects">,
  plan: StreamPlan,
  filter: string,
  writtenWithin = Number.POSITIVE_INFINITY
): Effect.fn.Return<
  {
    readonly read: Effect.Effect<ReadonlyArray<{ readonly key: string; readonly value: string }>, NatsError>
    readonly changed: Effect.Effect<void>
  },
  never,
  NatsConnection | Scope.Scope
> {
  const { onStatus, prefix, raw } = yield* NatsConnection
  const base = bucketSubject(prefix, plan)
  const known = new Map<string, KnownValue>()
  /** Keys about which a message arrived since the last read began. */
  const changed = new Set<string>()
  const rest = new Rest(writtenWithin)
  let last: ReadonlyArray<{ readonly key: string; readonly value: string }> = []
  const forget = (key: string): void => {
    known.delete(key)
    changed.add(key)
    rest.end()
  }
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      raw.subscribe(`${base}.${filter}`, {
        callback: (_, message) => {
          const key = message.subject.slice(base.length + 1)
          rest.noteWrite(key)
          const isSame = message.headers?.has("KV-Operation") !== true && known.get(key)?.value === message.string()
          if (!isSame) forget(key)
        }
      })
    ),
    (subscription) => Effect.sync(() => subscription.unsubscribe())
  )
  // Messages may be missing that were sent while the connection was interrupted.
  yield* onStatus(() => {
    for (const key of known.keys()) forget(key)
    rest.end()
  })
  const readValue = Effect.fnUntraced(function* (key: string) {
    const found = yield* bucket.last(key)
    if (!changed.has(key)) known.set(key, { value: found?.value })
    return found?.value
  })
  const read = Effect.gen(function* () {
    if (rest.covers(last)) return last
    changed.clear()
    rest.begin()
    const keys = yield* bucket.subjects(filter)
    const values = yield* Effect.forEach(
      keys,
      (key) => {
        const existing = known.get(key)
        return existing === undefined ? readValue(key) : Effect.succeed(existing.value)
      },
      { concurrency: "unbounded" }
    )
    const existing = new Set(keys)
    for (const key of known.keys()) if (!existing.has(key)) known.delete(key)
    rest.keep(existing)
    last = keys.flatMap((key, at) => {
      const value = values[at]
      return value === undefined ? [] : [{ key, value }]
    })
    return last
  }).pipe(Effect.onError(() => Effect.sync(() => rest.end())))
  return { read, changed: rest.ended }
})

/**
 * Marks runners that others consider unhealthy, in the bucket `shards`, which has no TTL: writing a mark must not extend the runner's
 * lease.
 */

const unhealthy = "unhealthy"
const markOf = (address: string): string => `${unhealthy}.${token(address)}`

const setHealth = Effect.fnUntraced(function* (shards: NatsBucket, address: string, isHealthy: boolean) {
  const mark = markOf(address)
  if (!isHealthy) yield* shards.put(mark, unhealthy)
  // A deletion stays in the bucket.
  else if ((yield* shards.get(mark)) !== undefined) yield* shards.delete(mark)
})

/** Deletes the marks of runners that no longer exist. */
const deleteMarks = Effect.fnUntraced(function* ({ leases, shards }: Pick<Locks, "leases" | "shards">) {
  const marks = yield* shards.keys(`${unhealthy}.*`)
  if (marks.length === 0) return
  const alive = new Set((yield* liveLeases(leases)).map(({ address }) => markOf(address)))
  yield* Effect.forEach(marks, (mark) => (alive.has(mark) ? Effect.void : shards.delete(mark)), { discard: true })
})

/** Milliseconds within which a live runner refreshes its lease, with a margin. */
const refreshedWithin = leaseMillis / 3 + 500

/** Milliseconds for which a list that is requested again without any change is held back. The engine of the cluster gives up after five seconds. */
const heldMillis = 2500

type Runners = Array<[runner: string, isHealthy: boolean]>

/**
 * Returns the read of the registered runners and their health. The engine of the cluster requests it a second after each response: one that
 * would be the same as before is held back until a message shows a change, or for some seconds.
 */
const watchRunners = Effect.fnUntraced(function* ({ leases, shards }: Pick<Locks, "leases" | "shards">) {
  const live = yield* watchValues(leases, streams.leases, ">", refreshedWithin)
  const marked = yield* watchValues(shards, streams.shards, `${unhealthy}.*`)
  const readBoth = Effect.all([live.read, marked.read])
  const toRunners = ([values, keys]: Effect.Success<typeof readBoth>): Runners => {
    const marks = new Set(keys.map(({ key }) => key))
    return readLeases(values)
      .filter(({ registered }) => registered)
      .map(({ address, runner }) => [runner, !marks.has(markOf(address))])
  }
  const changed = Effect.raceFirst(live.changed, marked.changed)
  let last: Effect.Success<typeof readBoth> | undefined
  let runners: Runners = []
  const isSame = (now: Effect.Success<typeof readBoth>): boolean => last?.[0] === now[0] && last[1] === now[1]
  return Effect.gen(function* () {
    let now = yield* readBoth
    if (isSame(now)) {
      yield* Effect.raceFirst(changed, Effect.sleep(heldMillis))
      now = yield* readBoth
    }
    if (!isSame(now)) runners = toRunners(now)
    last = now
    return runners
  })
})

/** Exposes the lease of this process's runner. */
export class NatsRunnerLease extends Context.Service<
  NatsRunnerLease,
  {
    /** The epoch of the lease, which is never reused; undefined without a lease. */
    readonly epoch: Effect.Effect<string | undefined>
    /**
     * Returns the fencing token of a shard (`group:number`) that this runner holds: higher than that of every earlier holder, so that a
     * store can reject writes of a runner that was frozen. Undefined if the shard is not held, or the lease may have expired by this
     * runner's clock.
     */
    readonly fence: (shardId: string) => Effect.Effect<number | undefined>
    /** False while the lease may have expired: the actors of this runner are stopped. */
    readonly isHeld: Effect.Effect<boolean>
    /** Milliseconds since the last confirmed write of the lease, or since the start without one. */
    readonly millisWithout: Effect.Effect<number>
    /** Ends the leases of other runners, so that their shards move immediately. Only for runners whose process has ended. */
    readonly evict: (hasEnded: (address: string) => boolean) => Effect.Effect<void, NatsError>
    /** Addresses of the runners with a live lease. */
    readonly alive: Effect.Effect<ReadonlyArray<string>, NatsError>
  }
>()("aicr/nats/NatsRunnerLease") {}

/** Timeout on shutdown. If the server is unavailable the lease expires later. */
const leaveTimeout = "1500 millis"

/** Retries while the server is unavailable. The cluster's timeouts end it. */
const steadyOver =
  (connection: NatsConnection["Service"]) =>
  <A>(effect: Effect.Effect<A, NatsError>): Effect.Effect<A, NatsError> =>
    Effect.flatMap(connection.status, ({ connected }) => (connected ? Effect.void : connection.reconnected)).pipe(
      Effect.andThen(effect),
      Effect.retry({ while: (error) => error.reason === "unavailable", schedule: Schedule.spaced("100 millis") })
    )

const makeStorage = (
  connection: NatsConnection["Service"],
  locks: Locks,
  listRunners: Effect.Effect<Array<[runner: string, isHealthy: boolean]>, NatsError>
) => {
  const { leases, shards, holdings } = locks
  const writing = Semaphore.makeUnsafe(1)
  const steady = steadyOver(connection)
  const attempt = <A>(effect: Effect.Effect<A, NatsError>) => ClusterError.PersistenceError.refail(steady(effect))
  const exclusively = <A>(effect: Effect.Effect<A, NatsError>) => attempt(writing.withPermits(1)(effect))
  return RunnerStorage.makeEncoded({
    getRunners: attempt(listRunners),
    register: (address, runner) =>
      Effect.tap(
        exclusively(registerRunner(leases, holdings, address, runner)),
        Effect.ignore(Effect.andThen(setHealth(shards, address, true), deleteMarks(locks)))
      ),
    unregister: (address) =>
      exclusively(unregisterRunner(leases, holdings, address)).pipe(Effect.timeoutOption(leaveTimeout), Effect.asVoid),
    setRunnerHealth: (address, isHealthy) => attempt(setHealth(shards, address, isHealthy)),
    acquire: (address, shardIds) => Effect.map(attempt(acquireShards(locks, address, shardIds)), (ids) => [...ids]),
    refresh: (address, shardIds) => exclusively(refreshShards(locks, address, shardIds)),
    release: (_address, shardId) => attempt(releaseShard(locks, shardId)),
    releaseAll: () => exclusively(releaseEverything(locks)).pipe(Effect.timeoutOption(leaveTimeout), Effect.asVoid)
  })
}

const make = Effect.gen(function* () {
  const connection = yield* NatsConnection
  const leases = yield* makeBucket(streams.leases)
  const shards = yield* makeBucket(streams.shards)
  const holdings = new Holdings()
  const lease = NatsRunnerLease.of({
    epoch: Effect.sync(() => holdings.own?.lease.epoch),
    fence: (shardId) =>
      Effect.sync(() => (holdings.isFresh(leaseMillis) ? holdings.shards.get(shardId)?.revision : undefined)),
    isHeld: Effect.sync(() => holdings.isFresh(leaseMillis)),
    millisWithout: Effect.sync(() => performance.now() - holdings.confirmedAt),
    evict: (hasEnded) => evictRunners(leases, hasEnded),
    alive: Effect.map(liveLeases(leases), (live) => live.map(({ address }) => address))
  })
  const listRunners = yield* watchRunners({ leases, shards })
  const storage = makeStorage(connection, { leases, shards, holdings }, listRunners)
  return Context.make(RunnerStorage.RunnerStorage, storage).pipe(Context.add(NatsRunnerLease, lease))
})

/** One service per process, which holds the lease of the process's runner. In a process without a runner it only reads. */
export const layer = Layer.effectContext(make)
