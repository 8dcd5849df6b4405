/** Decides what the sender does with a notice, from its row and the platform's response. Pure. */
import { Duration } from "effect"
import { backoffMillis } from "../../src/domain/Backoff.ts"
import type { Notice } from "../../src/domain/Notice.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import type { ChannelMissing } from "../../src/outputs/Outputs.ts"
import type { NoticeUpdate } from "../../src/store/Notices.ts"

export type NoticeStep =
  | { readonly _tag: "Send" }
  | { readonly _tag: "Wait"; readonly until: number }
  | { readonly _tag: "Record"; readonly update: NoticeUpdate }

/** Failures after which a notice is quarantined, after about two hours. */
export const maxNoticeAttempts = 20
/** Messages to one channel in an hour; more of them wait. */
export const maxPerHour = 60
const hourMillis = Duration.toMillis("1 hour")
/** Age at which an unsent notice is no longer of use. */
const maxAgeHours = 24
const maxAgeMillis = maxAgeHours * hourMillis
/** Margin before a platform no longer recognises a repeated message. */
const keyMarginMillis = Duration.toMillis("5 minutes")
const backoff = { kind: "exponential", base_ms: 5000, max_ms: Duration.toMillis("10 minutes"), jitter: true } as const

const lostResponse: Reason = { _tag: "NotSentTwice" }

/** Returns whether the platform shows a repeated message once. `keyMillis`: for how long after the creation it does. */
const recognisesRepetition = ({ createdAt }: Pick<Notice, "createdAt">, keyMillis: number, now: number): boolean =>
  now - createdAt < keyMillis - keyMarginMillis

/** Returns the update of a notice whose request may have reached the platform without a response. */
const afterLostResponse = (
  notice: Pick<Notice, "attempts" | "createdAt">,
  keyMillis: number,
  now: number,
  random: number
): NoticeUpdate => {
  if (!recognisesRepetition(notice, keyMillis, now)) return { status: "unconfirmed", error: lostResponse }
  if (notice.attempts + 1 >= maxNoticeAttempts) return { status: "quarantined", error: lostResponse, isAttempt: true }
  const notBefore = now + backoffMillis(backoff, notice.attempts + 1, random)
  return { status: "pending", error: { _tag: "NotConfirmed" }, notBefore, isAttempt: true }
}

/** `sent`: times of the messages of its channel within the last hour, oldest first. */
export const nextNoticeStep = (
  notice: Pick<Notice, "attempts" | "createdAt" | "status">,
  keyMillis: number,
  sent: ReadonlyArray<number>,
  now: number
): NoticeStep => {
  if (notice.status === "sending") return { _tag: "Record", update: afterLostResponse(notice, keyMillis, now, 0) }
  if (now - notice.createdAt > maxAgeMillis)
    return { _tag: "Record", update: { status: "dropped", error: { _tag: "NoticeTooOld", hours: maxAgeHours } } }
  const oldest = sent.at(-maxPerHour)
  return oldest === undefined ? { _tag: "Send" } : { _tag: "Wait", until: oldest + hourMillis }
}

const isFinal = ({ reason }: ForgeError): boolean =>
  reason === "unauthorized" ||
  reason === "forbidden" ||
  reason === "not_found" ||
  reason === "conflict" ||
  reason === "invalid"

interface NoticeFailure {
  readonly error: ForgeError | ChannelMissing
  /** True if the request may have reached the platform. */
  readonly isBegun: boolean
  readonly keyMillis: number
}

/** Returns the update of a notice that could not be sent. A limit of the platform counts as no failure. `random` is in [0, 1). */
export const afterNoticeFailure = (
  notice: Pick<Notice, "attempts" | "createdAt">,
  { error, isBegun, keyMillis }: NoticeFailure,
  now: number,
  random: number
): NoticeUpdate => {
  const { why } = error
  if (error._tag === "ChannelMissing" || isFinal(error)) return { status: "failed", error: why }
  if (isBegun && error.reason === "unknown_outcome") return afterLostResponse(notice, keyMillis, now, random)
  const isAttempt = error.reason !== "rate_limited"
  if (isAttempt && notice.attempts + 1 >= maxNoticeAttempts)
    return { status: "quarantined", error: why, isAttempt: true }
  const requested = Math.min(error.retryAfterMillis ?? 0, maxAgeMillis)
  const pause = Math.max(backoffMillis(backoff, notice.attempts + 1, random), requested)
  return { status: "pending", error: why, notBefore: now + pause, isAttempt }
}
