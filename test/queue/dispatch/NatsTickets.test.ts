/** Messages between nodes about work, on a real bus: tickets, cancellations, progress, and lost processes. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Result, Stream } from "effect"
import { v7 } from "uuid"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { NatsConnection } from "../../../nats/NatsConnection.ts"
import { NatsEvents } from "../../../nats/NatsEvents.ts"
import { NatsNodes } from "../../../nats/NatsNodes.ts"
import { natsSettings } from "../../../nats/NatsSettings.ts"
import { presenceSubject } from "../../../nats/NatsSubjects.ts"
import { TargetKey } from "../../../src/domain/Keys.ts"
import { LiveNodes } from "../../../src/domain/LiveNodes.ts"
import { NodeIdentity } from "../../../src/domain/NodeIdentity.ts"
import * as NatsProgress from "../../../src/observability/cluster/NatsProgress.ts"
import { Progress } from "../../../src/observability/Progress.ts"
import type { ProgressEvent } from "../../../src/observability/Progress.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import { Cancellations } from "../../../src/queue/dispatch/Cancellations.ts"
import * as NatsCancellations from "../../../src/queue/dispatch/NatsCancellations.ts"
import * as NatsLiveNodes from "../../../src/queue/dispatch/NatsLiveNodes.ts"
import * as NatsNewerHeads from "../../../src/queue/dispatch/NatsNewerHeads.ts"
import { NewerHeads } from "../../../src/queue/dispatch/NewerHeads.ts"
import * as NatsTickets from "../../../src/queue/dispatch/NatsTickets.ts"
import { Tickets } from "../../../src/queue/dispatch/Tickets.ts"
import type { WorkKind } from "../../../src/queue/dispatch/Tickets.ts"
import { Heartbeats } from "../../../src/store/Heartbeats.ts"
import { CutLine } from "../../harness/CutLine.ts"
import { NatsServer } from "../../harness/Nats.ts"

class Bus extends Context.Service<Bus, { readonly line: CutLine }>()("test/Bus") {
  static readonly layer = Layer.effect(
    Bus,
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => NatsServer.start()),
        (started) => Effect.promise(() => started[Symbol.asyncDispose]())
      )
      const line = yield* Effect.acquireRelease(
        Effect.promise(() => CutLine.to({ host: "127.0.0.1", port: server.port })),
        (made) => Effect.promise(() => made[Symbol.asyncDispose]())
      )
      return { line }
    })
  )
}

const steadyMillis = 1500

/** Heartbeats of all nodes. Those of `stopped` are old. */
const beaten = new Map<string, number>()
const stopped = new Set<string>()
const heartbeats = Heartbeats.of({
  beat: (owner, now) =>
    Effect.sync(() => {
      beaten.set(owner, now)
      return [...beaten].flatMap(([other, seenAt]) =>
        other === owner ? [] : [{ owner: other, seenAt: stopped.has(other) ? 0 : seenAt }]
      )
    }),
  remove: (owner) => Effect.sync(() => void beaten.delete(owner))
})

/** A node as the cluster wires it, for as long as the scope is open. */
const node = Effect.fnUntraced(function* (name: string) {
  const { line } = yield* Bus
  const settings = Result.getOrThrow(natsSettings({ SVC_NATS_URL: `nats://127.0.0.1:${line.port}` }))
  assert(settings !== undefined)
  const presence = Layer.unwrap(
    Effect.map(NodeIdentity, ({ owner }) =>
      NatsNodes.layer({ name, roles: ["executor"], version: "0", startedAt: 0, more: { owner } }, owner)
    )
  )
  return yield* Layer.build(
    Layer.fresh(
      Layer.mergeAll(
        NatsTickets.layer,
        NatsCancellations.layer,
        NatsNewerHeads.layer,
        NatsProgress.layer,
        NatsLiveNodes.layerWith({ steadyMillis })
      ).pipe(
        Layer.provideMerge(presence),
        Layer.provideMerge(NatsEvents.layer),
        Layer.provideMerge(NatsConnection.layer({ settings, name })),
        Layer.provideMerge(NodeIdentity.layer(name)),
        Layer.provideMerge(Layer.succeed(Heartbeats, heartbeats))
      )
    )
  )
})

const at = <I, S, A, E>(
  context: Context.Context<I>,
  service: Context.Key<I, S>,
  use: (service: S) => Effect.Effect<A, E>
) => use(Context.get(context, service))

describe("between nodes", () => {
  layer(Bus.layer, { excludeTestServices: true })((it) => {
    it.effect("a ticket goes to one node, to the next if it is not claimed, and to none once it is", () =>
      Effect.gen(function* () {
        const [a, b] = [yield* node("a"), yield* node("b")]
        yield* at(a, Tickets, ({ offer }) => offer({ entryId: "e1", workspace: "w", kind: "review" }))
        yield* at(a, Tickets, ({ offer }) => offer({ entryId: "e1", workspace: "w", kind: "review" }))
        const taken = yield* at(b, Tickets, ({ take }) => take("review"))
        assert.deepInclude(taken, { entryId: "e1", workspace: "w" })
        // Neither claimed nor released: the taker is gone.
        const next = yield* at(a, Tickets, ({ take }) => Effect.timeout(take("review"), "15 seconds"))
        assert.strictEqual(next.entryId, "e1")
        yield* next.again
        const last = yield* at(b, Tickets, ({ take }) => Effect.timeout(take("review"), "4 seconds"))
        yield* last.claimed
        yield* at(b, Tickets, ({ offer }) => offer({ entryId: "e2", workspace: "w", kind: "review" }))
        const other = yield* at(a, Tickets, ({ take }) => Effect.timeout(take("review"), "4 seconds"))
        assert.strictEqual(other.entryId, "e2")
        yield* other.claimed
      }).pipe(Effect.scoped)
    )

    it.effect("a ticket of a reply does not wait behind tickets of reviews", () =>
      Effect.gen(function* () {
        const [a, b] = [yield* node("a"), yield* node("b")]
        const offer = (entryId: string, kind: WorkKind) =>
          at(a, Tickets, (tickets) => tickets.offer({ entryId, workspace: "w", kind }))
        yield* offer("review-1", "review")
        yield* offer("reply-1", "reply")
        const reply = yield* at(b, Tickets, ({ take }) => Effect.timeout(take("reply"), "4 seconds"))
        assert.deepInclude(reply, { entryId: "reply-1", workspace: "w", kind: "reply" })
        yield* reply.claimed
        const review = yield* at(b, Tickets, ({ take }) => Effect.timeout(take("review"), "4 seconds"))
        assert.deepInclude(review, { entryId: "review-1", kind: "review" })
        yield* review.claimed
      }).pipe(Effect.scoped)
    )

    it.effect("what is cancelled on one node ends on another", () =>
      Effect.gen(function* () {
        const [a, b] = [yield* node("a"), yield* node("b")]
        const reported = yield* Context.get(b, Cancellations).listen("e1")
        yield* at(a, Cancellations, ({ notify }) => notify("e2", verbatimReason("another")))
        yield* at(a, Cancellations, ({ notify }) => notify("e1", verbatimReason("not wanted")))
        assert.deepStrictEqual(
          yield* Effect.timeout(Deferred.await(reported), "5 seconds"),
          verbatimReason("not wanted")
        )
      }).pipe(Effect.scoped)
    )

    it.effect("a newer head that one node received is noticed by the review on another", () =>
      Effect.gen(function* () {
        const [a, b] = [yield* node("a"), yield* node("b")]
        const next = yield* Context.get(b, NewerHeads).listen(TargetKey.make("t:acme/app:pull_request:7"))
        yield* at(a, NewerHeads, ({ notify }) => notify(TargetKey.make("t:acme/app:pull_request:8"), "other"))
        yield* at(a, NewerHeads, ({ notify }) => notify(TargetKey.make("t:acme/app:pull_request:7"), "newest"))
        assert.strictEqual(yield* Effect.timeout(next, "5 seconds"), "newest")
      }).pipe(Effect.scoped)
    )

    it.effect("progress of one node is seen on another, and once on its own", () =>
      Effect.gen(function* () {
        const [a, b] = [yield* node("a"), yield* node("b")]
        const [onA, onB]: [Array<string | undefined>, Array<string | undefined>] = [[], []]
        for (const [context, seen] of [
          [a, onA],
          [b, onB]
        ] as const) {
          const { events } = Context.get(context, Progress)
          yield* Effect.forkChild(Stream.runForEach(events, ({ runId }) => Effect.sync(() => seen.push(runId))))
        }
        const notify = (context: typeof a, runId: string) =>
          at(context, Progress, (progress) =>
            progress.publish({ _tag: "Started", workspace: "w", targetKey: TargetKey.make("t"), runId, head: "h" })
          )
        // The bus propagates a new subscription with a delay.
        while (!onA.includes("b") || !onB.includes("a")) {
          yield* notify(a, "a")
          yield* notify(b, "b")
          yield* Effect.sleep("20 millis")
        }
        yield* notify(a, "once")
        while (!onB.includes("once")) yield* Effect.sleep("5 millis")
        yield* notify(b, "last")
        while (!onA.includes("last")) yield* Effect.sleep("5 millis")
        for (const seen of [onA, onB]) assert.deepStrictEqual(seen.slice(-2), ["once", "last"])
      }).pipe(Effect.scoped)
    )

    it.effect("the bus carries how many problems a review found, and none of them", () =>
      Effect.gen(function* () {
        const [a, b] = [yield* node("a"), yield* node("b")]
        const seen: Array<ProgressEvent> = []
        const { events } = Context.get(b, Progress)
        yield* Effect.forkChild(Stream.runForEach(events, (event) => Effect.sync(() => seen.push(event))))
        const finding: Finding = {
          fingerprint: "f",
          problem: { file: "src/private.ts", severity: "high", category: "bug", message: "quotes private code" }
        }
        while (seen.length === 0) {
          yield* at(a, Progress, (progress) =>
            progress.publish({
              _tag: "Analysed",
              workspace: "w",
              targetKey: TargetKey.make("t"),
              runId: "r",
              problems: 1,
              findings: [finding],
              models: ["m"]
            })
          )
          yield* Effect.sleep("20 millis")
        }
        assert.deepInclude(seen[0], { _tag: "Analysed", runId: "r", problems: 1, findings: undefined })
      }).pipe(Effect.scoped)
    )

    it.effect("a node that is not on the list is lost, unless it has just started or the bus is unstable", () =>
      Effect.gen(function* () {
        const { line } = yield* Bus
        const gone = `c/${v7({ msecs: Date.now() - 60_000 })}`
        const a = yield* node("a")
        // It has only just started to observe the bus.
        assert.isFalse((yield* Context.get(a, LiveNodes).lost)(gone))
        const b = yield* node("b")
        const { owner: alive } = Context.get(b, NodeIdentity)
        const young = `d/${v7()}`
        const verdicts = Effect.map(Context.get(a, LiveNodes).lost, (lost) => [gone, alive, young].map(lost))
        const steady = Effect.gen(function* () {
          while (!(yield* verdicts)[0]) yield* Effect.sleep("50 millis")
          return yield* verdicts
        })
        assert.deepStrictEqual(yield* Effect.timeout(steady, "10 seconds"), [true, false, false])
        line.cut()
        while ((yield* Context.get(a, NatsConnection).status).connected) yield* Effect.sleep("20 millis")
        assert.deepStrictEqual(yield* verdicts, [false, false, false])
        line.mend()
        while (!(yield* Context.get(a, NatsConnection).status).connected) yield* Effect.sleep("20 millis")
        assert.deepStrictEqual(yield* verdicts, [false, false, false])
        assert.deepStrictEqual(yield* Effect.timeout(steady, "10 seconds"), [true, false, false])
      }).pipe(Effect.scoped)
    )

    it.effect("a node that stops in order is no longer on the list", () =>
      Effect.gen(function* () {
        const a = yield* node("a")
        const names = Effect.map(Context.get(a, NatsNodes).list, (nodes) => nodes.map(({ name }) => name))
        const both = yield* Effect.scoped(Effect.andThen(node("leaves"), names))
        assert.deepStrictEqual([both, yield* names], [["a", "leaves"], ["a"]])
      }).pipe(Effect.scoped)
    )

    it.effect("a process has ended if neither the bus nor its heartbeat shows it, and not if only one is missing", () =>
      Effect.gen(function* () {
        const a = yield* node("a")
        const b = yield* node("b")
        const { owner: late } = Context.get(b, NodeIdentity)
        const [ended, cutOff, frozen] = [`c/${v7()}`, `d/${v7()}`, `e/${v7()}`]
        for (const owner of [late, ended, frozen]) stopped.add(owner)
        for (const owner of [ended, frozen]) beaten.set(owner, 0)
        const { prefix, raw } = Context.get(a, NatsConnection)
        // It is connected, and does not respond.
        const subscription = raw.subscribe(presenceSubject(prefix, frozen), { callback: () => {} })
        yield* Effect.addFinalizer(() => Effect.sync(() => subscription.unsubscribe()))
        yield* Effect.promise(() => raw.request(presenceSubject(prefix, late), "", { timeout: 5000 }))
        const beating = Effect.forever(
          Effect.andThen(
            Effect.sync(() => beaten.set(cutOff, Date.now())),
            Effect.sleep("100 millis")
          )
        )
        yield* Effect.forkScoped(beating)
        const live = Context.get(a, LiveNodes)
        while ((yield* live.gone).size === 0) yield* Effect.sleep("20 millis")
        assert.deepStrictEqual([...(yield* live.gone)], [ended])
        assert.deepStrictEqual([ended, late, cutOff, frozen].map(yield* live.lost), [true, false, false, false])
        // Later heartbeats change nothing.
        const before = beaten.get(Context.get(a, NodeIdentity).owner) ?? 0
        while ((beaten.get(Context.get(a, NodeIdentity).owner) ?? 0) < before + 2000) yield* Effect.sleep("20 millis")
        assert.deepStrictEqual([...(yield* live.gone)], [ended])
      }).pipe(Effect.scoped)
    )
  })
})
