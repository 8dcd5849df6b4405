/** Decisions of the publisher as a table: the next step of a row, the update after a failed write, the end of a run. */
import { statusText } from "../../../src/outputs/review/StatusText.ts"
import { assert, describe, it } from "@effect/vitest"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import {
  afterFailure,
  checkFor,
  isUnpublished,
  isWithheld,
  maxAttempts,
  nextStep,
  runEnd,
  withPartNote
} from "../../../actors/publishing/PublishDecision.ts"
import type { SendFailure } from "../../../actors/publishing/PublishDecision.ts"
import type { Operation, PublicationStatus } from "../../../src/domain/Publication.ts"
import { ForgeError } from "../../../src/forge/ForgeError.ts"
import { ChannelMissing } from "../../../src/outputs/Outputs.ts"
import { publication } from "../../store/Fixtures.ts"
import type { PublicationUpdate } from "../../../src/store/Outbox.ts"

const day = 24 * 3_600_000
const run = { workspace: "w", createdAt: 0 }
const old = { workspace: "w", createdAt: 1000 - day }
const gone = { _tag: "Drop", reason: { _tag: "WorkspaceUnconfigured", workspace: "w" } } as const

describe("the next step of an open row", () => {
  const cases = [
    ["pending", run, "yes", undefined, { _tag: "Send" }],
    ["pending", run, "yes", 1000, { _tag: "Send" }],
    ["pending", run, "yes", 1500, { _tag: "Wait", millis: 500 }],
    ["unknown", run, "yes", undefined, { _tag: "LookUp" }],
    ["unknown", run, "yes", 1500, { _tag: "Wait", millis: 500 }],
    // Only from `unknown` may it be dropped.
    ["sending", run, "yes", undefined, { _tag: "MarkUnknown" }],
    ["sending", undefined, "no", undefined, { _tag: "MarkUnknown" }],
    ["pending", undefined, "no", undefined, { _tag: "Drop", reason: { _tag: "RunNotOnRecord" } }],
    ["unknown", run, "no", undefined, gone],
    ["pending", run, "no", 1500, gone],
    ["pending", run, "unknown", undefined, { _tag: "Wait", millis: 15_000 }],
    ["unknown", run, "unknown", 1500, { _tag: "Wait", millis: 15_000 }],
    ["pending", old, "unknown", undefined, gone]
  ] as const
  for (const [status, known, configured, notBefore, step] of cases) {
    it(`${status}, run ${known === undefined ? "lost" : known === old ? "of yesterday" : "known"}, configured: ${configured}, not before ${notBefore}`, () => {
      assert.deepStrictEqual(nextStep(known, configured, { status, notBefore }, 1000), step)
    })
  }
})

describe("a row that could not be sent", () => {
  const failure = (reason: ForgeError["reason"], more: Partial<ForgeError> = {}) =>
    new ForgeError({ reason, operation: "POST /x", why: verbatimReason("m"), ...more })
  const given = { isBegun: true, from: "pending", attempts: 0, deferrals: 1, ageMillis: 0 } as const
  const after = (error: ForgeError | ChannelMissing, more: Partial<SendFailure> = {}) =>
    afterFailure({ ...given, error, ...more }, 10_000, 0.5)
  const failed = { status: "failed", error: verbatimReason("m") } as const

  it.each(["forbidden", "unauthorized", "not_found", "conflict", "invalid"] as const)("%s is final", (reason) => {
    assert.deepStrictEqual(after(failure(reason)), failed)
    assert.deepStrictEqual(after(failure(reason), { isBegun: false }), failed)
  })
  it("a conflict that the host reports is tried six times, with growing pauses", () => {
    const conflict = failure("conflict", { status: 409 })
    const wait = { error: verbatimReason("m"), notBefore: 10_750, isAttempt: true }
    assert.deepStrictEqual(after(conflict), { ...wait, status: "pending" })
    assert.deepStrictEqual(after(conflict, { isBegun: false, from: "unknown" }), { ...wait, status: "unknown" })
    assert.deepStrictEqual(after(conflict, { attempts: 5 }), failed)
  })
  it("a lost credential is waited for during a day, the last status of a run for a week, and costs no attempt", () => {
    const lost = failure("unauthorized", { status: 401, lostCredential: "main" })
    const why = verbatimReason("m")
    const wait = { error: { _tag: "AwaitsCredential", trigger: "main", why }, notBefore: 10_750 } as const
    const hour = 3_600_000
    const givenUp = (hours: number): PublicationUpdate => ({
      status: "failed",
      error: { _tag: "CredentialNotRestored", trigger: "main", hours, why }
    })
    assert.deepStrictEqual(after(lost), { ...wait, status: "unknown" })
    assert.deepStrictEqual(after(lost, { isBegun: false, attempts: 99, ageMillis: 24 * hour }), {
      ...wait,
      status: "pending"
    })
    assert.deepStrictEqual(after(lost, { ageMillis: 24 * hour + 1 }), givenUp(24))
    const last = { isBegun: false, isLastStatus: true }
    assert.deepStrictEqual(after(lost, { ...last, ageMillis: 25 * hour }), { ...wait, status: "pending" })
    assert.deepStrictEqual(after(lost, { ...last, ageMillis: 7 * 24 * hour + 1 }), givenUp(168))
  })
  it("a channel that is gone is final", () => {
    assert.deepStrictEqual(after(new ChannelMissing({ why: verbatimReason("m") })), failed)
  })

  it("a pending review of a person is waited for during an hour, without a doubt about the row", () => {
    const wait = { error: verbatimReason("m"), notBefore: 10_750, isAttempt: true }
    assert.deepStrictEqual(after(failure("pending_review")), { ...wait, status: "pending" })
    assert.deepStrictEqual(after(failure("pending_review"), { isBegun: false }), { ...wait, status: "pending" })
    assert.deepStrictEqual(after(failure("pending_review"), { isBegun: false, from: "unknown" }), {
      ...wait,
      status: "unknown"
    })
    assert.deepStrictEqual(after(failure("pending_review"), { ageMillis: 3_600_001 }), failed)
    assert.deepStrictEqual(after(failure("pending_review"), { attempts: maxAttempts - 1 }), failed)
  })

  const cases: ReadonlyArray<readonly [string, ForgeError, Partial<SendFailure>, PublicationUpdate]> = [
    ["a refusal for now counts", failure("unavailable"), {}, { status: "pending", notBefore: 10_750, isAttempt: true }],
    [
      "a lost response is looked up at once",
      failure("unknown_outcome"),
      {},
      { status: "unknown", notBefore: 10_000, isAttempt: true }
    ],
    [
      "and later after a pause",
      failure("unknown_outcome"),
      { attempts: 1 },
      { status: "unknown", notBefore: 11_500, isAttempt: true }
    ],
    [
      "the host's own pause counts before ours",
      failure("rate_limited", { retryAfterMillis: 40_000 }),
      {},
      { status: "pending", notBefore: 50_000, isAttempt: true }
    ],
    ["the last attempt", failure("unavailable"), { attempts: maxAttempts - 1 }, { status: "failed" }],
    [
      "a read counts nothing",
      failure("unavailable"),
      { isBegun: false, attempts: maxAttempts - 1 },
      { status: "pending", notBefore: 10_750, isAttempt: false }
    ],
    [
      "and pauses longer each time",
      failure("unavailable"),
      { isBegun: false, deferrals: 3 },
      { status: "pending", notBefore: 13_000, isAttempt: false }
    ],
    [
      "it keeps what the row was",
      failure("unavailable"),
      { isBegun: false, from: "unknown" },
      { status: "unknown", notBefore: 10_750, isAttempt: false }
    ],
    [
      "after a day it counts",
      failure("unavailable"),
      { isBegun: false, ageMillis: day + 1 },
      { status: "pending", notBefore: 10_750, isAttempt: true }
    ],
    [
      "and ends",
      failure("unavailable"),
      { isBegun: false, ageMillis: day + 1, attempts: maxAttempts - 1 },
      { status: "failed" }
    ],
    [
      "an outage counts nothing, however long it is",
      failure("unavailable", { isOutage: true }),
      { isBegun: false, ageMillis: 9 * day, attempts: maxAttempts },
      { status: "pending", notBefore: 11_000 }
    ],
    [
      "what was begun in one is looked up after it",
      failure("unavailable", { isOutage: true }),
      { attempts: maxAttempts },
      { status: "unknown" }
    ]
  ]
  it.each(cases)("%s", (_, error, more, update) => {
    assert.deepStrictEqual(after(error, more), { ...update, error: verbatimReason("m") })
  })
})

const summary: Operation = { _tag: "Summary", head: "h", body: "" }
const threads: Operation = { _tag: "Threads", head: "h1", present: [], analysed: [], changed: [] }
const status: Operation = { _tag: "Status", head: "h", state: "success", description: verbatimReason("") }
const review: Operation = { _tag: "Review", head: "h", event: "COMMENT", body: "", comments: [] }

describe("a closed change", () => {
  it("gets its summary and no review", () => {
    assert.strictEqual(checkFor({ operation: summary }, "closed"), "newest")
    assert.strictEqual(checkFor({ operation: review }, "closed"), "closed")
    const moved = { _tag: "Moved", head: "h2" } as const
    assert.deepStrictEqual(checkFor({ operation: summary }, moved), moved)
  })
})

describe("the end of a run", () => {
  const end = (...rows: ReadonlyArray<readonly [Operation, PublicationStatus]>) =>
    runEnd(
      rows.map(([operation, at]) => ({ operation, status: at, error: at === "sent" ? undefined : verbatimReason(at) })),
      false
    )
  it("waits while a row is open, a status included", () => {
    for (const open of ["pending", "sending", "unknown"] as const) {
      assert.isUndefined(end([summary, "sent"], [status, open]))
    }
  })
  it("is decided by what people read", () => {
    assert.deepInclude(end([status, "failed"]), { to: "succeeded", partial: false })
    assert.deepInclude(end([summary, "sent"], [review, "failed"]), { to: "succeeded", partial: true })
    assert.deepInclude(end([summary, "failed"], [status, "sent"]), { to: "failed", reason: verbatimReason("failed") })
    assert.deepInclude(end([summary, "dropped"], [status, "sent"]), {
      to: "skipped",
      reason: verbatimReason("dropped")
    })
    assert.deepInclude(runEnd([], true), { to: "succeeded", partial: true })
  })
  it("is not decided by a comparison that had nothing to do", () => {
    assert.deepInclude(end([summary, "failed"], [threads, "sent"]), { to: "failed", reason: verbatimReason("failed") })
  })
  it("is skipped where filters exclude every file and nothing was written", () => {
    const leftOut = { _tag: "FilesExcluded", fields: ["review.include"] } as const
    const rows = (at: PublicationStatus) => [
      { operation: summary, status: at, error: at === "failed" ? verbatimReason(at) : undefined },
      { operation: status, status: "sent" as const, error: undefined }
    ]
    assert.deepEqual(runEnd(rows("nothing_to_do"), false, leftOut), { to: "skipped", partial: false, reason: leftOut })
    assert.deepInclude(runEnd(rows("nothing_to_do"), false), { to: "succeeded", reason: undefined })
    assert.deepInclude(runEnd(rows("sent"), false, leftOut), { to: "succeeded", reason: leftOut })
    assert.deepInclude(runEnd(rows("failed"), false, leftOut), { to: "failed", reason: verbatimReason("failed") })
  })
  it("names that nothing was published in shadow", () => {
    const error = { _tag: "InShadow" } as const
    const rows = [summary, review].map((operation) => ({ operation, status: "nothing_to_do" as const, error }))
    assert.deepEqual(runEnd(rows, false), { to: "succeeded", partial: false, reason: error })
    const statement = { _tag: "Statement", head: "h1", time: 0, statement: "{}" } as const
    const withheld = [summary, review, status, statement].map((operation) =>
      isWithheld({ outputs: { shadow: true } }, { operation })
    )
    assert.deepEqual(withheld, [true, true, true, false])
    assert.isFalse(isWithheld({ outputs: { shadow: false } }, { operation: summary }))
  })
  it("is known before its commit status is sent, where nothing of it appears", () => {
    const rows = (...given: ReadonlyArray<readonly [Operation, PublicationStatus]>) =>
      given.map(([operation, at]) => ({ operation, status: at }))
    assert.isTrue(isUnpublished(rows([summary, "failed"], [review, "dropped"], [threads, "sent"], [status, "pending"])))
    assert.isFalse(isUnpublished(rows([summary, "failed"], [review, "sent"])))
    assert.isFalse(isUnpublished(rows([summary, "failed"], [review, "unknown"])))
    assert.isFalse(isUnpublished(rows([summary, "dropped"], [status, "pending"])))
    assert.isFalse(isUnpublished([]))
  })
})

describe("the status of a review that is at the host in part", () => {
  it.each([
    ["en", "done; not all of it could be published"],
    ["zh-CN", "done；未能全部发布"]
  ])("ends in the language of the review: %s", (language, expected) => {
    const row = publication({
      operation: { _tag: "Status", sha: "a", state: "success", description: verbatimReason("done") } as never
    })
    const refused = publication({ id: "2", status: "failed" })
    const noted = withPartNote(row, [refused])
    assert.strictEqual(
      noted.operation._tag === "Status" ? statusText(noted.operation.description, language) : "",
      expected
    )
    assert.strictEqual(withPartNote(row, []), row)
  })
})
