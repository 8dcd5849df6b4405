import { describe, expect, it } from "vitest"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { ForgeError } from "../../../src/forge/ForgeError.ts"
import { ChannelMissing } from "../../../src/outputs/Outputs.ts"
import {
  afterNoticeFailure,
  maxNoticeAttempts,
  maxPerHour,
  nextNoticeStep
} from "../../../actors/notices/NoticeStep.ts"

const hour = 3_600_000
const createdAt = 1_000_000
const row = (over: object = {}) => ({ status: "pending", attempts: 0, createdAt, ...over }) as const
const failure = (reason: ForgeError["reason"], over: object = {}) =>
  new ForgeError({ reason, operation: "POST", why: verbatimReason(reason), ...over })

describe("the next step of a notice", () => {
  const sent = (count: number, oldest: number) => Array.from({ length: count }, (_, at) => oldest + at)

  it("sends 60 messages an hour to a channel, and fails after 20 attempts", () => {
    expect([maxPerHour, maxNoticeAttempts]).toEqual([60, 20])
  })

  it.each([
    ["is sent", row(), 0, [], createdAt, { _tag: "Send" }],
    ["is sent as the last of an hour", row(), 0, sent(maxPerHour - 1, 5), 10_000, { _tag: "Send" }],
    ["waits for the end of the hour", row(), 0, sent(maxPerHour, 5), 10_000, { _tag: "Wait", until: 5 + hour }],
    [
      "waits for the message that leaves the hour next",
      row(),
      0,
      sent(maxPerHour + 3, 5),
      10_000,
      { _tag: "Wait", until: 8 + hour }
    ],
    [
      "is dropped after a day",
      row(),
      0,
      [],
      createdAt + 24 * hour + 1,
      { _tag: "Record", update: { status: "dropped" } }
    ],
    [
      "is not sent again by a bot after a crash",
      row({ status: "sending" }),
      0,
      [],
      createdAt + 1,
      { _tag: "Record", update: { status: "unconfirmed" } }
    ],
    [
      "is sent again while the platform recognises it",
      row({ status: "sending" }),
      hour,
      [],
      createdAt + hour / 2,
      { _tag: "Record", update: { status: "pending", isAttempt: true } }
    ],
    [
      "is not sent again when the platform may have forgotten it",
      row({ status: "sending" }),
      hour,
      [],
      createdAt + hour - 60_000,
      { _tag: "Record", update: { status: "unconfirmed" } }
    ],
    [
      "is quarantined when it ends every process",
      row({ status: "sending", attempts: maxNoticeAttempts - 1 }),
      hour,
      [],
      createdAt + 1,
      { _tag: "Record", update: { status: "quarantined" } }
    ]
  ] as const)("%s", (_, notice, keyMillis, times, now, step) => {
    expect(nextNoticeStep(notice, keyMillis, times, now)).toMatchObject(step)
  })
})

describe("a notice that could not be sent", () => {
  const last = row({ attempts: maxNoticeAttempts - 1 })

  it.each([
    [
      "fails when its channel is gone",
      row(),
      new ChannelMissing({ why: verbatimReason("gone") }),
      false,
      0,
      { status: "failed" }
    ],
    [
      "fails when it is refused",
      row(),
      failure("invalid"),
      true,
      0,
      { status: "failed", error: verbatimReason("invalid") }
    ],
    ["is retried after an outage", row(), failure("unavailable"), true, 0, { status: "pending", isAttempt: true }],
    [
      "waits as the platform requests",
      row(),
      failure("rate_limited", { retryAfterMillis: 90_000 }),
      true,
      0,
      { status: "pending", isAttempt: false, notBefore: createdAt + 90_000 }
    ],
    ["is quarantined after the last attempt", last, failure("unavailable"), true, 0, { status: "quarantined" }],
    ["is not quarantined for a limit", last, failure("rate_limited"), true, 0, { status: "pending" }],
    ["is unconfirmed without a response", row(), failure("unknown_outcome"), true, 0, { status: "unconfirmed" }],
    [
      "is repeated without a response where the platform recognises it",
      row(),
      failure("unknown_outcome"),
      true,
      hour,
      { status: "pending", isAttempt: true }
    ],
    [
      "is retried if the request was not begun",
      row(),
      failure("unknown_outcome"),
      false,
      0,
      { status: "pending", isAttempt: true }
    ]
  ] as const)("%s", (_, notice, error, isBegun, keyMillis, update) => {
    expect(afterNoticeFailure(notice, { error, isBegun, keyMillis }, createdAt, 0)).toMatchObject(update)
  })
})
