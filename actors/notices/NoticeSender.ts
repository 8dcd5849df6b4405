/**
 * Sends notices to operators, one sender in the cluster. A notice is `sending` from right before its request; the sender that starts after a
 * crash finds it there and does not send it again, unless the platform recognises a repeated message. Channels are served side by side, the
 * notices of one channel in order.
 */
import { Clock, Duration, Effect, Metric, Random, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { awaitSnapshot } from "../../src/config/AwaitSnapshot.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import type { Notice } from "../../src/domain/Notice.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import type { HostTraffic } from "../../src/forge/HostTraffic.ts"
import type { WritePermits } from "../../src/forge/WritePermits.ts"
import { WriteOwner } from "../../src/forge/WriteOwner.ts"
import { logFailure } from "../../src/observability/LimitedWarnings.ts"
import { notices as noticeCount } from "../../src/observability/Metrics.ts"
import { hasNoticeRoutes } from "../../src/outputs/PlanNotices.ts"
import { prepareNotice } from "../../src/outputs/SendNotice.ts"
import type { PreparedNotice } from "../../src/outputs/SendNotice.ts"
import type { ChatSends } from "../../src/store/ChatSends.ts"
import { Notices } from "../../src/store/Notices.ts"
import type { NoticeUpdate } from "../../src/store/Notices.ts"
import { countStart } from "../ActorStarts.ts"
import { afterNoticeFailure, nextNoticeStep } from "./NoticeStep.ts"
import type { ShardGroup } from "../Placement.ts"

const pollInterval = Duration.seconds(1)
/** Pause after the loss of the ownership, before it is taken over. */
const lostPause = Duration.seconds(10)
/** Time in which other nodes may still store notices after the last route was removed. */
const settleMillis = Duration.toMillis("1 minute")
const page = 200
const maxChannels = 8
const hourMillis = Duration.toMillis("1 hour")

const unavailable = (why: Reason) => new ForgeError({ reason: "unavailable", operation: "notice", why })
const storeFailed = ({ why }: StoreError) => unavailable(why)
const takenOver = Effect.fail(unavailable({ _tag: "OtherNodeNotifies" }))

/** Records the result of a request. The message exists, so that a store that does not respond is called several times. */
const record = Effect.fnUntraced(function* (
  { channel, facts, id }: Notice,
  from: Notice["status"],
  update: NoticeUpdate,
  token: number
) {
  const notices = yield* Notices
  const moved = yield* Effect.flatMap(Clock.currentTimeMillis, (now) =>
    notices.move(id, from, update, token, now)
  ).pipe(Effect.retry({ times: 3 }))
  if (!moved || update.status === "sending") return moved
  const kind = facts._tag
  if (update.status !== "pending")
    yield* Metric.update(Metric.withAttributes(noticeCount, { kind, channel, outcome: update.status }), 1)
  const fields = { notice_id: id, kind, channel, status: update.status, reason: update.error }
  yield* update.status === "sent" ? Effect.logInfo("notice sent", fields) : Effect.logWarning("notice not sent", fields)
  return moved
})

const send = Effect.fnUntraced(function* (notice: Notice, prepared: PreparedNotice, token: number) {
  const notices = yield* Notices
  let isBegun = false
  const begin = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    notices.move(notice.id, "pending", { status: "sending" }, token, now)
  ).pipe(
    Effect.mapError(storeFailed),
    Effect.flatMap((moved) => {
      isBegun = moved
      return moved ? Effect.void : takenOver
    })
  )
  const check = notices.isSender(token).pipe(
    Effect.mapError(storeFailed),
    Effect.flatMap((isSender) => (isSender ? Effect.void : takenOver))
  )
  const result = yield* prepared.send.pipe(
    Effect.provideService(WriteOwner, { fence: Effect.suspend(() => (isBegun ? check : begin)), guard: Effect.void }),
    Effect.result
  )
  const [now, random] = [yield* Clock.currentTimeMillis, yield* Random.next]
  const update: NoticeUpdate =
    result._tag === "Success"
      ? { status: "sent" }
      : afterNoticeFailure(notice, { error: result.failure, isBegun, keyMillis: prepared.keyMillis }, now, random)
  yield* record(notice, isBegun ? "sending" : "pending", update, token)
  return update.notBefore
})

/** Returns the time until which the platform refuses messages, if it does. */
const handle = Effect.fnUntraced(function* (
  notice: Notice,
  token: number
): Effect.fn.Return<number | undefined, StoreError, ChatSends | ConfigStore | HostTraffic | Notices | WritePermits> {
  const notices = yield* Notices
  const snapshot = (yield* ConfigStore).current()
  const now = yield* Clock.currentTimeMillis
  const prepared = yield* Effect.result(prepareNotice(snapshot, notice))
  if (prepared._tag === "Failure" && notice.status === "pending") {
    const failure = { error: prepared.failure, isBegun: false, keyMillis: 0 }
    yield* record(notice, "pending", afterNoticeFailure(notice, failure, now, 0), token)
    return undefined
  }
  const sent = yield* notices.sentSince(notice.channel, now - hourMillis)
  const keyMillis = prepared._tag === "Success" ? prepared.success.keyMillis : 0
  const step = nextNoticeStep(notice, keyMillis, sent, now)
  if (step._tag === "Record") {
    yield* record(notice, notice.status, step.update, token)
    return undefined
  }
  if (step._tag === "Wait") {
    const update = {
      status: "pending",
      notBefore: step.until,
      error: { _tag: "HourlyMessagesSent" }
    } as const
    yield* notices.move(notice.id, "pending", update, token, now)
    return undefined
  }
  return prepared._tag === "Success" ? yield* send(notice, prepared.success, token) : undefined
})

const sendOfChannel = Effect.fnUntraced(function* (
  pauses: Map<string, number>,
  ofChannel: ReadonlyArray<Notice>,
  token: number
) {
  for (const notice of ofChannel) {
    if ((pauses.get(notice.channel) ?? 0) > (yield* Clock.currentTimeMillis)) return
    const until = yield* handle(notice, token)
    if (until === undefined) pauses.delete(notice.channel)
    else pauses.set(notice.channel, until)
  }
})

/**
 * Sends what is due. `pauses`: times until which channels get nothing, because their platform refused a message temporarily; all its notices
 * would be refused, and platforms block applications for that.
 */
export const sendDue = Effect.fnUntraced(function* (token: number, pauses: Map<string, number>) {
  const open = yield* (yield* Notices).open(yield* Clock.currentTimeMillis, page)
  yield* Effect.forEach(
    Map.groupBy(open, ({ channel }) => channel).values(),
    (ofChannel) => sendOfChannel(pauses, ofChannel, token),
    { concurrency: maxChannels, discard: true }
  )
})

const logAndContinue = Effect.catch(logFailure("notices not sent, retry scheduled", {}, { level: "Error" }))

const hasRoutes = ConfigStore.useSync((config) => hasNoticeRoutes(config.current()))

/** Waits until there is a route, unless unsent notices exist. Until then only the configuration in memory is read. */
const awaitWork = Effect.gen(function* () {
  if ((yield* hasRoutes) || (yield* (yield* Notices).hasOpen)) return
  yield* awaitSnapshot(hasNoticeRoutes)
})

/** Sends until another node takes over. */
const sendWhileOwner = Effect.gen(function* () {
  const notices = yield* Notices
  yield* awaitWork
  const token = yield* notices.takeOver
  const pauses = new Map<string, number>()
  let routedAt = yield* Clock.currentTimeMillis
  while (yield* notices.isSender(token)) {
    yield* logAndContinue(sendDue(token, pauses))
    yield* Effect.sleep(pollInterval)
    const now = yield* Clock.currentTimeMillis
    if (yield* hasRoutes) routedAt = now
    else if (now - routedAt >= settleMillis) yield* awaitWork
  }
})

/** Sends for as long as the node has this role. */
export const sendAlways = Effect.repeat(logAndContinue(sendWhileOwner), Schedule.spaced(lostPause))

const shardGroup: ShardGroup = "publisher"

export const layer = Singleton.make("NoticeSender", Effect.andThen(countStart("NoticeSender"), sendAlways), {
  shardGroup
})
