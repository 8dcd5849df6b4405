/**
 * Determines lost processes in two ways.
 *
 * A process has ended (`gone`) if its connection to the bus is closed and its heartbeat in the records has stopped for some seconds. One of
 * the two is not enough: a process may be cut off from either server, and a busy one may be late with its heartbeat.
 *
 * A process that does not end but freezes is lost if it is not on the list of nodes although this connection to the bus has been stable for
 * longer than the lifetime of a record. While the bus is disconnected, and for a while after a reconnect, no process is reported as lost. A
 * new process may not be on the list yet; its owner contains its start time.
 */
import { Clock, Effect, Latch, Layer } from "effect"
import { NatsConnection } from "../../../nats/NatsConnection.ts"
import { NatsNodes } from "../../../nats/NatsNodes.ts"
import { leaseMillis } from "../../../nats/NatsStreams.ts"
import { parseIdTime } from "../../domain/Ids.ts"
import { LiveNodes } from "../../domain/LiveNodes.ts"
import { NodeIdentity } from "../../domain/NodeIdentity.ts"
import { Heartbeats } from "../../store/Heartbeats.ts"

/** Milliseconds from the start of a process to its first record. */
const startGrace = 20_000

const beatInterval = "2 seconds"
/** Age at which a heartbeat is late. It is read more often then. */
const lateMillis = 2500
const lateInterval = "1 second"
/** Age at which a heartbeat has stopped. */
const stoppedMillis = 3500
/** Age up to which what this process read counts, and time for which it must have reached both servers before it reports an end. */
const settledMillis = 3000

interface LiveNodesOptions {
  /** Time for which the connection to the bus must have been stable, for processes that froze. */
  readonly steadyMillis: number
}

/** Monotonic time in milliseconds. */
const stopwatch = Clock.clockWith((clock) =>
  Effect.succeed((): number => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n))
)

/** Beats, and keeps the owners that have ended and those with a recent heartbeat. */
const watchHeartbeats = Effect.fnUntraced(function* (own: string) {
  const connection = yield* NatsConnection
  const nodes = yield* NatsNodes
  const heartbeats = yield* Heartbeats
  const elapsed = yield* stopwatch
  const gone = new Set<string>()
  let grown = Latch.makeUnsafe()
  const addGone = (owner: string): void => {
    gone.add(owner)
    const latch = grown
    grown = Latch.makeUnsafe()
    latch.openUnsafe()
  }
  const goneBeyond = (count: number): Effect.Effect<void> =>
    Effect.suspend(() => (gone.size > count ? Effect.void : Effect.andThen(grown.await, goneBeyond(count))))
  let recent = new Set<string>()
  let beatAt = -Infinity
  let isLate = false
  /** Start of the time in which this process has reached both servers without a gap. */
  let steadySince = elapsed()
  yield* connection.onStatus(() => {
    steadySince = elapsed()
  })
  const beat = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const others = yield* heartbeats.beat(own, now)
    const at = elapsed()
    if (at - beatAt > settledMillis) steadySince = at
    beatAt = at
    const late = others.filter(({ owner, seenAt }) => seenAt < now - lateMillis && !gone.has(owner))
    const stopped = late.filter(({ seenAt }) => seenAt < now - stoppedMillis)
    isLate = late.length > 0
    recent = new Set(others.filter(({ seenAt }) => seenAt >= now - stoppedMillis).map(({ owner }) => owner))
    const { connected } = yield* connection.status
    if (!connected || at - steadySince < settledMillis) return
    const check = ({ owner }: { readonly owner: string }) =>
      Effect.map(nodes.isConnected(owner), (isConnected) => (isConnected ? undefined : addGone(owner)))
    yield* Effect.forEach(stopped, check, { concurrency: 16, discard: true })
  }).pipe(Effect.catch((error) => Effect.logDebug("heartbeat not recorded", { error: error.message })))
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(heartbeats.remove(own), "1 second")))
  yield* beat
  const pause = Effect.suspend(() => Effect.sleep(isLate ? lateInterval : beatInterval))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(pause, beat)))
  return {
    gone,
    goneBeyond,
    isRecent: (owner: string): boolean => elapsed() - beatAt < settledMillis && recent.has(owner)
  }
})

export const layerWith = ({ steadyMillis }: LiveNodesOptions) =>
  Layer.effect(
    LiveNodes,
    Effect.gen(function* () {
      const connection = yield* NatsConnection
      const nodes = yield* NatsNodes
      const { owner: own } = yield* NodeIdentity
      const elapsed = yield* stopwatch
      const { gone, goneBeyond, isRecent } = yield* watchHeartbeats(own)
      let steadySince = elapsed()
      yield* connection.onStatus(() => {
        steadySince = elapsed()
      })
      const hasEnded = (owner: string): boolean => gone.has(owner)
      return LiveNodes.of({
        gone: Effect.sync(() => new Set(gone)),
        goneBeyond,
        lost: Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const listed = yield* Effect.result(nodes.list)
          if (listed._tag === "Failure" || elapsed() - steadySince < steadyMillis) return hasEnded
          const alive = new Set(listed.success.map(({ more }) => more["owner"]))
          return (owner: string) => {
            if (owner === own || hasEnded(owner)) return owner !== own
            const startedAt = parseIdTime(owner.slice(owner.lastIndexOf("/") + 1))
            const isListed = alive.has(owner) || isRecent(owner)
            return !isListed && startedAt !== undefined && startedAt + startGrace < now
          }
        })
      })
    })
  )

/** Waits longer than the lifetime of a record. */
export const layer = layerWith({ steadyMillis: leaseMillis * 1.5 })
