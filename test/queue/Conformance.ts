/** Contract of every store of the queue. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { LeaseToken } from "../../src/domain/FencingToken.ts"
import { maxLosses } from "../../src/domain/Entry.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { nothingCancelled, Queue } from "../../src/queue/Queue.ts"
import type { QueueAdmission, Finish, QueueError } from "../../src/queue/Queue.ts"
import type { ListFilter, Pause } from "../../src/queue/operator/QueueControl.ts"
import { QueueControl } from "../../src/queue/operator/QueueControl.ts"
import type { QueueLimits } from "../../src/queue/core/QueueLimits.ts"
import { waitUntil } from "../harness/Wait.ts"
import { admission, before, toTarget } from "./Admissions.ts"

const use = <A, E>(f: (queue: Queue["Service"]) => Effect.Effect<A, E>): Effect.Effect<A, E, Queue> =>
  Effect.flatMap(Queue, f)

const admitted = (item: QueueAdmission) =>
  use((queue) =>
    Effect.flatMap(queue.admit([item]), ([answer]) =>
      answer === undefined ? Effect.die(new Error("No answer")) : Effect.succeed(answer)
    )
  )
const one = (over?: Parameters<typeof admission>[0]) => admitted(admission(over))
const found = (entryId: string) =>
  use((queue) =>
    Effect.flatMap(queue.get(entryId), (entry) =>
      entry === undefined ? Effect.die(new Error(`${entryId} is not there`)) : Effect.succeed(entry)
    )
  )
const statusOf = (entryId: string) => use((queue) => Effect.map(queue.get(entryId), (entry) => entry?.status))
const claim = (entryId: string, owner = "node/1", now = 100, ttl = 50) =>
  use((queue) =>
    Effect.flatMap(queue.claim(entryId, owner, now, ttl), (claimed) =>
      claimed === undefined ? Effect.die(new Error(`${entryId} was not claimed`)) : Effect.succeed(claimed)
    )
  )
const running = Effect.fn(function* (over?: Parameters<typeof admission>[0]) {
  const { entryId } = yield* one(over)
  yield* use((queue) => queue.promote([entryId], 100))
  return yield* claim(entryId)
})

export const conformance = (
  name: string,
  store: (limits?: QueueLimits) => Layer.Layer<Queue | QueueControl, QueueError>
) => {
  describe(`Queue (${name})`, () => {
    layer(store())("text that no store can hold", (it) => {
      it.effect("is repaired, and holds up nothing", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const ill = (head: string) => {
            const item = admission({ workspace: "ill", priority: 30, dueAt: 0, expires: true })
            const target = { kind: "push", branch: "x\ud800" } as const
            const author = { username: "\udc00", name: "a\u0000" }
            return { ...item, change: { ...item.change, target, head, title: "\ud83d", author } }
          }
          const sound = yield* one({ workspace: "ill", number: 2 })
          const first = yield* admitted(ill("a"))
          // The target is read back unchanged: the second head finds the first.
          const second = yield* admitted(ill("b"))
          assert.strictEqual(second.status, "coalesced")
          const entry = yield* found(first.entryId)
          assert.deepInclude(entry.change, {
            target: { kind: "push", branch: "x\ufffd" },
            title: "\ufffd",
            author: { username: "\ufffd", name: "a\ufffd" }
          })
          const survey = yield* queue.loadSnapshot("ill", 100, 10)
          assert.lengthOf(survey.eligible, 2)
          assert.sameMembers(
            [...(yield* queue.promote([first.entryId, sound.entryId], 100))],
            [first.entryId, sound.entryId]
          )
          const { lease } = yield* claim(first.entryId)
          assert.strictEqual((yield* claim(sound.entryId)).entry.id, sound.entryId)
          assert.lengthOf(yield* queue.reclaim(1000, () => true), 2)
          assert.isFalse(yield* queue.finish(lease, { _tag: "Done" }))
          assert.deepStrictEqual(
            (yield* queue.expire(before(1000), { _tag: "QueuedTimeout" })).map(({ id }) => id),
            [first.entryId]
          )
          assert.strictEqual(yield* statusOf(sound.entryId), "waiting")
        })
      )
    })

    layer(store())("admit", (it) => {
      it.effect("returns admitted entries", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const item = admission({ number: 1, head: "a", workspace: "one" })
          const answer = yield* admitted(item)
          assert.deepInclude(answer, { status: "queued", dueAt: 100, superseded: [] })
          const entry = yield* found(answer.entryId)
          assert.deepStrictEqual(entry, {
            id: answer.entryId,
            workspace: "one",
            targetKey: toTarget(1, "one"),
            change: item.change,
            configHash: "c0ffee",
            priority: 10,
            status: "waiting",
            events: [item.eventId],
            admittedAt: 100,
            dueAt: 100,
            attempts: 0,
            losses: 0,
            expires: false,
            reason: undefined,
            token: LeaseToken.make(0),
            leaseUntil: undefined,
            owner: undefined,
            awaitsModel: false,
            cancelRequested: undefined
          })
          assert.deepStrictEqual(yield* queue.load("one"), [entry])
          assert.deepStrictEqual(yield* queue.load("none"), [])
          assert.isUndefined(yield* queue.get("none"))
          assert.strictEqual((yield* one({ number: 2, dueAt: 101 })).status, "deferred")
          assert.deepStrictEqual(yield* queue.admit([]), [])
        })
      )

      it.effect("an event counts once, also when its entry has ended", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const item = admission({ number: 3, head: "a" })
          const [first, second] = yield* queue.admit([item, item])
          assert.deepStrictEqual(second, { ...first, status: "duplicate" })
          yield* queue.cancel(toTarget(3), verbatimReason("closed"))
          const third = yield* admitted(item)
          assert.deepStrictEqual([third.entryId, third.status], [first?.entryId, "duplicate"])
          assert.strictEqual(yield* statusOf(third.entryId), "cancelled")
        })
      )

      it.effect("the same head joins, and makes the entry earlier and more urgent if requested", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const first = yield* one({ number: 4, head: "a", dueAt: 500 })
          const command = admission({ number: 4, admittedAt: 120, dueAt: 120, priority: 0 })
          const [second] = yield* queue.admit([{ ...command, change: { ...command.change, requestedBy: "ada" } }])
          assert.deepStrictEqual(second, { entryId: first.entryId, status: "coalesced", dueAt: 120, superseded: [] })
          const entry = yield* queue.get(first.entryId)
          assert.deepInclude(entry, { priority: 0, admittedAt: 100, dueAt: 120 })
          assert.deepInclude(entry?.change, { head: "a", requestedBy: "ada" })
          assert.strictEqual(entry?.events.length, 2)
        })
      )

      it.effect("another head replaces what waits and inherits its place", () =>
        Effect.gen(function* () {
          const old = admission({ number: 5, head: "a", priority: 5, dueAt: 150 })
          const first = yield* admitted(old)
          const second = yield* one({ number: 5, head: "b", admittedAt: 200, dueAt: 230 })
          assert.deepInclude(second, { status: "queued", dueAt: 150, superseded: [old.eventId] })
          assert.strictEqual(yield* statusOf(first.entryId), "superseded")
          const entry = yield* found(second.entryId)
          assert.deepInclude(entry, { status: "waiting", priority: 5, admittedAt: 100, dueAt: 150 })
          assert.deepInclude(entry.change, { head: "b" })
          const again = yield* admitted(old)
          assert.deepInclude(again, { entryId: first.entryId, status: "duplicate", superseded: [old.eventId] })
        })
      )

      it.effect("another head keeps the requests of people for what it replaces, of each of them", () =>
        Effect.gen(function* () {
          const requested = (person: string) => {
            const item = admission({ number: 50, priority: 0 })
            return { ...item, change: { ...item.change, requestedBy: person } }
          }
          const requests = [requested("eve"), requested("ada")]
          for (const request of requests) yield* admitted(request)
          const pushes = ["a", "b", "c"].map((head) => admission({ number: 50, head, priority: 10, dueAt: 500 }))
          for (const push of pushes) assert.deepInclude(yield* admitted(push), { superseded: [] })
          const newest = yield* admitted(requested("ada"))
          const entry = yield* found(newest.entryId)
          assert.deepInclude(entry, { status: "waiting", priority: 0, dueAt: 100 })
          assert.deepInclude(entry.change, { head: "c", requestedBy: "eve" })
          assert.includeMembers(
            [...entry.events],
            [...requests, ...pushes].map(({ eventId }) => eventId)
          )
          for (const item of [...requests, ...pushes])
            assert.deepInclude(yield* admitted(item), { entryId: newest.entryId, status: "duplicate", superseded: [] })
        })
      )

      it.effect("a ready entry is replaced too, and its ticket is worth nothing then", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const first = yield* one({ number: 6, head: "a" })
          yield* queue.promote([first.entryId], 100)
          const second = yield* one({ number: 6, head: "b" })
          assert.isUndefined(yield* queue.claim(first.entryId, "node/1", 100, 50))
          assert.strictEqual(yield* statusOf(second.entryId), "waiting")
        })
      )

      it.effect("what arrives while one runs joins it by head, or waits behind it as the only next one", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const { entry, lease } = yield* running({ number: 7, head: "a" })
          assert.deepInclude(yield* one({ number: 7, head: "a" }), { entryId: entry.id, status: "coalesced" })
          const next = yield* one({ number: 7, head: "b" })
          assert.strictEqual(next.status, "queued")
          assert.strictEqual((yield* one({ number: 7 })).entryId, next.entryId)
          assert.strictEqual((yield* one({ number: 7, head: "a" })).entryId, entry.id)
          assert.strictEqual((yield* one({ number: 7, head: "c" })).superseded.length, 2)
          assert.strictEqual((yield* queue.get(entry.id))?.events.length, 3)
          assert.isTrue(yield* queue.finish(lease, { _tag: "Done" }))
        })
      )

      it.effect(
        "the same head with another base is another review: it waits behind what runs and replaces what waits",
        () =>
          Effect.gen(function* () {
            const queue = yield* Queue
            const into = (baseRef: string | undefined) => {
              const item = admission({ number: 70, head: "a" })
              return admitted({ ...item, change: { ...item.change, ...(baseRef === undefined ? {} : { baseRef }) } })
            }
            const first = yield* into("main")
            yield* queue.promote([first.entryId], 100)
            const { lease } = yield* claim(first.entryId)
            assert.strictEqual((yield* into("main")).entryId, first.entryId)
            assert.strictEqual((yield* into(undefined)).entryId, first.entryId)
            const moved = yield* into("next")
            assert.strictEqual(moved.status, "queued")
            assert.strictEqual((yield* into("next")).entryId, moved.entryId)
            const again = yield* into("other")
            assert.lengthOf(again.superseded, 2)
            assert.deepInclude(yield* found(moved.entryId), {
              status: "superseded",
              reason: { _tag: "BaseChanged", branch: "other" }
            })
            assert.isTrue(yield* queue.finish(lease, { _tag: "Done" }))
            yield* queue.promote([again.entryId], 100)
            assert.strictEqual((yield* claim(again.entryId)).entry.change.baseRef, "other")
          })
      )

      it.effect("a command joins nothing that runs: its head may be another", () =>
        Effect.gen(function* () {
          const { entry } = yield* running({ number: 8, head: "a" })
          const command = yield* one({ number: 8 })
          assert.notStrictEqual(command.entryId, entry.id)
          const pushed = yield* one({ number: 8, head: "b" })
          assert.deepInclude(pushed, { entryId: command.entryId, status: "coalesced" })
        })
      )

      it.effect("items of one call are taken in order", () =>
        Effect.gen(function* () {
          const items = ["a", "a", "b"].map((head) => admission({ number: 9, head }))
          const answers = yield* use((queue) => queue.admit(items))
          assert.deepStrictEqual(
            answers.map((answer) => answer.status),
            ["queued", "coalesced", "queued"]
          )
          assert.sameMembers(
            [...(answers[2]?.superseded ?? [])],
            items.slice(0, 2).map((item) => item.eventId)
          )
        })
      )
    })

    layer(store({ perWorkspace: 2, total: 3 }))("limits", (it) => {
      it.effect("refuse a call as a whole, and never what joins or replaces", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const refused = (items: ReadonlyArray<QueueAdmission>) =>
            Effect.map(Effect.flip(queue.admit(items)), (error) => error.reason)
          yield* queue.admit([admission({ number: 1, head: "a" })])
          assert.strictEqual(yield* refused([admission({ number: 2 }), admission({ number: 3 })]), "full")
          assert.strictEqual((yield* queue.load("app")).length, 1)
          yield* queue.admit([admission({ number: 2 }), admission({ number: 2, head: "b" })])
          yield* queue.admit([admission({ number: 1, head: "b" }), admission({ number: 1, head: "b" })])
          assert.strictEqual(yield* refused([admission({ number: 3 })]), "full")
          yield* queue.admit([admission({ number: 1, workspace: "other" })])
          assert.strictEqual(yield* refused([admission({ number: 2, workspace: "other" })]), "full")
          yield* queue.cancel(toTarget(1), verbatimReason("closed"))
          yield* queue.admit([admission({ number: 2, workspace: "other" })])
        })
      )
    })

    layer(store())("work", (it) => {
      it.effect("is released when due, claimed once, and done", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const { entryId } = yield* one({ number: 1, head: "a", admittedAt: 50 })
          assert.deepStrictEqual(yield* queue.promote([entryId, "none"], 99), [])
          assert.isUndefined(yield* queue.claim(entryId, "node/1", 100, 50))
          assert.deepStrictEqual(yield* queue.promote([entryId], 100), [entryId])
          assert.deepStrictEqual(yield* queue.promote([entryId], 100), [])
          const { lease, entry } = yield* claim(entryId)
          assert.deepStrictEqual(lease, { entryId, token: 1 })
          assert.deepInclude(entry, { status: "running", owner: "node/1", leaseUntil: 150, token: LeaseToken.make(1) })
          assert.deepStrictEqual(yield* queue.get(entryId), entry)
          assert.isUndefined(yield* queue.claim(entryId, "node/2", 100, 50))
          assert.isTrue(yield* queue.finish(lease, { _tag: "Done", reason: verbatimReason("reviewed") }))
          assert.isFalse(yield* queue.finish(lease, { _tag: "Done" }))
          assert.deepStrictEqual(yield* queue.renew(lease, 500), { _tag: "Lost" })
          assert.deepInclude(yield* queue.get(entryId), {
            status: "done",
            reason: verbatimReason("reviewed"),
            owner: undefined,
            leaseUntil: undefined
          })
          assert.deepStrictEqual(yield* queue.load("app"), [])
        })
      )

      it.effect("waits while another entry of the target runs", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const { lease } = yield* running({ number: 2, head: "a" })
          const next = yield* one({ number: 2, head: "b" })
          assert.deepStrictEqual(yield* queue.promote([next.entryId], 100), [])
          yield* queue.finish(lease, { _tag: "Cancelled", reason: verbatimReason("head is gone") })
          assert.deepStrictEqual(yield* queue.promote([next.entryId], 100), [next.entryId])
        })
      )

      it.effect("is withdrawn when its ticket was lost", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const { entryId } = yield* one({ number: 3, head: "a" })
          yield* queue.promote([entryId], 100)
          yield* queue.demote([entryId, "none"])
          assert.strictEqual(yield* statusOf(entryId), "waiting")
          const claimed = yield* running({ number: 4, head: "a" })
          yield* queue.demote([claimed.lease.entryId])
          assert.strictEqual(yield* statusOf(claimed.lease.entryId), "running")
        })
      )

      it.effect("is retried with a new token; the old one changes nothing", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const { lease } = yield* running({ number: 5, head: "a" })
          const retry = { _tag: "Retry", dueAt: 300, reason: verbatimReason("429"), counted: true } as const
          assert.isTrue(yield* queue.finish(lease, retry))
          assert.deepInclude(yield* queue.get(lease.entryId), {
            status: "waiting",
            dueAt: 300,
            attempts: 1,
            reason: verbatimReason("429"),
            token: LeaseToken.make(1),
            owner: undefined
          })
          // Only a person shortens a backoff.
          assert.strictEqual((yield* one({ number: 5, head: "a" })).dueAt, 300)
          assert.deepStrictEqual(yield* queue.promote([lease.entryId], 299), [])
          yield* queue.promote([lease.entryId], 300)
          const second = yield* claim(lease.entryId)
          assert.strictEqual(second.lease.token, 2)
          const stale: ReadonlyArray<Finish> = [{ _tag: "Done" }, { _tag: "Dead", reason: verbatimReason("") }, retry]
          for (const finish of stale) assert.isFalse(yield* queue.finish(lease, finish))
          assert.deepStrictEqual(yield* queue.renew(lease, 900), { _tag: "Lost" })
          assert.deepStrictEqual(yield* queue.get(lease.entryId), second.entry)
          yield* queue.finish(second.lease, { ...retry, counted: false })
          assert.strictEqual((yield* queue.get(lease.entryId))?.attempts, 1)
          // With the priority of the automatic review it waits without the request of a person.
          yield* queue.admit([
            {
              ...admission({ number: 5, head: "a", priority: 0 }),
              change: { ...admission({ number: 5, head: "a" }).change, requestedBy: "eve" }
            }
          ])
          assert.deepInclude(yield* queue.get(lease.entryId), { priority: 0 })
          yield* queue.promote([lease.entryId], 300)
          const third = yield* claim(lease.entryId)
          assert.strictEqual(third.entry.change.requestedBy, "eve")
          yield* queue.finish(third.lease, { ...retry, counted: false, priority: 10 })
          const alone = yield* queue.get(lease.entryId)
          assert.deepInclude(alone, { status: "waiting", priority: 10, dueAt: 300 })
          assert.deepStrictEqual([alone?.change.requestedBy, alone?.change.head], [undefined, "a"])
        })
      )

      it.effect("yields when it would wait again and a newer head waits, which settles its events", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const { lease, entry } = yield* running({ number: 6, head: "a", priority: 0 })
          const next = yield* one({ number: 6, head: "b", admittedAt: 200, dueAt: 200 })
          assert.isTrue(
            yield* queue.finish(lease, { _tag: "Retry", dueAt: 900, reason: verbatimReason("503"), counted: true })
          )
          assert.deepInclude(yield* queue.get(entry.id), { status: "superseded", events: [] })
          const heir = yield* found(next.entryId)
          assert.deepInclude(heir, { status: "waiting", priority: 0, admittedAt: 100, dueAt: 200 })
          assert.includeMembers([...heir.events], [...entry.events])
          const again = yield* admitted(admission({ number: 6, eventId: entry.events[0] ?? "" }))
          assert.deepInclude(again, { entryId: next.entryId, status: "duplicate" })
        })
      )

      it.effect("is dead when its attempts are used up", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const { lease } = yield* running({ number: 7, head: "a" })
          yield* queue.finish(lease, { _tag: "Dead", reason: verbatimReason("3 attempts") })
          assert.deepInclude(yield* queue.get(lease.entryId), {
            status: "dead",
            reason: verbatimReason("3 attempts"),
            attempts: 1
          })
        })
      )
    })

    layer(store())("leases", (it) => {
      it.effect("are reclaimed when they end or their owner is gone, at no attempt", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const a = yield* running({ number: 1, head: "a" })
          const b = yield* running({ number: 2, head: "a" })
          const { entryId } = yield* one({ number: 3, head: "a" })
          yield* queue.promote([entryId], 100)
          yield* claim(entryId, "node/2")
          const nobody = () => false
          assert.deepStrictEqual(yield* queue.reclaim(149, nobody), [])
          assert.deepStrictEqual(yield* queue.renew(b.lease, 400), { _tag: "Kept" })
          const ended = yield* queue.reclaim(150, (owner) => owner === "node/2")
          assert.sameMembers(
            ended.map((entry) => entry.id),
            [a.lease.entryId, entryId]
          )
          assert.deepInclude(yield* queue.get(a.lease.entryId), {
            status: "waiting",
            dueAt: 150,
            attempts: 0,
            owner: undefined
          })
          assert.isFalse(yield* queue.finish(a.lease, { _tag: "Done" }))
          assert.isTrue(yield* queue.finish(b.lease, { _tag: "Done" }))
        })
      )
    })

    layer(store())("models", (it) => {
      it.effect("an entry awaits its model from the mark of its worker to its end, and takes no slot", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const { lease } = yield* running({ number: 1, head: "a" })
          const awaiting = Effect.map(queue.loadSnapshot("app", 100, 10), ({ inFlight }) =>
            inFlight.map(({ id, awaitsModel }) => [id, awaitsModel])
          )
          assert.deepStrictEqual(yield* awaiting, [[lease.entryId, false]])
          assert.isTrue(yield* queue.awaitModel(lease))
          assert.isTrue(yield* queue.awaitModel(lease))
          assert.deepStrictEqual(yield* awaiting, [[lease.entryId, true]])
          assert.deepStrictEqual(yield* queue.renew(lease, 500), { _tag: "Kept" })
          assert.deepInclude(yield* found(lease.entryId), { status: "running", awaitsModel: true, leaseUntil: 500 })
          yield* queue.finish(lease, { _tag: "Retry", dueAt: 100, reason: verbatimReason("503"), counted: true })
          assert.deepInclude(yield* found(lease.entryId), { status: "waiting", awaitsModel: false })
          assert.isFalse(yield* queue.awaitModel(lease))
          yield* queue.cancel(toTarget(1), verbatimReason("closed"))
        })
      )

      it.effect("an entry whose worker is lost computes again", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const { lease } = yield* running({ number: 2, head: "a" })
          yield* queue.awaitModel(lease)
          yield* queue.reclaim(100_000_000, () => true)
          assert.isFalse(yield* queue.awaitModel(lease))
          yield* queue.promote([lease.entryId], 100_000_000)
          const again = yield* claim(lease.entryId)
          assert.isFalse(again.entry.awaitsModel)
          assert.isTrue(yield* queue.finish(again.lease, { _tag: "Done" }))
        })
      )
    })

    layer(store())("clock", (it) => {
      it.effect("set forward or back by an hour: leases end or last, nothing is lost or done twice", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const hour = 3_600_000
          const at = 10 * hour
          const { entryId } = yield* one({ number: 1, head: "a", admittedAt: at, dueAt: at })
          yield* queue.promote([entryId], at)
          const first = yield* claim(entryId, "node/1", at, 300_000)
          // Clock moved forward: the lease is over for all, and its worker is notified.
          const [reclaimed] = yield* queue.reclaim(at + hour, () => false)
          assert.deepInclude(reclaimed, { id: entryId, status: "waiting", dueAt: at + hour })
          assert.isFalse(yield* queue.finish(first.lease, { _tag: "Done" }))
          // Clock set back: an entry that was due at admission is still due.
          const other = yield* one({ number: 2, head: "b", admittedAt: at + hour, dueAt: at + hour })
          assert.deepInclude(yield* queue.loadSnapshot("app", at, 2), { nextAt: at + hour })
          assert.deepStrictEqual(
            (yield* queue.loadSnapshot("app", at, 2)).eligible.map(({ id }) => id),
            [other.entryId]
          )
          assert.deepStrictEqual(yield* queue.promote([other.entryId], at), [other.entryId])
          yield* queue.cancel(toTarget(2), verbatimReason("reviewed elsewhere"))
          // An entry that became due in the future waits for it, and reports it.
          assert.deepStrictEqual(yield* queue.promote([entryId], at), [])
          assert.deepInclude(yield* queue.loadSnapshot("app", at, 1), { eligible: [], nextAt: at + hour })
          assert.deepStrictEqual(yield* queue.promote([entryId], at + hour), [entryId])
          const second = yield* claim(entryId, "node/1", at + hour, 300_000)
          assert.deepStrictEqual(yield* queue.reclaim(at, () => false), [])
          assert.deepStrictEqual(yield* queue.renew(second.lease, at + 300_000), { _tag: "Kept" })
          assert.isTrue(yield* queue.finish(second.lease, { _tag: "Done" }))
        })
      )
    })

    layer(store())("closing", (it) => {
      it.effect("cancel ends waiting and ready entries, and notifies the worker of running ones", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const { lease } = yield* running({ number: 1, head: "a" })
          const next = yield* one({ number: 1, head: "b" })
          const cancelled = yield* queue.cancel(toTarget(1), verbatimReason("closed"))
          assert.deepStrictEqual(cancelled, {
            ended: [yield* found(next.entryId)],
            stopping: [yield* found(lease.entryId)]
          })
          assert.deepInclude(cancelled.ended[0], { status: "cancelled", reason: verbatimReason("closed") })
          assert.deepInclude(cancelled.stopping[0], { status: "running", cancelRequested: verbatimReason("closed") })
          assert.deepStrictEqual(yield* queue.cancel(toTarget(7), verbatimReason("closed")), nothingCancelled)
          yield* queue.finish(lease, { _tag: "Cancelled", reason: verbatimReason("closed") })
        })
      )

      it.effect("a worker learns with its renewal that it is to end, and ends as cancelled", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const { lease } = yield* running({ number: 2, head: "a" })
          yield* queue.cancel(toTarget(2), verbatimReason("closed"))
          yield* queue.cancel(toTarget(2), verbatimReason("closed again"))
          assert.deepStrictEqual(yield* queue.renew(lease, 500), {
            _tag: "Cancelled",
            reason: verbatimReason("closed")
          })
          assert.deepInclude(yield* found(lease.entryId), { status: "running", leaseUntil: 500 })
          assert.isTrue(yield* queue.finish(lease, { _tag: "Cancelled", reason: verbatimReason("closed") }))
          assert.deepInclude(yield* found(lease.entryId), {
            status: "cancelled",
            reason: verbatimReason("closed"),
            attempts: 0,
            cancelRequested: undefined
          })
        })
      )

      it.effect(
        "what is to end joins nothing, and does not wait again: neither after a failure nor after a lost worker",
        () =>
          Effect.gen(function* () {
            const queue = yield* Queue
            const a = yield* running({ number: 3, head: "a" })
            const b = yield* running({ number: 4, head: "a" })
            yield* queue.cancel(toTarget(3), verbatimReason("closed"))
            yield* queue.cancel(toTarget(4), verbatimReason("closed"))
            const reopened = yield* one({ number: 3, head: "a" })
            assert.notStrictEqual(reopened.entryId, a.lease.entryId)
            assert.isTrue(
              yield* queue.finish(a.lease, { _tag: "Retry", dueAt: 300, reason: verbatimReason("503"), counted: true })
            )
            const reclaimed = yield* queue.reclaim(150, () => false)
            assert.deepStrictEqual(
              reclaimed.map(({ id, status, reason }) => [id, status, reason]),
              [[b.lease.entryId, "cancelled", verbatimReason("closed")]]
            )
            assert.deepInclude(yield* found(a.lease.entryId), { status: "cancelled", reason: verbatimReason("closed") })
            assert.strictEqual(yield* statusOf(reopened.entryId), "waiting")
          })
      )

      it.effect("a review that finishes before its worker is notified is done", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const { lease } = yield* running({ number: 5, head: "a" })
          yield* queue.cancel(toTarget(5), verbatimReason("closed"))
          assert.isTrue(yield* queue.finish(lease, { _tag: "Done" }))
          assert.deepInclude(yield* found(lease.entryId), { status: "done", cancelRequested: undefined })
        })
      )
    })

    layer(store())("expiry", (it) => {
      it.effect("ends what may expire and waits for too long, not what is ready or runs", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const automatic = { head: "a", admittedAt: 10, priority: 20 }
          const old = yield* one({ number: 2, ...automatic })
          const pull = yield* one({ number: 5, head: "a", admittedAt: 10 })
          const chat = yield* one({ number: 6, head: "a", admittedAt: 10, priority: 0, expires: true })
          const kept = yield* one({ number: 7, ...automatic, expires: false })
          const ready = yield* one({ number: 3, ...automatic })
          yield* queue.promote([ready.entryId], 100)
          const young = yield* one({ number: 4, ...automatic, admittedAt: 20 })
          const asked = yield* one({ number: 8, ...automatic })
          yield* one({ number: 8, head: "a", priority: 0, admittedAt: 15 })
          const expired = yield* queue.expire(before(20), { _tag: "QueuedTimeout" })
          assert.sameDeepMembers(
            expired.map((entry) => [entry.id, entry.status, entry.reason]),
            [old, chat].map(({ entryId }) => [entryId, "expired", { _tag: "QueuedTimeout" } as const])
          )
          assert.strictEqual(yield* statusOf(ready.entryId), "ready")
          for (const { entryId } of [pull, kept, young, asked]) assert.strictEqual(yield* statusOf(entryId), "waiting")
          // It may expire again after its ticket was lost.
          yield* queue.demote([ready.entryId])
          assert.strictEqual((yield* queue.expire(before(20), { _tag: "QueuedTimeout" })).length, 1)
        })
      )
    })

    layer(store())("expiry by workspace", (it) => {
      it.effect("goes by the time of each, of which some never expire", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const admit = (workspace: string, count: number, admittedAt: number) =>
            Effect.map(
              queue.admit(
                Array.from({ length: count }, (_, number) =>
                  admission({ workspace, number, admittedAt, dueAt: 9000, priority: 20 })
                )
              ),
              (all) => all.map(({ entryId }) => entryId)
            )
          // More than one page of entries that remain, in front of those that expire.
          const never = yield* admit("never", 700, 1)
          const long = yield* admit("long", 2, 5)
          const short = yield* admit("short", 2, 2000)
          const other = [...(yield* admit("other", 1, 20)), ...(yield* admit("gone", 1, 21))]
          const expire = (
            workspaces: ReadonlyArray<readonly [string, number | undefined]>,
            others: number | undefined
          ) =>
            Effect.map(
              queue.expire({ workspaces: new Map(workspaces), others }, { _tag: "QueuedTimeout" }),
              (expired) => expired.map(({ id }) => id)
            )
          assert.deepStrictEqual(yield* expire([], undefined), [])
          const limits = [
            ["never", undefined],
            ["long", 5],
            ["short", 2001]
          ] as const
          assert.sameMembers([...(yield* expire(limits, 21))], [...short, ...other.slice(0, 1)])
          for (const id of [...long, ...other.slice(1)]) assert.strictEqual(yield* statusOf(id), "waiting")
          // A change of the limits also applies to waiting entries.
          assert.sameMembers([...(yield* expire([["never", 2]], undefined))], never)
          assert.sameMembers([...(yield* expire([["gone", undefined]], 6))], long)
          assert.strictEqual((yield* queue.stats).oldestWaiting, 21)
        })
      )
    })

    layer(store())("operators", (it) => {
      it.effect("cancel one entry, whatever it does", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const control = yield* QueueControl
          const { lease } = yield* running({ number: 1, head: "a" })
          const next = yield* one({ number: 1, head: "b" })
          const first = yield* control.cancelEntry(next.entryId, verbatimReason("not now"))
          assert.deepStrictEqual(first, { ended: [yield* found(next.entryId)], stopping: [] })
          const second = yield* control.cancelEntry(lease.entryId, verbatimReason("not now"))
          assert.deepStrictEqual(second, { ended: [], stopping: [yield* found(lease.entryId)] })
          assert.deepStrictEqual(yield* queue.renew(lease, 500), {
            _tag: "Cancelled",
            reason: verbatimReason("not now")
          })
          for (const id of [next.entryId, "none"])
            assert.deepStrictEqual(yield* control.cancelEntry(id, verbatimReason("again")), nothingCancelled)
        })
      )

      it.effect("replace the texts of ended entries only, and remove what stores keep of them", () =>
        Effect.gen(function* () {
          const control = yield* QueueControl
          const item = admission({ number: 901, workspace: "erased" })
          const change = { ...item.change, title: "Words of a person", author: { username: "alice" } }
          const ended = yield* admitted({ ...item, change })
          yield* control.cancelEntry(ended.entryId, verbatimReason("Words of a person"))
          const waiting = yield* admitted({
            ...admission({ number: 902, workspace: "erased" }),
            change: { ...change, target: { kind: "pull_request", number: 902 } }
          })
          const erased = [ended, waiting].map(({ entryId: id }) => ({
            id,
            change: { ...change, title: "[erased]", author: { username: "erased:person" } },
            reason: undefined
          }))
          assert.strictEqual(yield* control.replaceEnded(erased), 1)
          yield* TestClock.withLive(control.compact)
          const entry = yield* found(ended.entryId)
          assert.deepInclude(entry, { status: "cancelled", reason: undefined })
          assert.deepInclude(entry.change, { title: "[erased]", author: { username: "erased:person" } })
          assert.strictEqual((yield* found(waiting.entryId)).change.title, "Words of a person")
          // It may be repeated, also where nothing was appended since.
          yield* TestClock.withLive(control.compact)
        })
      )

      it.effect("try a dead entry again, with all its attempts before it", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const control = yield* QueueControl
          const { lease } = yield* running({ number: 2, head: "a" })
          assert.strictEqual(yield* control.retry(lease.entryId, 400), "not_dead")
          assert.strictEqual(yield* control.retry("none", 400), "unknown")
          yield* queue.finish(lease, { _tag: "Dead", reason: verbatimReason("3 attempts") })
          const newer = yield* one({ number: 2, head: "b" })
          assert.strictEqual(yield* control.retry(lease.entryId, 400), "newer")
          yield* queue.cancel(toTarget(2), verbatimReason("closed"))
          assert.strictEqual(yield* statusOf(newer.entryId), "cancelled")
          assert.strictEqual(yield* control.retry(lease.entryId, 400), "retried")
          assert.deepInclude(yield* found(lease.entryId), {
            status: "waiting",
            dueAt: 400,
            attempts: 0,
            losses: 0,
            token: LeaseToken.make(1)
          })
          assert.strictEqual(yield* control.retry(lease.entryId, 400), "not_dead")
          assert.deepStrictEqual(yield* queue.promote([lease.entryId], 400), [lease.entryId])
          assert.strictEqual((yield* claim(lease.entryId)).lease.token, 2)
        })
      )

      it.effect("pause and resume, which lasts and is seen", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const control = yield* QueueControl
          const pause = {
            scope: "workspace",
            name: "app",
            reason: verbatimReason("ada: too noisy"),
            since: 100
          } as const
          yield* control.pause({ ...pause, reason: verbatimReason("first") })
          yield* control.pause(pause)
          yield* control.pause({ ...pause, scope: "node", name: "n1" })
          assert.sameDeepMembers([...(yield* control.pauses)], [pause, { ...pause, scope: "node", name: "n1" }])
          assert.isTrue((yield* queue.loadSnapshot("app", 100, 1)).paused)
          assert.isFalse((yield* queue.loadSnapshot("n1", 100, 1)).paused)
          yield* control.resume("workspace", "app")
          yield* control.resume("workspace", "none")
          assert.isFalse((yield* queue.loadSnapshot("app", 100, 1)).paused)
          yield* control.resume("node", "n1")
          assert.deepStrictEqual(yield* control.pauses, [])
        })
      )

      it.effect("pauses are shown to who watches them: at the beginning, and after each change", () =>
        Effect.gen(function* () {
          const control = yield* QueueControl
          const shown: Array<string> = []
          const note = (pauses: ReadonlyArray<Pause>) =>
            Effect.sync(() => void shown.push(pauses.map((paused) => paused.name).join()))
          const shows = (names: string) =>
            Effect.promise(() => waitUntil(() => shown.at(-1) === names, { describe: () => shown.join(" then ") }))
          const pause = { scope: "workspace", reason: verbatimReason("r"), since: 100 } as const
          yield* control.pause({ ...pause, name: "first" })
          const watching = yield* Effect.forkChild(Stream.runForEach(control.watchPauses, note))
          yield* shows("first")
          yield* control.pause({ ...pause, name: "second" })
          yield* shows("first,second")
          yield* control.resume("workspace", "first")
          yield* shows("second")
          yield* control.resume("workspace", "second")
          yield* shows("")
          yield* Fiber.interrupt(watching)
        })
      )
    })

    layer(store())("lost workers", (it) => {
      it.effect("make an entry dead when there are too many of them, and another try forgets them", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const control = yield* QueueControl
          const { entryId } = yield* one({ number: 1, head: "a" })
          const lose = Effect.gen(function* () {
            yield* queue.promote([entryId], 200)
            yield* claim(entryId, "node/1", 200)
            return yield* queue.reclaim(200, () => true)
          })
          for (let losses = 1; losses < maxLosses; losses++)
            assert.deepInclude((yield* lose)[0], { status: "waiting", losses, attempts: 0 })
          const [dead] = yield* lose
          assert.deepStrictEqual(dead, yield* found(entryId))
          assert.deepInclude(dead, { status: "dead", losses: maxLosses, owner: undefined })
          assert.deepStrictEqual(dead?.reason, { _tag: "WorkerLost", count: maxLosses })
          yield* control.retry(entryId, 200)
          assert.deepInclude((yield* lose)[0], { status: "waiting", losses: 1 })
        })
      )
    })

    layer(store())("survey", (it) => {
      it.effect("shows what is out, the first due of each repository and priority, and the next due time", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const of = (repo: string, number: number, over: Partial<QueueAdmission> = {}) => {
            const item = admission({ number, head: "a", admittedAt: 50 + number, ...over })
            return { ...item, change: { ...item.change, repo: { fullName: repo } } }
          }
          const admissions = [
            of("acme/busy", 1),
            of("acme/busy", 2),
            of("acme/Busy", 3),
            of("acme/busy", 4),
            of("acme/calm", 5),
            of("acme/calm", 6, { priority: 20 }),
            of("acme/calm", 7, { dueAt: 500 }),
            of("acme/calm", 8, { dueAt: 300 })
          ]
          const entries = yield* queue.admit(admissions)
          const idOf = (number: number) => entries[number - 1]?.entryId ?? ""
          const numbers = (some: ReadonlyArray<{ readonly id: string }>) =>
            some.map(({ id }) => entries.findIndex(({ entryId }) => entryId === id) + 1)
          yield* queue.promote([idOf(1)], 100)
          const { lease } = yield* claim(idOf(1))
          const next = yield* queue.admit([
            { ...of("acme/busy", 1, { admittedAt: 1 }), change: { ...of("acme/busy", 1).change, head: "b" } }
          ])
          const first = yield* queue.loadSnapshot("app", 100, 2)
          assert.deepStrictEqual(numbers(first.inFlight), [1])
          assert.deepInclude(first.inFlight[0], { status: "running", repo: "acme/busy", priority: 10 })
          assert.includeMembers(numbers(first.eligible), [2, 5])
          assert.notIncludeMembers(numbers(first.eligible), [7, 8, 0])
          assert.strictEqual(first.nextAt, 300)
          assert.deepStrictEqual((yield* queue.loadSnapshot("app", 100, 1)).inFlight.length, 1)
          const all = yield* queue.loadSnapshot("app", 300, 50)
          assert.sameMembers(numbers(all.eligible), [2, 3, 4, 5, 6, 8])
          assert.strictEqual(all.nextAt, 500)
          // Setting the clock back makes no entry due.
          const back = yield* queue.loadSnapshot("app", 299, 50)
          assert.sameMembers(numbers(back.eligible), [2, 3, 4, 5, 6])
          assert.strictEqual(back.nextAt, 300)
          yield* queue.finish(lease, { _tag: "Done" })
          const freed = yield* queue.loadSnapshot("app", 299, 1)
          assert.deepStrictEqual(freed.inFlight, [])
          assert.include(
            freed.eligible.map(({ id }) => id),
            next[0]?.entryId
          )
          assert.deepStrictEqual(yield* queue.loadSnapshot("none", 100, 2), {
            paused: false,
            inFlight: [],
            eligible: [],
            nextAt: undefined
          })
        })
      )
    })

    layer(store())("list", (it) => {
      it.effect("pages through entries by workspace, target and status, in order of creation", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const control = yield* QueueControl
          const answers = yield* queue.admit(
            Array.from({ length: 25 }, (_, number) =>
              admission({ number, head: "a", workspace: number % 2 === 0 ? "even" : "odd" })
            )
          )
          yield* queue.cancel(toTarget(0, "even"), verbatimReason("closed"))
          const pages = (filter: Omit<ListFilter, "limit" | "after">) =>
            Effect.gen(function* () {
              const seen: Array<string> = []
              for (let after: string | undefined; ;) {
                const page = yield* control.list({ ...filter, after, limit: 4 })
                assert.isAtMost(page.entries.length, 4)
                seen.push(...page.entries.map(({ id }) => id))
                after = page.next
                if (after === undefined) return seen
              }
            })
          const ids = answers.map(({ entryId }) => entryId)
          assert.deepStrictEqual(yield* pages({}), ids)
          const even = ids.filter((_, number) => number % 2 === 0)
          assert.deepStrictEqual(yield* pages({ workspace: "even" }), even)
          assert.deepStrictEqual(yield* pages({ workspace: "even", statuses: ["waiting", "ready"] }), even.slice(1))
          assert.deepStrictEqual(yield* pages({ statuses: ["cancelled", "dead"] }), even.slice(0, 1))
          assert.deepStrictEqual(yield* pages({ targetKey: toTarget(3, "odd") }), ids.slice(3, 4))
          assert.deepStrictEqual(yield* pages({ workspace: "none" }), [])
          assert.deepStrictEqual(yield* pages({ newestFirst: true }), ids.toReversed())
          assert.deepStrictEqual(yield* pages({ newestFirst: true, workspace: "even" }), even.toReversed())
        })
      )
    })

    layer(store())("overview", (it) => {
      it.effect("workspaces with active entries, and counts", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          assert.deepStrictEqual(yield* queue.workspaces, [])
          yield* queue.admit([
            admission({ number: 1, workspace: "b", admittedAt: 70 }),
            admission({ number: 1, workspace: "a" }),
            admission({ number: 2, workspace: "b", admittedAt: 60 }),
            admission({ number: 1, workspace: "c" })
          ])
          yield* queue.cancel(toTarget(1, "c"), verbatimReason("closed"))
          const { entry } = yield* running({ number: 9, workspace: "d" })
          assert.sameMembers([...(yield* queue.workspaces)], ["a", "b", "d"])
          const { byStatus, oldestWaiting } = yield* queue.stats
          assert.deepInclude(byStatus, { waiting: 3, ready: 0, running: 1, cancelled: 1, done: 0 })
          assert.strictEqual(oldestWaiting, 60)
          assert.deepStrictEqual(yield* queue.load("d"), [entry])
        })
      )
      it.effect("the oldest that waits: while it waits, and again when it waits again", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const oldest = Effect.map(queue.stats, ({ oldestWaiting }) => oldestWaiting)
          const [first] = yield* queue.admit([
            admission({ number: 1, workspace: "o", admittedAt: 20, dueAt: 20 }),
            admission({ number: 2, workspace: "o", admittedAt: 30, dueAt: 30 })
          ])
          assert.strictEqual(yield* oldest, 20)
          yield* queue.promote([first?.entryId ?? ""], 100)
          assert.strictEqual(yield* oldest, 30)
          yield* queue.demote([first?.entryId ?? ""])
          assert.strictEqual(yield* oldest, 20)
          yield* queue.cancel(toTarget(1, "o"), verbatimReason("closed"))
          assert.strictEqual(yield* oldest, 30)
          // The newer head keeps the position of the one that it replaces.
          yield* queue.admit([admission({ number: 2, workspace: "o", head: "a".repeat(40), admittedAt: 40 })])
          assert.strictEqual(yield* oldest, 30)
        })
      )
    })

    layer(store())("prune", (it) => {
      it.effect("forgets ended entries by age and by count, and their events", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const items = [10, 20, 30, 40].map((admittedAt, number) =>
            admission({ number, head: "a", admittedAt, dueAt: admittedAt })
          )
          const answers = yield* queue.admit([...items, admission({ number: 9, admittedAt: 1 })])
          for (const number of [0, 1, 2, 3]) yield* queue.cancel(toTarget(number), verbatimReason("closed"))
          assert.strictEqual(yield* queue.prune({ maxCount: 100, before: 20 }), 1)
          assert.strictEqual(yield* queue.prune({ maxCount: 2, before: 0 }), 1)
          const left = yield* Effect.forEach(answers, ({ entryId }) => statusOf(entryId))
          assert.deepStrictEqual(left, [undefined, undefined, "cancelled", "cancelled", "waiting"])
          assert.deepInclude((yield* queue.stats).byStatus, { cancelled: 2, waiting: 1 })
          const again = yield* queue.admit(items)
          assert.deepStrictEqual(
            again.map((answer) => answer.status),
            ["queued", "queued", "duplicate", "duplicate"]
          )
        })
      )
    })

    layer(store())("prune", (it) => {
      it.effect("in steps, when there are many", () =>
        Effect.gen(function* () {
          const queue = yield* Queue
          const items = Array.from({ length: 2500 }, (_, number) =>
            admission({ number: 100 + number, admittedAt: number, priority: 20, workspace: "many" })
          )
          yield* queue.admit(items)
          yield* queue.expire(before(10_000), { _tag: "QueuedTimeout" })
          assert.strictEqual(yield* queue.prune({ maxCount: 100, before: 10 }), 2400)
          assert.strictEqual((yield* queue.stats).byStatus.expired, 100)
          assert.strictEqual((yield* admitted(admission({ ...items[2499] }))).status, "duplicate")
        })
      )
    })
  })
}
