import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { PublisherToken } from "../../src/domain/FencingToken.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import { StoreError } from "../../src/database/StoreError.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import type { PublicationUpdate } from "../../src/store/Outbox.ts"
import { databases } from "./Databases.ts"
import { publication } from "./Fixtures.ts"

describe.each(databases)("Outbox in $name", ({ layer: fresh, name }) => {
  layer(fresh())((it) => {
    it.effect("returns rows in the order of sending, once per operation", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const [second, first] = [
          publication({ targetKey: TargetKey.make("order"), position: 1 }),
          publication({ targetKey: TargetKey.make("order") })
        ]
        const later = publication({ targetKey: TargetKey.make("order"), position: 1, notBefore: 9 })
        yield* outbox.add([second, first], 1)
        yield* outbox.add([later, { ...first, id: "other", channel: "elsewhere" }], 2)
        const open = yield* outbox.open(TargetKey.make("order"))
        assert.deepStrictEqual(
          open.map((row) => row.id),
          [first.id, second.id, later.id]
        )
        assert.deepStrictEqual(open[2], {
          ...later,
          hostId: undefined,
          url: undefined,
          error: undefined,
          ignoredDismissals: undefined,
          listed: undefined,
          reactions: undefined,
          posted: undefined
        })
        yield* outbox.add([], 3)
      })
    )

    it.effect("returns the reviews that other runs sent, with what they posted, the newest first", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const targetKey = TargetKey.make("reviews")
        const operation = { _tag: "Review", head: "h", event: "COMMENT", body: "", comments: [] } as const
        const rows = ["run-1", "run-2", "run-3"].map((runId) => publication({ targetKey, runId, operation }))
        const summary = publication({ targetKey, runId: "run-1" })
        // A summary that was posted with comments is a review too.
        const joined = publication({ targetKey, runId: "run-0" })
        yield* outbox.add([joined, ...rows, summary], 1)
        const { token } = yield* outbox.takeOver(targetKey, 1)
        for (const { id } of [joined, ...rows])
          yield* outbox.move(id, "pending", { status: "sent", posted: [id, "x"] }, token, 2)
        yield* outbox.move(summary.id, "pending", { status: "sent" }, token, 2)
        const found = yield* outbox.sentRows({ targetKey, channel: summary.channel, runId: "run-3" }, "Review")
        assert.deepStrictEqual(
          found.map(({ posted, runId }) => [runId, posted]),
          [joined, ...rows.slice(0, 2)].toReversed().map(({ id, runId }) => [runId, [id, "x"]])
        )
        const last = (kind: "Review" | "Summary", notOf: string) =>
          Effect.map(outbox.lastSent(targetKey, kind, { channel: summary.channel, notOf }), (row) => row?.id)
        assert.deepStrictEqual([yield* last("Summary", ""), yield* last("Summary", "run-1")], [summary.id, joined.id])
        const other = publication({ targetKey: TargetKey.make("joined"), runId: "run-0" })
        yield* outbox.add([other], 1)
        const { token: holder } = yield* outbox.takeOver(other.targetKey, 1)
        yield* outbox.move(other.id, "pending", { status: "sent", posted: ["x"] }, holder, 2)
        assert.strictEqual((yield* outbox.lastSent(other.targetKey, "Review", {}))?.id, other.id)
        assert.deepStrictEqual(yield* outbox.sentRows({ targetKey, channel: "other", runId: "" }, "Review"), [])
        assert.deepStrictEqual(
          yield* outbox.sentRows({ targetKey, channel: summary.channel, runId: "run-3" }, "Issue"),
          []
        )
      })
    )

    it.effect(
      "returns the ids of the other statuses of a commit in its repository, and whether one may be missing",
      () =>
        Effect.gen(function* () {
          const outbox = yield* Outbox
          const head = "of-many"
          const status = { _tag: "Status", head, state: "success", description: verbatimReason("") } as const
          const [own, other, foreign] = [
            "t:a/b:pull_request:1",
            "manual:a/b:pull_request:2",
            "t:c/d:pull_request:1"
          ].map((key) => publication({ targetKey: TargetKey.make(key), operation: status }))
          assert(own !== undefined && other !== undefined && foreign !== undefined)
          yield* outbox.add([own, other, foreign], 1)
          const written = outbox.writtenStatus(own, head)
          const move = Effect.fnUntraced(function* (row: typeof own, ...to: ReadonlyArray<PublicationUpdate>) {
            const { token } = yield* outbox.takeOver(row.targetKey, 2)
            assert.strictEqual(yield* outbox.startStatus(row, "pending", token, 2), "started")
            for (const update of to) assert.isTrue(yield* outbox.move(row.id, "sending", update, token, 2))
          })
          yield* move(foreign, { status: "unknown" })
          assert.deepStrictEqual(yield* written, { hostIds: [], isCertain: true })
          yield* move(other, { status: "sent", hostId: "7:completed" })
          assert.deepStrictEqual(yield* written, { hostIds: ["7:completed"], isCertain: true })
          yield* move(own, { status: "sent", hostId: "8:in_progress" })
          assert.deepStrictEqual(yield* written, { hostIds: ["7:completed"], isCertain: true })
          const later = publication({ targetKey: own.targetKey, operation: status })
          yield* outbox.add([later], 3)
          yield* move(later, { status: "unknown" })
          assert.deepStrictEqual(yield* written, { hostIds: ["7:completed"], isCertain: false })
        })
    )

    it.effect("moves by compare-and-set and counts attempts", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const row = publication({ targetKey: TargetKey.make("moves") })
        yield* outbox.add([row], 1)
        const { token } = yield* outbox.takeOver(TargetKey.make("moves"), 1)
        assert.isTrue(yield* outbox.move(row.id, "pending", { status: "sending" }, token, 2))
        assert.isFalse(yield* outbox.move(row.id, "pending", { status: "sending" }, token, 2))
        const refused = {
          status: "pending",
          notBefore: 50,
          error: verbatimReason("429"),
          hostId: "h",
          isAttempt: true
        } as const
        yield* outbox.move(row.id, "sending", refused, token, 3)
        assert.deepInclude((yield* outbox.open(TargetKey.make("moves")))[0], {
          attempts: 1,
          notBefore: 50,
          error: verbatimReason("429"),
          hostId: "h"
        })
        yield* outbox.move(row.id, "pending", { status: "sending" }, token, 4)
        assert.deepInclude((yield* outbox.open(TargetKey.make("moves")))[0], {
          status: "sending",
          attempts: 1,
          notBefore: undefined,
          error: undefined,
          hostId: "h"
        })
        assert.include(yield* outbox.targets, TargetKey.make("moves"))
        yield* outbox.move(row.id, "sending", { status: "sent", url: "https://git.example/1" }, token, 5)
        assert.deepStrictEqual(yield* outbox.open(TargetKey.make("moves")), [])
        assert.notInclude(yield* outbox.targets, TargetKey.make("moves"))
        assert.deepInclude(
          yield* outbox.lastSent(TargetKey.make("moves"), "Summary", { channel: row.channel, notOf: "another run" }),
          {
            hostId: "h",
            url: "https://git.example/1"
          }
        )
        assert.isUndefined(
          yield* outbox.lastSent(TargetKey.make("moves"), "Review", { channel: row.channel, notOf: "another run" })
        )
        assert.isFalse(yield* outbox.move("unknown", "pending", { status: "dropped" }, token, 6))
      })
    )

    it.effect("keeps dismissals that were not obeyed", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const ignoredDismissals = [{ fp: "f".repeat(32), file: "src/ä b.ts", by: ["eve", "dana"] }]
        const [row, found] = [
          publication({ runId: "sees", targetKey: TargetKey.make("seen") }),
          publication({ runId: "saw", targetKey: TargetKey.make("seen"), ignoredDismissals })
        ]
        yield* outbox.add([row, found], 1)
        const { token } = yield* outbox.takeOver(TargetKey.make("seen"), 1)
        yield* outbox.move(row.id, "pending", { status: "sending" }, token, 2)
        yield* outbox.move(row.id, "sending", { status: "sent", ignoredDismissals }, token, 3)
        yield* outbox.move(found.id, "pending", { status: "dropped" }, token, 4)
        for (const { runId } of [row, found])
          assert.deepStrictEqual((yield* outbox.ofRun(runId))[0]?.ignoredDismissals, ignoredDismissals)
      })
    )

    it.effect("a publisher whose target was taken over changes nothing", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const [row, other] = [
          publication({ targetKey: TargetKey.make("taken") }),
          publication({ targetKey: TargetKey.make("left") })
        ]
        yield* outbox.add([row, other], 1)
        const { token: frozen } = yield* outbox.takeOver(TargetKey.make("taken"), 1)
        const { token: elsewhere } = yield* outbox.takeOver(TargetKey.make("left"), 1)
        assert.isTrue(yield* outbox.isOwner(TargetKey.make("taken"), frozen))
        const { token: newer } = yield* outbox.takeOver(TargetKey.make("taken"), 2)
        assert.isAbove(newer, frozen)
        assert.isFalse(yield* outbox.isOwner(TargetKey.make("taken"), frozen))
        assert.isFalse(yield* outbox.move(row.id, "pending", { status: "sending" }, frozen, 3))
        assert.deepInclude((yield* outbox.open(TargetKey.make("taken")))[0], { status: "pending", attempts: 0 })
        assert.isTrue(yield* outbox.move(row.id, "pending", { status: "sending" }, newer, 3))
        assert.isTrue(yield* outbox.move(other.id, "pending", { status: "sending" }, elsewhere, 3))
      })
    )

    it.effect("counts the publishers of a target that came to no end of a row", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const key = TargetKey.make("counted")
        const first = yield* outbox.takeOver(key, 1)
        const second = yield* outbox.takeOver(key, 2)
        assert.deepStrictEqual([first.starts, second.starts], [1, 2])
        yield* outbox.progressed(key, first.token)
        const third = yield* outbox.takeOver(key, 3)
        assert.strictEqual(third.starts, 3)
        yield* outbox.progressed(key, third.token)
        assert.strictEqual((yield* outbox.takeOver(key, 4)).starts, 1)
      })
    )

    it.effect("commits what an effect writes together, or nothing of it", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const key = TargetKey.make("together")
        const refused = new StoreError({ reason: "corrupt", operation: "test", why: verbatimReason("refused") })
        const { starts, token } = yield* outbox.takeOver(key, 1)
        assert.strictEqual(starts, 1)
        const failed = yield* outbox
          .together(Effect.andThen(outbox.progressed(key, token), Effect.fail(refused)))
          .pipe(Effect.flip)
        assert.strictEqual(failed, refused)
        assert.strictEqual((yield* outbox.takeOver(key, 2)).starts, 2)
      })
    )

    it.effect("repeats what the database has undone", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const key = TargetKey.make("undone")
        const undone = new StoreError({
          reason: "unavailable",
          operation: "test",
          why: verbatimReason("x"),
          isUndone: true
        })
        let attempts = 0
        const work = Effect.tap(outbox.takeOver(key, 1), () => (++attempts === 1 ? Effect.fail(undone) : Effect.void))
        // Only transactions of Postgres are undone by others.
        if (name === "postgres") assert.strictEqual((yield* TestClock.withLive(outbox.together(work))).starts, 1)
        else assert.strictEqual(yield* Effect.flip(outbox.together(work)), undone)
        assert.strictEqual(attempts, name === "postgres" ? 2 : 1)
      })
    )

    it.effect("an illegal transition is a defect", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const exit = yield* Effect.exit(outbox.move("any", "sent", { status: "pending" }, PublisherToken.make(1), 1))
        assert.strictEqual(exit._tag === "Failure" ? exit.cause.reasons[0]?._tag : undefined, "Die")
      })
    )
  })
})
