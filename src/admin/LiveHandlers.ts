/**
 * Streams changes of reviews, of the queue and of deliveries. The viewers of a node share its reads of the stores. A stream ends with its session, so that
 * a logout of all sessions holds for open pages too.
 */
import { Clock, Effect, Redacted, Schedule, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ConfigStore } from "../config/ConfigStore.ts"
import { Queue } from "../queue/Queue.ts"
import { AdminSessions } from "../store/AdminSessions.ts"
import { Receipts } from "../store/Receipts.ts"
import { readAdminCredentials } from "./AdminCredentials.ts"
import { AdminHttpApi } from "./api/AdminHttpApi.ts"
import type { ChangeRecord } from "./api/LiveGroup.ts"
import { CurrentUser } from "./api/Rules.ts"
import { liveEvents } from "./LiveRuns.ts"
import { findSession } from "./Sessions.ts"
import { toTime } from "./Views.ts"

/** Interval between the reads of a node, and between the checks of one viewer. */
const readInterval = "1 second"

/** Interval between the checks of a viewer's session. */
const sessionInterval = "2 seconds"

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

/** Returns whether the session has not ended. While the sessions cannot be read, it has not. */
const isOpen = (token: string) =>
  Effect.gen(function* () {
    const credentials = readAdminCredentials((yield* ConfigStore).current())
    return credentials !== undefined && (yield* findSession(token, credentials)) !== undefined
  }).pipe(Effect.orElseSucceed(() => true))

/** Completes once the session of the viewer has ended. Callers of the local socket have none. */
const sessionEnd = Effect.gen(function* () {
  const { token } = yield* CurrentUser
  if (token === undefined) return yield* Effect.never
  return yield* Effect.repeat(isOpen(Redacted.value(token)), {
    while: (open) => open,
    schedule: Schedule.spaced(sessionInterval)
  })
})

export const layer = HttpApiBuilder.group(
  AdminHttpApi,
  "live",
  Effect.fnUntraced(function* (handlers) {
    const services = yield* Effect.context<AdminSessions | ConfigStore | Queue | Receipts>()
    const queue = yield* Effect.cachedWithTTL(readQueue, readInterval)
    const deliveries = yield* Effect.cachedWithTTL(readDeliveries, readInterval)
    const follow = Effect.gen(function* () {
      const user = yield* CurrentUser
      const events = yield* liveEvents
      const ended = sessionEnd.pipe(Effect.provideService(CurrentUser, user), Effect.provideContext(services))
      return Stream.merge(
        Stream.merge(changes(queue), changes(deliveries)).pipe(Stream.provideContext(services)),
        events,
        {
          haltStrategy: "right"
        }
      ).pipe(Stream.haltWhen(ended))
    })
    return handlers.handle("follow", () => follow)
  })
)
