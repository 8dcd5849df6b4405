/** A report is of the server that its hook names; other servers are not called. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { RoutingMemory, scan } from "../../../actors/depots/DepotRouting.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import type { DepotChange } from "../../../src/domain/DepotChange.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { CheckoutError } from "../../../src/vcs/Checkout.ts"
import { SubmittedChanges } from "../../../src/vcs/SubmittedChanges.ts"
import type { SubmittedChange } from "../../../src/vcs/SubmittedChanges.ts"
import { actorStores } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"
import { routingReceipt } from "../../store/Fixtures.ts"

const user = { kind: "perforce", user: "reviewer" }
const document = {
  triggers: [
    { ...user, name: "game", port: "one.test:1666" },
    { ...user, name: "art", port: "two.test:1666" },
    { ...user, name: "code", port: "three.test:1666", depot_path: "//depot/code/..." },
    { ...user, name: "docs", port: "three.test:1666", depot_path: "//depot/docs/..." },
    { name: "web", kind: "subversion", repository_url: "https://svn.test/web" },
    { name: "app", kind: "subversion", repository_url: "https://svn.test/app" },
    { name: "far", kind: "subversion", repository_url: "https://far.test/web" }
  ],
  workspaces: {
    instances: Object.fromEntries(
      ["game", "art", "code", "docs", "web", "app", "far"].map((name) => [
        name,
        { source_repo: { trigger: name, repo: name } }
      ])
    )
  }
}

/** The changes of a server, by its port or URL, with the UUID of its repository. */
type Servers = Readonly<Record<string, CheckoutError | string | undefined>>
const unreachable = new CheckoutError({ reason: "unreachable", why: verbatimReason("connection refused") })

const submitted = (revision: string, branch: string, repository: string | undefined): SubmittedChange => {
  const stream = { branch, paths: ["a.c"], more: false, previous: "3", removed: false, tag: false }
  return {
    revision,
    state: "submitted",
    author: "ada",
    client: "laptop",
    description: "Fix",
    repository,
    streams: [stream]
  }
}

/** Returns the reason of the report, and the servers that were called. */
const route = (routing: Omit<DepotChange, "revision" | "files">, servers: Servers) => {
  const calls: Array<string> = []
  const changes = Layer.mock(SubmittedChanges, {
    describe: ({ revisions, server, under }) => {
      const name = server.vcs === "perforce" ? server.port : server.url
      const at = under === undefined ? name : `${name} ${under}`
      calls.push(at)
      const found = servers[at]
      if (found instanceof CheckoutError) return Effect.fail(found)
      const branch = server.vcs === "perforce" ? (under ?? "//depot/...").slice(0, -4) : "trunk"
      const one = at in servers ? undefined : submitted("7", branch, undefined)
      const change = typeof found === "string" ? submitted("7", branch, found) : one
      return Effect.succeed(new Map(revisions.map((revision) => [revision, Result.succeed(change)])))
    }
  })
  const stores = Layer.mergeAll(actorStores(), Layer.unwrap(Effect.map(toSnapshot(document, {}), layerStatic)), changes)
  return Effect.gen(function* () {
    const receipts = yield* Receipts
    const receipt = routingReceipt({ ...routing, revision: "7", files: [] })
    yield* receipts.store(receipt)
    yield* Effect.scoped(Effect.flatMap(Effect.scope, (scope) => scan(new RoutingMemory(), scope)))
    const event = yield* receipts.get(receipt.id)
    const reason = event?.outcomeReason === undefined ? "" : inEnglish(event.outcomeReason)
    return { outcome: event?.outcome, reason: reason.replaceAll(/[0-9a-f-]{36}/g, "ID"), calls: calls.toSorted() }
  }).pipe(Effect.provide(Scheduler.layer.pipe(Layer.provideMerge(stores), Layer.provideMerge(testCluster))))
}

const vcs = "perforce"

it.effect("a report without a server calls none of several, and its reason is the setting", () =>
  Effect.gen(function* () {
    const { calls, outcome, reason } = yield* route({ vcs, user: "ada", path: "//depot/main/..." }, {})
    assert.strictEqual(outcome, "skipped")
    assert.include(reason, "ambiguous_route: the triggers game, art have different servers or repositories")
    assert.include(reason, "set AICR_TRIGGER")
    assert.deepStrictEqual(calls, [])
  })
)

it.effect("a report of a named server is of that one", () =>
  Effect.gen(function* () {
    const { calls, outcome, reason } = yield* route({ vcs, trigger: "art", path: "//depot/main/..." }, {})
    assert.deepStrictEqual([outcome, reason], ["executed", "queued as event ID: //depot in workspace art"])
    assert.deepStrictEqual(calls, ["two.test:1666"])
  })
)

it.effect("a changelist of a server that is down is waited for, and not taken from another one", () =>
  Effect.gen(function* () {
    const { calls, outcome, reason } = yield* route(
      { vcs, trigger: "game", path: "//depot/main/..." },
      { "one.test:1666": unreachable }
    )
    assert.deepStrictEqual([outcome, reason], [undefined, "unreachable: trigger game: connection refused"])
    assert.deepStrictEqual(calls, ["one.test:1666"])
  })
)

it.effect.each<readonly [string, Servers, string | undefined, string]>([
  [
    "each takes its part",
    {},
    "executed",
    "queued as event ID: //depot/code in workspace code; queued as event ID: //depot/docs in workspace docs"
  ],
  [
    "an unreachable one is waited for",
    { "three.test:1666 //depot/docs/...": unreachable },
    undefined,
    "unreachable: trigger docs: connection refused"
  ],
  [
    "a refused one is named",
    { "three.test:1666 //depot/docs/...": new CheckoutError({ reason: "unauthorized", why: verbatimReason("no") }) },
    "executed",
    "queued as event ID: //depot/code in workspace code; unauthorized: trigger docs: no"
  ]
])("triggers of one server: %s", ([, servers, expected, text]) =>
  Effect.gen(function* () {
    const { outcome, reason } = yield* route({ vcs, trigger: "docs", path: "//depot/..." }, servers)
    assert.deepStrictEqual([outcome, reason], [expected, text])
  })
)

it.effect("a trigger that does not exist is named in the reason", () =>
  Effect.gen(function* () {
    const { calls, reason } = yield* route({ vcs, trigger: "gone" }, {})
    assert.strictEqual(
      reason,
      "repository_not_configured: no enabled trigger of kind perforce has this repository at the server of trigger gone, which the hook names"
    )
    assert.deepStrictEqual(calls, [])
  })
)

it.effect.each<readonly [string, Omit<DepotChange, "revision" | "files">, Servers, string, ReadonlyArray<string>]>([
  ["neither UUID nor trigger", { vcs: "subversion" }, {}, "ambiguous_route", []],
  ["a trigger", { vcs: "subversion", trigger: "app" }, {}, "queued", ["https://svn.test/app"]],
  [
    "a UUID",
    { vcs: "subversion", repository: "u2" },
    { "https://svn.test/web": "u1", "https://svn.test/app": "u2", "https://far.test/web": unreachable },
    "queued",
    ["https://far.test/web", "https://svn.test/app", "https://svn.test/web"]
  ],
  [
    "a UUID and a trigger",
    { vcs: "subversion", repository: "u2", trigger: "web" },
    { "https://svn.test/web": "u1", "https://svn.test/app": "u2" },
    "queued",
    ["https://svn.test/app", "https://svn.test/web"]
  ]
])("a report of Subversion with %s", ([, routing, servers, expected, called]) =>
  Effect.gen(function* () {
    const { calls, reason } = yield* route(routing, servers)
    assert.match(reason, new RegExp(`^${expected}`))
    assert.deepStrictEqual(calls, called)
  })
)
