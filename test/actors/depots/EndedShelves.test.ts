/** Shelves that no longer exist get the end of their change once, from a search of their server, and their findings its outcome. */
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { routeDeleted, searchShelves } from "../../../actors/depots/EndedShelves.ts"
import { readEndedShelf } from "../../../actors/outcomes/EndedShelf.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import { settleOutcome } from "../../../src/domain/FindingOutcome.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { Outcomes } from "../../../src/store/Outcomes.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { Settlements } from "../../../src/store/Settlements.ts"
import { CheckoutError, Vcs } from "../../../src/vcs/Checkout.ts"
import { SubmittedChanges } from "../../../src/vcs/SubmittedChanges.ts"
import type { EndedShelf, ShelvesRequest } from "../../../src/vcs/SubmittedChanges.ts"
import { actorStores } from "../../harness/ActorParts.ts"
import { analysis } from "../../store/Fixtures.ts"
import { routingReceipt } from "../../store/Fixtures.ts"
import { publishing } from "../../store/Outcomes.ts"

const document = {
  triggers: [{ name: "main", kind: "perforce", port: "p4.test:1666", user: "reviewer", depot_path: "//Ace/..." }],
  workspaces: { instances: { app: { source_repo: { trigger: "main", repo: "//Ace/main/..." } } } }
}

const requests: Array<Omit<ShelvesRequest, "server">> = []
let ended: ReadonlyArray<EndedShelf> = []
let failure: CheckoutError | undefined
const servers = Layer.mock(SubmittedChanges, {
  endedShelves: ({ branches, changelists }) =>
    Effect.suspend(() => {
      requests.push({ branches, changelists })
      return failure === undefined ? Effect.succeed(ended) : Effect.fail(failure)
    })
})
/** Reads of open shelves, and writes of their ends. */
const calls = { reads: 0, writes: 0 }
const counted = Layer.effectContext(
  Effect.gen(function* () {
    const [receipts, settlements] = [yield* Receipts, yield* Settlements]
    const count = (name: keyof typeof calls) => Effect.sync(() => void calls[name]++)
    return Context.make(
      Receipts,
      Receipts.of({ ...receipts, storeAll: (all) => Effect.andThen(count("writes"), receipts.storeAll(all)) })
    ).pipe(
      Context.add(
        Settlements,
        Settlements.of({
          ...settlements,
          openShelves: (...named) => Effect.andThen(count("reads"), settlements.openShelves(...named))
        })
      )
    )
  })
)
/** The end of a deleted shelf needs no server. */
const unused = Layer.mock(Vcs, {})
const configuration = Layer.unwrap(Effect.map(toSnapshot(document, {}), layerStatic))
const world = Layer.mergeAll(Layer.provideMerge(counted, actorStores()), configuration, servers, unused)

const search = Effect.gen(function* () {
  const trigger = (yield* ConfigStore).current().triggers.get("main") ?? (yield* Effect.die("no trigger"))
  return yield* searchShelves({ occasion: "beat", trigger })
})

/** Routes reports that shelves are deleted, together. */
const deletedAll = Effect.fnUntraced(function* (revisions: ReadonlyArray<string>) {
  const snapshot = (yield* ConfigStore).current()
  const trigger = snapshot.triggers.get("main") ?? (yield* Effect.die("no trigger"))
  const reports = revisions.map((revision) => {
    const routing = { vcs: "perforce", revision, files: [], isShelfDeleted: true } as const
    return { event: { ...routingReceipt(routing), duplicates: 0 }, routing, triggers: [trigger] }
  })
  const routed = yield* routeDeleted(reports, snapshot)
  return reports.map(({ event }) => routed.get(event.id))
})

const deleted = (revision: string) => Effect.flatMap(deletedAll([revision]), ([routed]) => Effect.fromNullishOr(routed))

/** Publishes a review of a shelf with one finding. */
const reviewed = Effect.fnUntraced(function* (number: number, head: string) {
  const options = {
    findings: analysis.findings,
    kind: "commit",
    provider: "perforce",
    head: `${number}-${head}`
  } as const
  const run = yield* publishing(number, LeaseToken.make(1), options)
  yield* (yield* Runs).settle(run.id, "succeeded", { partial: false, by: { agent: "native-llm", maxProblems: 50 } }, 10)
  return run.targetKey
})

const ends = Effect.map(
  Receipts.use((receipts) => receipts.list({ reason: "closed", limit: 100 })),
  (events) => events.map(({ action, event, facts, rule }) => ({ action, event, ...facts, rule: rule?._tag }))
)

/** Decides about deleted shelves. */
const settleAll = Effect.gen(function* () {
  const settlements = yield* Settlements
  const snapshot = (yield* ConfigStore).current()
  const now = yield* Clock.currentTimeMillis
  const claim = { owner: "one", gone: new Set<string>(), now, until: now + 1000, since: 0, limit: 8 }
  for (const end of yield* settlements.claim(claim)) {
    if (end.head !== undefined) continue
    const read = yield* readEndedShelf(end, snapshot, yield* settlements.undecided(end))
    if (read === undefined) return assert.fail("configured")
    const { change, records, states } = read
    const outcomes = records.map((one, at) => settleOutcome(one, states[at] ?? one.outcome, change, now))
    yield* settlements.settle(end, outcomes, now)
  }
})

layer(world)("shelves", (t) => {
  t.effect("are searched for while they have findings without an outcome, and end once", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_000_000)
      assert.isUndefined(yield* search)
      assert.deepStrictEqual(requests, [])
      const target = yield* reviewed(12, "0123456789ab")
      yield* reviewed(13, "0123456789ab")
      assert.isUndefined(yield* search)
      assert.deepStrictEqual(requests, [{ branches: ["//Ace/main"], changelists: ["12", "13"] }])
      assert.deepStrictEqual(yield* ends, [])

      failure = new CheckoutError({ reason: "unreachable", why: { _tag: "ServerSlow", seconds: 1 } })
      const why = yield* search
      assert.include(why && inEnglish(why), "main")
      assert.deepStrictEqual(yield* ends, [])

      failure = undefined
      ended = [{ changelist: "12", submittedAs: undefined }]
      yield* search
      yield* search
      const end = { number: 12, head: undefined, branch: "//Ace/main", event: "catch_up", action: "beat" }
      const found = yield* ends
      assert.lengthOf(found, 1)
      assert.deepInclude(found[0], { ...end, rule: "FoundWithoutReport" })
      yield* TestClock.adjust(1000)
      yield* settleAll
      const [outcome] = yield* Outcomes.use(({ ofTarget }) => ofTarget(target))
      assert.deepInclude(outcome, { outcome: "open", settled: "closed", head: "12-0123456789ab" })

      requests.length = 0
      ended = []
      yield* search
      assert.deepStrictEqual(requests, [{ branches: ["//Ace/main"], changelists: ["13"] }])
    })
  )

  t.effect("that were submitted without a report end at their submit", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(2_000_000)
      yield* reviewed(20, "0123456789ab")
      ended = [{ changelist: "20", submittedAs: "25" }]
      yield* search
      yield* search
      const submitted = (yield* ends).filter(({ number }) => number === 20)
      assert.lengthOf(submitted, 1)
      assert.deepInclude(submitted[0], { head: "25", branch: "//Ace/main" })
      const [end] = yield* Settlements.use(({ claim }) =>
        claim({ owner: "two", gone: new Set(), now: 2_000_001, until: 2_001_000, since: 0, limit: 8 })
      )
      assert.deepInclude(end, { number: 20, head: "25" })
    })
  )

  t.effect("end with the report of their trigger, once the server has deleted them", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(3_000_000)
      const target = yield* reviewed(30, "0123456789ab")
      requests.length = 0
      ended = []
      const waiting = {
        _tag: "Waiting",
        reason: { _tag: "ShelfExists", revision: "30" },
        isOutage: false
      } as const
      assert.deepStrictEqual(yield* deleted("30"), waiting)
      assert.deepStrictEqual(requests, [{ branches: ["//Ace/main"], changelists: ["30"] }])

      failure = new CheckoutError({ reason: "unreachable", why: { _tag: "ServerSlow", seconds: 1 } })
      assert.deepInclude(yield* deleted("30"), { _tag: "Waiting", isOutage: true })
      failure = undefined
      assert.lengthOf(
        (yield* ends).filter(({ number }) => number === 30),
        0
      )

      ended = [{ changelist: "30", submittedAs: undefined }]
      const executed = {
        _tag: "Settled",
        outcome: "executed",
        reason: { _tag: "ShelfEnded", revision: "30" }
      } as const
      assert.deepStrictEqual(yield* deleted("30"), executed)
      yield* deleted("30")
      const found = (yield* ends).filter(({ number }) => number === 30)
      assert.lengthOf(found, 1)
      assert.deepInclude(found[0], { head: undefined, branch: "//Ace/main", rule: "ReportedBy" })
      yield* TestClock.adjust(1000)
      yield* settleAll
      const [outcome] = yield* Outcomes.use(({ ofTarget }) => ofTarget(target))
      assert.deepInclude(outcome, { outcome: "open", settled: "closed" })

      requests.length = 0
      const unknown = { _tag: "ShelfWithoutFindings", revision: "31" } as const
      assert.deepStrictEqual(yield* deleted("31"), { _tag: "Settled", outcome: "skipped", reason: unknown })
      assert.deepStrictEqual(requests, [])
    })
  )

  t.effect("cost one read, one call of the server and one write, however many reports name them", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(4_000_000)
      for (const number of [40, 41]) yield* reviewed(number, "0123456789ab")
      Object.assign(calls, { reads: 0, writes: 0 })
      requests.length = 0
      ended = [{ changelist: "40", submittedAs: undefined }]
      const flood = [...Array.from({ length: 96 }, (_, at) => String(1000 + at)), "40", "41", "40", "41"]
      const routed = yield* deletedAll(flood)
      assert.deepStrictEqual(calls, { reads: 1, writes: 1 })
      assert.deepStrictEqual(requests, [{ branches: ["//Ace/main"], changelists: ["40", "41"] }])
      assert.deepStrictEqual(
        routed.map((one) => String(one?.reason._tag)),
        [
          ...Array.from({ length: 96 }, () => "ShelfWithoutFindings"),
          "ShelfEnded",
          "ShelfExists",
          "ShelfEnded",
          "ShelfExists"
        ]
      )
      assert.lengthOf(
        (yield* ends).filter(({ number }) => number === 40),
        1
      )
    })
  )
})
