/** VCS hook events are tried at their times, and end with an outcome and its reason. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Result } from "effect"
import type { Scope } from "effect"
import { TestClock } from "effect/testing"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import * as DepotRouting from "../../../actors/depots/DepotRouting.ts"
import { isTryDue, RoutingMemory, scan } from "../../../actors/depots/DepotRouting.ts"
import { NewReports } from "../../../actors/depots/NewReports.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import type { DepotChange } from "../../../src/domain/DepotChange.ts"
import { listReported } from "../../../src/store/ListReported.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { CheckoutError } from "../../../src/vcs/Checkout.ts"
import { SubmittedChanges } from "../../../src/vcs/SubmittedChanges.ts"
import type { SubmittedChange } from "../../../src/vcs/SubmittedChanges.ts"
import type { VcsServer } from "../../../src/vcs/server/VcsServer.ts"
import { actorStores } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { routingReceipt } from "../../store/Fixtures.ts"

const document = {
  triggers: [
    { name: "depot", kind: "perforce", port: "p4.test:1666", user: "reviewer", depot_path: "//depot/..." },
    { name: "other", kind: "perforce", port: "p4.test:1666", user: "reviewer", depot_path: "//other/..." },
    { name: "tree", kind: "subversion", repository_url: "https://svn.test/repo" }
  ],
  review: {
    auto_commit: {
      exclude_sources: [
        { id: "ci", vcs: "perforce", match: { author: { glob: "ci-*" }, client: { glob: "build-*" } } },
        { id: "release", vcs: "subversion", match: { message: { regex: "^\\[release\\]" } } }
      ]
    }
  },
  workspaces: {
    instances: {
      main: { source_repo: { trigger: "depot", repo: "//depot/main/..." } },
      rel: { source_repo: { trigger: "depot", repo: "//depot/rel/..." } },
      off: { source_repo: { trigger: "other", repo: "//other/..." }, enabled: false },
      svn: { match: [{ source: { repo_ref: { glob: "https://svn.test/*" } } }] }
    }
  }
}
/** Author and client of changelists; those from 11 on are of machines and people. */
const people: Readonly<Record<string, readonly [string, string]>> = {
  "11": ["ci-nightly", "build-7"],
  "12": ["ci-nightly", "ada-laptop"],
  "13": ["ada", "build-7"]
}
const describeFake = (revision: string, server: VcsServer, under: string | undefined): SubmittedChange | undefined => {
  if (server.vcs !== "perforce" || revision === "404") return undefined
  const [author, client] = people[revision] ?? ["ada", "ada-laptop"]
  const branches =
    under !== "//depot/..." || revision === "9"
      ? []
      : revision === "8"
        ? ["//depot/main", "//depot/rel"]
        : ["//depot/main"]
  const streams = branches.map((branch) => ({
    branch,
    paths: ["a.c"],
    more: false,
    previous: "3",
    removed: false,
    tag: false
  }))
  return { revision, state: "submitted", author, client, description: "Fix", repository: undefined, streams }
}

const stores = Layer.mergeAll(
  actorStores(),
  Layer.unwrap(Effect.map(toSnapshot(document, {}), layerStatic)),
  Layer.mock(SubmittedChanges, {
    describe: ({ revisions, server, under }) =>
      Effect.succeed(new Map(revisions.map((one) => [one, Result.succeed(describeFake(one, server, under))])))
  })
)
const world = Scheduler.layer.pipe(Layer.provideMerge(stores), Layer.provideMerge(testCluster))

const change = (over: Partial<DepotChange> = {}): DepotChange => ({
  vcs: "perforce",
  revision: "7",
  files: [],
  ...over
})

describe("tries", () => {
  it("are five, at 0, 15, 45, 105 and 225 seconds, whatever the rhythm of the looks", () => {
    const due: Array<number> = []
    for (let seconds = 0; seconds <= 220; seconds += 5) if (isTryDue(seconds * 1000, 5000)) due.push(seconds)
    assert.deepStrictEqual(due, [0, 15, 45, 105])
    assert.isTrue(isTryDue(225_000, 5000))
    // Later every five minutes, while a server is unreachable.
    assert.isFalse(isTryDue(300_000, 5000))
    assert.isTrue(isTryDue(525_000, 5000))
    assert.isTrue(isTryDue(60_000, Number.POSITIVE_INFINITY))
  })
})

const report = Effect.fn(function* (routing: DepotChange) {
  const receipt = routingReceipt(routing)
  yield* (yield* Receipts).store(receipt)
  return receipt.id
})
const reasonOf = (id: string) =>
  Effect.flatMap(Receipts, (receipts) =>
    Effect.map(receipts.get(id), (event) => event?.outcomeReason && inEnglish(event.outcomeReason))
  )
const outcomeOf = (id: string) =>
  Effect.flatMap(Receipts, (receipts) =>
    Effect.map(receipts.get(id), (event) => [
      event?.outcome,
      event?.outcomeReason && inEnglish(event.outcomeReason).split(/[:,]| [0-9a-f-]{20,}/)[0]
    ])
  )

const scanOnce = (memory: RoutingMemory) => Effect.scoped(Effect.flatMap(Effect.scope, (scope) => scan(memory, scope)))

/** Number of calls to each server. */
const calls = new Map<string, number>()
const disturbed = Layer.mock(SubmittedChanges, {
  describe: ({ revisions, server, under }) => {
    const name = under ?? "tree"
    calls.set(name, (calls.get(name) ?? 0) + 1)
    if (name === "//other/...") return Effect.never
    if (server.vcs === "subversion")
      return Effect.fail(new CheckoutError({ reason: "unreachable", why: verbatimReason("connection refused") }))
    return Effect.succeed(new Map(revisions.map((one) => [one, Result.succeed(describeFake(one, server, under))])))
  }
})
/** Scans while the clock moves on. */
const scanFor = Effect.fn(function* (memory: RoutingMemory, scope: Scope.Scope) {
  const scanning = yield* Effect.forkChild(scan(memory, scope))
  while (scanning.pollUnsafe() === undefined) yield* TestClock.adjust("1 seconds")
})
const disturbedWorld = Scheduler.layer.pipe(
  Layer.provideMerge(Layer.merge(stores, disturbed)),
  Layer.provideMerge(testCluster)
)

layer(disturbedWorld)("servers", (t) => {
  t.effect("that do not respond delay no report of another one, and are called once for many reports", () =>
    Effect.gen(function* () {
      const memory = new RoutingMemory()
      const scope = yield* Effect.scope
      const trees = yield* Effect.forEach(Array.from({ length: 250 }), (_, at) =>
        report({ vcs: "subversion", revision: String(at + 1), files: [] })
      )
      const hung = yield* report(change({ path: "//other/..." }))
      yield* TestClock.setTime(1000)
      yield* scanFor(memory, scope)
      assert.isBelow(yield* Clock.currentTimeMillis, 10_000)
      const matched = yield* report(change({ path: "//depot/..." }))
      yield* scan(memory, scope)
      assert.deepStrictEqual(yield* outcomeOf(matched), ["executed", "queued as event"])
      assert.deepStrictEqual(yield* outcomeOf(hung), [undefined, undefined])
      // A waiting report shows why it has no review yet.
      assert.deepStrictEqual(yield* outcomeOf(trees.at(-1) ?? ""), [undefined, "unreachable"])
      assert.include((yield* reasonOf(trees[0] ?? "")) ?? "", "trigger tree: connection refused")
      assert.strictEqual(calls.get("tree"), 1)
      assert.strictEqual(calls.get("//other/..."), 1)
      // The server has been unreachable for a day; that of the other trigger is given up after its deadline.
      yield* TestClock.adjust("25 hours")
      yield* scanFor(memory, scope)
      while ((yield* outcomeOf(hung))[0] === undefined && !(yield* reasonOf(hung))?.includes("did not reply"))
        yield* TestClock.adjust("30 seconds")
      const last = trees.at(-1) ?? ""
      assert.include((yield* reasonOf(last)) ?? "", "unreachable: trigger tree: connection refused")
      assert.deepStrictEqual((yield* outcomeOf(last))[0], "failed")
      assert.include((yield* reasonOf(hung)) ?? "", "its server did not reply within")
    })
  )
})

layer(world)("outcome", (t) => {
  t.effect("a changelist is queued once per stream; a missing one is waited for and then reported", () =>
    Effect.gen(function* () {
      const matched = yield* report(change({ path: "//depot/..." }))
      const two = yield* report(change({ revision: "8", path: "//DEPOT/main/..." }))
      const missing = yield* report(change({ revision: "404" }))
      const pending = yield* report(change({ revision: "9", path: "//depot/..." }))
      const elsewhere = yield* report(change({ path: "//nowhere/..." }))
      const deleted = yield* report(change({ revision: "14", path: "//depot/...", isShelfDeleted: true }))
      const renamed = yield* report(change({ revision: "10", base: "6", path: "//depot/..." }))
      const memory = new RoutingMemory()
      yield* scanOnce(memory)
      assert.deepStrictEqual(yield* outcomeOf(matched), ["executed", "queued as event"])
      assert.deepStrictEqual(yield* outcomeOf(two), ["executed", "queued as event"])
      assert.deepStrictEqual(yield* outcomeOf(pending), ["skipped", "no_change"])
      assert.include((yield* reasonOf(deleted)) ?? "", "the shelf of changelist 14 has no finding")
      assert.include((yield* reasonOf(two)) ?? "", "//depot/main in workspace main; queued as event")
      assert.include((yield* reasonOf(renamed)) ?? "", "it was changelist 6 before its submit")
      assert.deepStrictEqual(yield* outcomeOf(missing), [undefined, "revision_not_found"])
      yield* TestClock.setTime(224_000)
      yield* scanOnce(memory)
      assert.deepStrictEqual(yield* outcomeOf(missing), [undefined, "revision_not_found"])
      yield* TestClock.setTime(226_000)
      yield* scanOnce(memory)
      assert.deepStrictEqual(yield* outcomeOf(missing), ["skipped", "revision_not_found"])
      assert.deepStrictEqual(yield* outcomeOf(elsewhere), ["skipped", "repository_not_configured"])
      // The same changelist again is the same work.
      const again = yield* report(change({ path: "//depot/...", user: "someone" }))
      yield* scanOnce(new RoutingMemory())
      assert.deepStrictEqual(yield* outcomeOf(again), ["skipped", "duplicate"])
    })
  )
  t.effect.each<readonly [string, string]>([
    ["11", "source_excluded"],
    ["12", "executed"],
    ["13", "executed"]
  ])("changelist %s: %s", ([revision, expected]) =>
    Effect.gen(function* () {
      const id = yield* report(change({ revision, path: "//depot/..." }))
      yield* scanOnce(new RoutingMemory())
      const [outcome, reason] = yield* outcomeOf(id)
      assert.strictEqual(outcome === "executed" ? outcome : reason, expected)
    })
  )
  t.effect(
    "what a person requests is of the named trigger, reviewed although it is excluded, and refused by the first attempt",
    () =>
      Effect.gen(function* () {
        const requested = { trigger: "depot", requestedBy: "chat feishu_open_id ou_ada", workspaces: ["main"] }
        const excluded = yield* report(change({ revision: "11", ...requested }))
        const missing = yield* report(change({ revision: "404", ...requested }))
        const receipts = yield* Receipts
        yield* scanOnce(new RoutingMemory())
        assert.deepStrictEqual(yield* outcomeOf(excluded), ["executed", "queued as event"])
        const stored = yield* receipts.get(excluded)
        const [review] = yield* listReported(stored ?? (yield* Effect.die("no report")), 10)
        assert.deepInclude(review?.work?.change, { workspace: "main", head: "11", requestedBy: requested.requestedBy })
        const { outcome, outcomeReason } = (yield* receipts.get(missing)) ?? {}
        assert.strictEqual(outcome, "skipped")
        assert.deepStrictEqual(outcomeReason, { _tag: "ReportedChangelistUnknown", revision: "404" })
        // Each request is a review of its own.
        const again = yield* report(change({ revision: "11", ...requested }))
        yield* scanOnce(new RoutingMemory())
        assert.deepStrictEqual(yield* outcomeOf(again), ["executed", "queued as event"])
      })
  )
  t.effect("what waits is not removed by retention", () =>
    Effect.gen(function* () {
      const id = yield* report(change({ revision: "404", path: "//nowhere/..." }))
      const receipts = yield* Receipts
      yield* receipts.prune({ maxCount: 0, before: 1e15 })
      assert.isDefined(yield* receipts.get(id))
    })
  )
})

/** Reading receipts takes some time, and reports arrive all the time. */
const busyStores = Layer.mergeAll(
  actorStores(),
  Layer.unwrap(Effect.map(toSnapshot(document, {}), layerStatic)),
  Layer.mock(SubmittedChanges, {}),
  Layer.succeed(NewReports, { notify: () => undefined, wait: Effect.void })
)

it.effect.each<readonly [kind: "gitea" | "subversion", scans: number]>([
  ["gitea", 1],
  ["subversion", 41]
])("with a trigger of kind %s alone, receipts are read %i times in ten seconds", ([kind, expected]) =>
  Effect.gen(function* () {
    let reads = 0
    const counted = Layer.mock(Receipts, { unrouted: () => Effect.sync(() => (reads++, [])) })
    const trigger =
      kind === "gitea"
        ? { kind, base_url: "https://git.test", webhook_secret: "s" }
        : { kind, repository_url: "https://svn.test/repo" }
    const parts = Layer.mergeAll(
      actorStores(),
      Layer.unwrap(Effect.map(toSnapshot({ triggers: [{ name: "t", ...trigger }] }, {}), layerStatic)),
      Layer.mock(SubmittedChanges, {}),
      Layer.fresh(Layer.succeed(NewReports, { notify: () => undefined, wait: Effect.never }))
    )
    const routing = DepotRouting.layer.pipe(
      Layer.provide(counted),
      Layer.provide(parts),
      Layer.provideMerge(testCluster)
    )
    yield* Effect.gen(function* () {
      for (let at = 0; at < 10_000; at += 50) yield* TestClock.adjust(50)
    }).pipe(Effect.provide(routing))
    assert.strictEqual(reads, expected)
  })
)

it.effect.each<readonly [took: number, interval: number, pause: string]>([
  [20, 80, "three times the duration of a scan"],
  [1000, 1250, "at most 250 ms"]
])("scans that take %i ms follow each other after %i ms: a pause of %s", ([took, interval]) =>
  Effect.gen(function* () {
    const scans: Array<number> = []
    const slow = Layer.mock(Receipts, {
      unrouted: () =>
        Effect.gen(function* () {
          scans.push(yield* Clock.currentTimeMillis)
          yield* Effect.sleep(took)
          return []
        })
    })
    yield* Effect.gen(function* () {
      for (let at = 0; at < 4 * interval; at += 10) yield* TestClock.adjust(10)
    }).pipe(
      Effect.provide(
        DepotRouting.layer.pipe(Layer.provide(slow), Layer.provide(busyStores), Layer.provideMerge(testCluster))
      )
    )
    const pauses = scans.slice(1).map((at, index) => at - (scans[index] ?? 0))
    assert.isAtLeast(pauses.length, 2)
    assert.deepStrictEqual([...new Set(pauses)], [interval])
  })
)
