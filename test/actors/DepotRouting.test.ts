/** VCS hook events are tried at their times. Those of Perforce are always settled with a reason. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { isTryDue, scan } from "../../actors/DepotRouting.ts"
import * as Scheduler from "../../actors/WorkspaceScheduler.ts"
import { routeDepot } from "../../src/admission/RouteDepot.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { layerStatic } from "../../src/config/FileConfigStore.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import type { DepotChange } from "../../src/domain/DepotChange.ts"
import { newId } from "../../src/domain/Ids.ts"
import { DeliveryKey } from "../../src/domain/Keys.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { SubmittedChanges } from "../../src/vcs/SubmittedChanges.ts"
import { actorStores } from "../harness/ActorParts.ts"
import { testCluster } from "../harness/TestCluster.ts"

const document = {
  triggers: [
    { name: "depot", kind: "perforce", depot_path: "//depot/..." },
    { name: "other", kind: "perforce", depot_path: "//other/..." },
    { name: "named", kind: "perforce", depot_path: "//named/..." },
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
      // Its repository does not restrict paths: those of the trigger decide.
      named: { source_repo: { trigger: "named", repo: "named" } },
      off: { source_repo: { trigger: "other", repo: "//other/..." }, enabled: false },
      svn: { match: [{ source: { repo_ref: { glob: "https://svn.test/*" } } }] }
    }
  }
}
const stores = Layer.mergeAll(
  actorStores(),
  Layer.unwrap(Effect.map(toSnapshot(document, {}), layerStatic)),
  Layer.mock(SubmittedChanges, {})
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

layer(world)("route", (t) => {
  t.effect.each<readonly [Partial<DepotChange>, ReadonlyArray<string>]>([
    [{ files: ["//depot/main/a.c"] }, ["main"]],
    [{ path: "//DEPOT/Main/src/..." }, ["main"]],
    [{ files: ["//depot/mainline/a.c"] }, []],
    [{ files: ["//depot/main/a.c", "//depot/rel/a.c"] }, ["main", "rel"]],
    [{ files: ["//depot/main/a.c", "//depot/rel/a.c"], workspaces: ["rel"] }, ["rel"]],
    [{ files: ["//other/a.c"] }, []],
    [{ files: ["//named/a.c"] }, ["named"]],
    [{ vcs: "subversion", files: ["trunk/a.c"] }, ["svn"]]
  ])("%j", ([over, expected]) =>
    Effect.gen(function* () {
      const found = routeDepot((yield* ConfigStore).current(), change(over))
      assert.deepStrictEqual(
        found.map(({ workspace }) => workspace.id),
        expected
      )
    })
  )
})

const report = Effect.fn(function* (routing: DepotChange) {
  const id = newId()
  yield* (yield* Receipts).store({
    id,
    deliveryKey: DeliveryKey.make(id),
    provider: routing.vcs,
    event: "p4",
    action: undefined,
    trigger: undefined,
    workspace: undefined,
    targetKind: "commit",
    targetKey: undefined,
    repo: undefined,
    facts: {},
    decision: "queued",
    reason: undefined,
    work: undefined,
    routing,
    receivedAt: 0
  })
  return id
})
const outcomeOf = (id: string) =>
  Effect.flatMap(Receipts, (receipts) =>
    Effect.map(receipts.get(id), (event) => [event?.outcome, event?.outcomeReason?.split(/[:,]/)[0]])
  )

layer(world)("outcome", (t) => {
  t.effect("a match reports what this build does not support; a missing one is waited for and then reported", () =>
    Effect.gen(function* () {
      const matched = yield* report(change({ files: ["//depot/main/a.c"] }))
      const unmatched = yield* report(change({ files: ["//nowhere/a.c"] }))
      const two = yield* report(change({ files: ["//depot/main/a.c", "//depot/rel/a.c"] }))
      yield* scan(Number.POSITIVE_INFINITY)
      assert.deepStrictEqual(yield* outcomeOf(matched), ["skipped", "workspace main matches"])
      assert.deepStrictEqual(yield* outcomeOf(two), ["skipped", "ambiguous_route"])
      assert.deepStrictEqual(yield* outcomeOf(unmatched), [undefined, undefined])
      yield* TestClock.setTime(224_000)
      yield* scan(5000)
      assert.deepStrictEqual(yield* outcomeOf(unmatched), [undefined, undefined])
      yield* TestClock.setTime(226_000)
      yield* scan(2000)
      assert.deepStrictEqual(yield* outcomeOf(unmatched), ["skipped", "repository_not_configured"])
    })
  )
  t.effect.each<readonly [Partial<DepotChange>, string]>([
    [{ user: "ci-nightly", client: "build-7" }, "source_excluded"],
    [{ user: "ci-nightly" }, "workspace main matches"],
    [{ user: "ci-nightly", client: "ada-laptop" }, "workspace main matches"],
    [{ user: "ada", client: "build-7", description: "[release] 1.2" }, "workspace main matches"]
  ])("%j: %s", ([over, expected]) =>
    Effect.gen(function* () {
      const id = yield* report(change({ ...over, files: ["//depot/main/a.c"] }))
      yield* scan(Number.POSITIVE_INFINITY)
      assert.deepStrictEqual(yield* outcomeOf(id), ["skipped", expected])
    })
  )
  t.effect("what waits is not removed by retention", () =>
    Effect.gen(function* () {
      const id = yield* report(change({ files: ["//nowhere/b.c"] }))
      const receipts = yield* Receipts
      yield* receipts.prune({ maxCount: 0, before: 1e15 })
      assert.isDefined(yield* receipts.get(id))
    })
  )
})
