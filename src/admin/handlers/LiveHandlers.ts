/** Streams changes of reviews, of the queue and of deliveries. The viewers of a node share its reads of the stores. */
import { Clock, Effect, Schedule, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Queue } from "../../queue/Queue.ts"
import { Receipts } from "../../store/Receipts.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import type { ChangeRecord } from "../api/LiveGroup.ts"
import { liveEvents } from "../views/LiveRuns.ts"
import { makeSessionStreams } from "../sessions/SessionStreams.ts"
import { toTime } from "../views/Views.ts"

/** Interval between the reads of a node, and between the checks of one viewer. */
const readInterval = "1 second"

const readQueue = Effect.gen(function* () {
  const { byStatus, oldestWaiting } = yield* (yield* Queue).stats
  const at = toTime(yield* Clock.currentTimeMillis)
  const oldest = oldestWaiting === undefined ? null : toTime(oldestWaiting)
  return [{ type: "queue" as const, at, by_status: byStatus, oldest_waiting_at: oldest }]
})

const readDeliveries = Effect.gen(function* () {
  const [newest] = yield* (yield* Receipts).list({ limit: 1 })
  const at = toTime(yield* Clock.currentTimeMillis)
  return newest === undefined ? [] : [{ type: "deliveries" as const, at, newest: newest.id }]
})

/** Returns a change without its time, as text. */
const contentOf = (change: ChangeRecord): string => JSON.stringify({ ...change, at: undefined })

/** Reads repeatedly, and returns what differs from the previous read. A failed read is skipped: the next one finds the change. */
const changes = <E, R>(read: Effect.Effect<ReadonlyArray<ChangeRecord>, E, R>) =>
  Stream.fromSchedule(Schedule.spaced(readInterval)).pipe(
    Stream.merge(Stream.succeed(0)),
    Stream.mapEffect(() => Effect.orElseSucceed(read, (): ReadonlyArray<ChangeRecord> => [])),
    Stream.flatMap(Stream.fromIterable),
    Stream.changesWith((one, other) => contentOf(one) === contentOf(other))
  )

export const layer = HttpApiBuilder.group(
  AdminHttpApi,
  "live",
  Effect.fnUntraced(function* (handlers) {
    const services = yield* Effect.context<Queue | Receipts>()
    const queue = yield* Effect.cachedWithTTL(readQueue, readInterval)
    const deliveries = yield* Effect.cachedWithTTL(readDeliveries, readInterval)
    const open = yield* makeSessionStreams
    const follow = Effect.gen(function* () {
      const events = yield* liveEvents
      const stream = Stream.merge(
        Stream.merge(changes(queue), changes(deliveries)).pipe(Stream.provideContext(services)),
        events,
        {
          haltStrategy: "right"
        }
      )
      return yield* open(stream)
    })
    return handlers.handle("follow", () => follow)
  })
)
