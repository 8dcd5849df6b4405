/**
 * Submitted changes that no hook reported are found by a list of their server, once, within the limits of their trigger, whatever is
 * reported later, and at whichever write a search ends.
 */
import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { RoutingMemory, scan } from "../../../actors/depots/DepotRouting.ts"
import { searchDepot } from "../../../actors/depots/MissedReports.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import type { DepotChange } from "../../../src/domain/DepotChange.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { CatchUps } from "../../../src/store/CatchUps.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { CheckoutError } from "../../../src/vcs/Checkout.ts"
import { SubmittedChanges } from "../../../src/vcs/SubmittedChanges.ts"
import type { ListRequest } from "../../../src/vcs/SubmittedChanges.ts"
import { actorStores } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"
import { routingReceipt } from "../../store/Fixtures.ts"

const hour = 3_600_000
const start = 1000 * hour
const port = "p4.test:1666"
const depot = { kind: "perforce", port, user: "reviewer", catch_up: { max_changes: 60, max_age_hours: 48 } }
const document = {
  triggers: [
    { ...depot, name: "depot", depot_path: "//depot/..." },
    { ...depot, name: "art", depot_path: "//art/..." },
    { ...depot, name: "idle", depot_path: "//idle/..." },
    { name: "tree", kind: "subversion", repository_url: "https://svn.test/repo" },
    { name: "broken", kind: "subversion", repository_url: "https://svn.test/repo", password_env: "NOT_SET" }
  ],
  review: { auto_commit: { delay_seconds: 0 } },
  queue: { limits: { per_workspace: 100 } },
  workspaces: {
    instances: {
      main: { source_repo: { trigger: "depot", repo: "//depot/main/..." } },
      rel: { source_repo: { trigger: "depot", repo: "//depot/rel/..." } },
      art: { source_repo: { trigger: "art", repo: "art" } },
      web: { source_repo: { trigger: "tree", repo: "web" } }
    }
  }
}

/** Changes of the servers, by the path or URL that is listed: times in milliseconds of each number. */
const submitted = new Map<string, Map<number, number>>()
const lists: Array<ListRequest> = []
let failure: CheckoutError | undefined
const submit = (path: string, at: number, ...revisions: ReadonlyArray<number>) => {
  const own = submitted.get(path) ?? new Map<number, number>()
  for (const revision of revisions) own.set(revision, at)
  submitted.set(path, own)
}

const servers = Layer.mock(SubmittedChanges, {
  list: (request) =>
    Effect.suspend(() => {
      lists.push(request)
      if (failure !== undefined) return Effect.fail(failure)
      const { paths, server } = request
      const of = (path: string) => [...(submitted.get(path === "" && "url" in server ? server.url : path) ?? [])]
      const changes = paths
        .flatMap(({ after, path }) => (after === undefined ? [] : of(path).filter(([number]) => number > after)))
        .map(([revision, at]) => ({ revision, author: "ada", at }))
        .toSorted((a, b) => b.revision - a.revision)
      const newest = new Map(
        paths.map(({ after, path }) => [
          path,
          after === undefined
            ? Math.max(0, ...of(path).map(([one]) => one))
            : Math.max(after, changes[0]?.revision ?? 0)
        ])
      )
      return Effect.succeed({ changes, newest, repository: changes.length > 0 ? "uuid" : undefined, isCut: false })
    }),
  describe: ({ revisions, server, under }) =>
    Effect.succeed(
      new Map(
        revisions.map((revision) => {
          const about = { author: `of-${revision}`, client: "laptop", description: "Fix", state: "submitted" } as const
          const branch = server.vcs === "subversion" ? "trunk" : under === "//art/..." ? "//art" : "//depot/main"
          const isHere = [...submitted].some(
            ([path, own]) => own.has(Number(revision)) && path.startsWith(under?.slice(0, -3) ?? "https:")
          )
          const stream = { branch, paths: ["a.c"], more: false, previous: "3", removed: false, tag: false }
          return [revision, Result.succeed({ revision, repository: "uuid", ...about, streams: isHere ? [stream] : [] })]
        })
      )
    )
})
const stores = Layer.mergeAll(actorStores(), Layer.unwrap(Effect.map(toSnapshot(document, {}), layerStatic)), servers)
const world = Scheduler.layer.pipe(Layer.provideMerge(stores), Layer.provideMerge(testCluster))

const search = Effect.fnUntraced(function* (
  name: string,
  occasion: "start" | "beat" = "start",
  searchedAt: number | undefined = undefined
) {
  const snapshot = (yield* ConfigStore).current()
  const trigger = snapshot.triggers.get(name) ?? (yield* Effect.die("no trigger"))
  const tally = { found: 0, skipped: 0 }
  const marks: Parameters<typeof searchDepot>[0]["marks"] = []
  const why = yield* searchDepot({ trigger, occasion, searchedAt, tally, marks })
  yield* Effect.forEach(marks, (yield* CatchUps).mark)
  return { ...tally, failure: why }
})
const report = Effect.fnUntraced(function* (routing: Omit<DepotChange, "files">, receivedAt: number) {
  const receipt = routingReceipt({ ...routing, files: [] }, receivedAt)
  yield* (yield* Receipts).store(receipt)
  return receipt.id
})
const route = Effect.suspend(() =>
  Effect.scoped(Effect.flatMap(Effect.scope, (scope) => scan(new RoutingMemory(), scope)))
)
const stored = Effect.flatMap(Receipts, (receipts) =>
  Effect.map(receipts.list({ limit: 1000 }), (events) => events.toReversed())
)
/** Revisions with a review, each as often as it has one. */
const reviews = Effect.map(stored, (events) =>
  events.flatMap(({ facts, work }) => (work === undefined ? [] : [Number(facts.head)])).toSorted((a, b) => a - b)
)
const found = Effect.map(stored, (events) =>
  events.flatMap(({ event, facts }) => (event === "catch_up" ? [Number(facts.head)] : []))
)
const marksOf = (trigger: string) =>
  Effect.map(
    Effect.flatMap(CatchUps, (catchUps) => catchUps.marks(trigger)),
    (marks) => Object.fromEntries(marks.map(({ mark, scope }) => [scope, mark]))
  )
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)
const main = "//depot/main/..."
const rel = "//depot/rel/..."
const nothing = { found: 0, skipped: 0, failure: undefined }

/** Begins each test with other servers. */
const begin = Effect.suspend(() => {
  submitted.clear()
  lists.length = 0
  failure = undefined
  return TestClock.setTime(start)
})

layer(world)("a first search", (t) => {
  t.effect("reviews nothing old, and lists nothing of a trigger that no workspace reviews", () =>
    Effect.gen(function* () {
      yield* begin
      submit(main, start - hour, 3, 5)
      assert.deepStrictEqual(yield* search("depot"), nothing)
      assert.deepStrictEqual(yield* marksOf("depot"), { [`${port} ${main}`]: 5, [`${port} ${rel}`]: 0 })
      assert.deepStrictEqual(yield* search("idle"), nothing)
      assert.deepStrictEqual(
        lists.map(({ paths }) => paths),
        [[main, rel].map((path) => ({ path, after: undefined }))]
      )
      // A quiet search is one list, and writes nothing.
      assert.deepStrictEqual(yield* search("depot", "beat"), nothing)
      assert.deepStrictEqual(lists[1]?.paths, [
        { path: main, after: 5 },
        { path: rel, after: 0 }
      ])
      assert.deepStrictEqual(yield* found, [])
      const broken = yield* search("broken")
      assert.include(broken.failure && inEnglish(broken.failure), "NOT_SET")
      assert.lengthOf(lists, 2)
    })
  )
})

layer(world)("missed changes", (t) => {
  t.effect("60 are reviewed once, and their late reports start nothing", () =>
    Effect.gen(function* () {
      yield* begin
      submit(main, start - hour, 5)
      yield* search("depot")
      const missed = range(6, 65)
      submit(main, start - hour, ...missed)
      yield* report({ vcs: "perforce", revision: "66", base: "66" }, start)
      submit(main, start - hour, 66)
      assert.deepStrictEqual(yield* search("depot"), { ...nothing, found: 60 })
      assert.deepStrictEqual(yield* found, missed)
      yield* route
      assert.deepStrictEqual(yield* reviews, [...missed, 66])
      assert.deepStrictEqual(yield* search("depot", "beat", start), nothing)
      for (const revision of missed)
        yield* report(
          { vcs: "perforce", revision: String(revision), base: String(revision), trigger: "art" },
          start + 1
        )
      yield* route
      assert.deepStrictEqual(yield* reviews, [...missed, 66])
      const [receipt] = (yield* stored).filter(({ event }) => event === "catch_up")
      assert.include(receipt?.rule && inEnglish(receipt.rule), "found at the server of trigger depot")
      assert.strictEqual(receipt?.outcome, "executed")
    })
  )
})

layer(world)("limits", (t) => {
  t.effect("old ones and those beyond the maximum are counted; the newest are reviewed", () =>
    Effect.gen(function* () {
      yield* begin
      yield* search("art")
      submit("//art/...", start - 49 * hour, ...range(1, 7))
      submit("//art/...", start - hour, ...range(8, 70))
      assert.deepStrictEqual(yield* search("art"), { found: 60, skipped: 10, failure: undefined })
      assert.deepStrictEqual(yield* found, range(11, 70))
      assert.deepStrictEqual(yield* marksOf("art"), { [`${port} //art/...`]: 70 })
      // Ninety of a hundred reports may wait: the oldest of the rest come first, the others wait for room.
      submit("//art/...", start - hour, ...range(71, 110))
      const full = yield* search("art", "beat", start)
      assert.deepStrictEqual([full.found, full.skipped], [30, 0])
      assert.include(full.failure && inEnglish(full.failure), "10 changes that no hook reported wait")
      assert.deepStrictEqual((yield* found).slice(-1), [100])
      assert.deepStrictEqual(yield* marksOf("art"), { [`${port} //art/...`]: 100 })
      yield* route
      assert.deepStrictEqual(yield* search("art", "beat", start), { ...nothing, found: 10 })
      assert.deepStrictEqual((yield* found).slice(-10), range(101, 110))
    })
  )
  t.effect("a server that fails leaves the mark, with the reason", () =>
    Effect.gen(function* () {
      yield* begin
      submit("https://svn.test/repo", start - hour, 9)
      yield* search("tree")
      submit("https://svn.test/repo", start - hour, 10)
      failure = new CheckoutError({ reason: "unauthorized", why: verbatimReason("ticket expired") })
      const refused = yield* search("tree")
      assert.strictEqual(refused.failure && inEnglish(refused.failure), "unauthorized: trigger tree: ticket expired")
      assert.deepStrictEqual(yield* marksOf("tree"), { "https://svn.test/repo": 9 })
      failure = undefined
      assert.deepStrictEqual(yield* search("tree"), { ...nothing, found: 1 })
      assert.deepStrictEqual(yield* marksOf("tree"), { "https://svn.test/repo": 10 })
    })
  )
})

layer(world)("reports", (t) => {
  t.effect("of another repository, of a shelf, and those that failed are none; those of the same server are", () =>
    Effect.gen(function* () {
      yield* begin
      for (const name of ["tree", "depot"]) yield* search(name)
      const svn = { vcs: "subversion" } as const
      const p4 = { vcs: "perforce" } as const
      submit("https://svn.test/repo", start, ...range(1, 5))
      submit(main, start, ...range(1, 5))
      yield* report({ ...svn, revision: "1", repository: "uuid" }, start)
      yield* report({ ...svn, revision: "2", repository: "other" }, start)
      yield* report({ ...svn, revision: "3", trigger: "tree" }, start)
      const receipts = yield* Receipts
      const failed = yield* report({ ...svn, revision: "4", repository: "uuid" }, start)
      yield* receipts.settle([failed], { outcome: "failed", reason: verbatimReason("refused") }, start)
      const unknown = yield* report({ ...svn, revision: "5", repository: "uuid" }, start)
      const reason = { _tag: "ReportedRevisionUnknown", revision: "5" } as const
      yield* receipts.settle([unknown], { outcome: "skipped", reason }, start)
      yield* report({ ...p4, revision: "1", path: "//depot/main/..." }, start - hour)
      yield* report({ ...p4, revision: "2", base: "1", trigger: "art" }, start - hour)
      yield* report({ ...p4, revision: "3", path: "//elsewhere/..." }, start)
      yield* report({ ...p4, revision: "4", trigger: "depot" }, start + 1)
      // The report of a deleted shelf, as whose number it was submitted, is none of the submit.
      yield* report({ ...p4, revision: "5", trigger: "depot", isShelfDeleted: true }, start + 1)
      assert.strictEqual((yield* search("tree")).found, 3)
      assert.deepStrictEqual(yield* found, [2, 4, 5])
      assert.strictEqual((yield* search("depot")).found, 3)
      assert.deepStrictEqual((yield* found).slice(3), [1, 3, 5])
    })
  )
  t.effect("that may still come are waited for by a beat", () =>
    Effect.gen(function* () {
      yield* begin
      submit("//art/...", start, 200)
      yield* search("art")
      submit("//art/...", start - 1000, 201, 202)
      assert.deepStrictEqual(yield* search("art", "beat"), nothing)
      yield* report({ vcs: "perforce", revision: "201", base: "201" }, start)
      yield* TestClock.setTime(start + hour)
      assert.deepStrictEqual(yield* search("art", "beat"), { ...nothing, found: 1 })
      assert.deepStrictEqual((yield* found).slice(-1), [202])
    })
  )
})

layer(world)("a process that ends", (t) => {
  t.effect.each(range(1, 12))("at write %i reviews each change once, and records it as found", (nth) =>
    Effect.gen(function* () {
      yield* begin
      submit(main, start - hour, 1000 * nth)
      yield* search("depot")
      const missed = range(1000 * nth + 1, 1000 * nth + 3)
      submit(main, start - hour, ...missed)
      const dying = yield* dieAtWrite(nth)
      const ended = yield* Effect.exit(
        Effect.andThen(search("depot", "start", start - 1), route).pipe(Effect.provide(dying))
      )
      if (Exit.isFailure(ended)) assert.include(Cause.pretty(ended.cause), "killed")
      // The search was not recorded: its receipts count as found.
      const again = yield* search("depot", "start", start - 1)
      assert.isTrue(again.found === 3 || (yield* marksOf("depot"))[`${port} ${main}`] === 1000 * nth + 3)
      yield* TestClock.adjust("10 minutes")
      yield* route
      assert.deepStrictEqual(
        (yield* reviews).filter((one) => one > 1000 * nth),
        missed
      )
      for (const revision of missed)
        yield* report({ vcs: "perforce", revision: String(revision), base: String(revision), path: main }, start)
      yield* route
      assert.lengthOf(
        (yield* reviews).filter((one) => one > 1000 * nth),
        3
      )
    })
  )
})

/** Stores that do the nth write, and end what made it before it gets the result; odd ones end it before the write. */
const dieAtWrite = Effect.fnUntraced(function* (nth: number) {
  const [receipts, catchUps] = [yield* Receipts, yield* CatchUps]
  let writes = 0
  const killed = Effect.die(new Error("killed"))
  const write =
    <A extends ReadonlyArray<unknown>, B, E>(operation: (...args: A) => Effect.Effect<B, E>) =>
    (...args: A): Effect.Effect<B, E> =>
      Effect.suspend(() => {
        writes++
        if (writes !== Math.ceil(nth / 2)) return writes > Math.ceil(nth / 2) ? killed : operation(...args)
        return nth % 2 === 1 ? killed : Effect.andThen(operation(...args), killed)
      })
  return Layer.mergeAll(
    Layer.succeed(Receipts, {
      ...receipts,
      store: write(receipts.store),
      storeAll: write(receipts.storeAll),
      settle: write(receipts.settle),
      note: write(receipts.note),
      postpone: write(receipts.postpone)
    }),
    Layer.succeed(CatchUps, { ...catchUps, mark: write(catchUps.mark) })
  )
})
