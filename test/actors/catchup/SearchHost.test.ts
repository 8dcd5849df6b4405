/** Searches for changes of a git host that no delivery reported: each is decided about once, old ones are not, limits hold. */
import { assert, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { dueOccasion } from "../../../actors/catchup/CatchUp.ts"
import { SearchMemory } from "../../../actors/catchup/HostSearch.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import type { CatchUp } from "../../../src/store/CatchUps.ts"
import { noSubject } from "../../../src/domain/HostEvent.ts"
import type { HostEvent } from "../../../src/domain/HostEvent.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { deliveryKey, replyId, TargetKey } from "../../../src/domain/Keys.ts"
import { Priority } from "../../../src/domain/Entry.ts"
import type { LoggedDelivery } from "../../../src/forge/Forge.ts"
import { renderMarker } from "../../../src/outputs/Marker.ts"
import { FoundEvents } from "../../../src/queue/FoundEvents.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Batches } from "../../../src/store/Batches.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { Settlements } from "../../../src/store/Settlements.ts"
import { publishing } from "../../store/Outcomes.ts"
import { hour, ListedHost, makeDocument, search, service, start } from "./ListedHost.ts"

type World = Parameters<typeof service>[1]

/** Runs a test after the first search of a host. */
const searched = (
  name: string,
  test: (
    host: ListedHost
  ) => Effect.Effect<void, unknown, Batches | Queue | Receipts | Runs | Effect.Services<ReturnType<typeof search>>>,
  options: World = {},
  before: (host: ListedHost) => void = () => {}
) =>
  it.effect(name, () => {
    const host = new ListedHost()
    before(host)
    return Effect.gen(function* () {
      yield* TestClock.setTime(start)
      assert.deepStrictEqual(yield* search(), { found: 0, skipped: 0, failure: undefined })
      host.requests = []
      yield* test(host)
    }).pipe(Effect.provide(service(host, options)))
  })

const common = {
  provider: "gitea",
  event: "pull_request",
  action: undefined,
  repo: { fullName: "acme/app" },
  sender: { username: "dana" },
  subject: noSubject
} as const
const entries = Effect.flatMap(Queue, (queue) => queue.load("app"))
const heads = Effect.map(entries, (all) => all.map(({ change }) => change.head).toSorted())
const records = Effect.flatMap(Receipts, (receipts) =>
  Effect.map(receipts.list({ limit: 100 }), (all) =>
    all.map(({ decision, facts, reason }) => [facts.number ?? facts.branch, facts.head, reason ?? decision].join(" "))
  )
)

searched(
  "a first search reviews nothing, and later ones nothing that was not updated since",
  (host) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* search(), { found: 0, skipped: 0, failure: undefined })
      assert.deepStrictEqual(host.requests, ["pulls acme"])
      // A push to it while no delivery arrives. Its commits have no date that counts.
      host.set(1, { updatedAt: start + 2 * hour, head: "pushed" })
      assert.strictEqual((yield* search()).found, 1)
      assert.deepStrictEqual(yield* heads, ["pushed"])
    }),
  {},
  (host) => host.set(1, { updatedAt: start - 1 })
)

searched(
  "a draft from before the first search is reviewed when it is made ready, with the head that it had",
  (host) =>
    Effect.gen(function* () {
      host.set(1, { updatedAt: start + hour, draft: false })
      assert.strictEqual((yield* search()).found, 1)
      assert.deepStrictEqual(yield* heads, ["head-1"])
    }),
  {},
  (host) => host.set(1, { updatedAt: start - 1, draft: true })
)

const workspaceOff = (snapshot: object) => ({
  ...snapshot,
  workspaces: { instances: { app: { source_repo: { trigger: "tea", repo: "acme/app" }, enabled: false } } }
})
const rules = {
  skip_drafts: true,
  labels: { ignore: ["wip"] },
  pull_request: { include_target_branches: ["main"] }
}

/** A reason for ignoring a head, the change at the host that ends it, and the change of the configuration that ends it. */
const passing = [
  ["draft", { draft: true }, { draft: false }, { skip_drafts: false }],
  ["label_ignored", { labels: ["wip"] }, { labels: [] }, { labels: { ignore: [] } }],
  [
    "target_branch_not_watched",
    { baseRef: "old" },
    { baseRef: "main" },
    { pull_request: { include_target_branches: [] } }
  ]
] as const

for (const [reason, ignored, ended, without] of passing) {
  searched(
    `a head that was ignored because of ${reason} is decided about again when its pull request changes`,
    (host) =>
      Effect.gen(function* () {
        host.set(1, { updatedAt: start + 1, ...ignored })
        assert.strictEqual((yield* search()).found, 0)
        assert.deepStrictEqual(yield* records, [`1 head-1 ${reason}`])
        host.set(1, { updatedAt: start + 2, ...ended })
        assert.strictEqual((yield* search()).found, 1)
        assert.deepStrictEqual(yield* heads, ["head-1"])
      }),
    { review: rules }
  )
  searched(
    `a head that was ignored because of ${reason} is decided about again under another configuration`,
    (host) =>
      Effect.gen(function* () {
        host.set(1, { updatedAt: start + 1, ...ignored })
        assert.strictEqual((yield* search()).found, 0)
        host.configure(yield* toSnapshot(makeDocument({ review: { ...rules, ...without } }), {}))
        assert.strictEqual((yield* search()).found, 1)
      }),
    { review: rules }
  )
}

searched("a head that was ignored because its workspace was disabled is decided about when it is enabled", (host) =>
  Effect.gen(function* () {
    host.configure(yield* toSnapshot(workspaceOff(makeDocument({})), {}))
    host.set(1, { updatedAt: start + 1 })
    assert.strictEqual((yield* search()).found, 0)
    assert.deepStrictEqual(yield* records, ["1 head-1 workspace_disabled"])
    host.configure(yield* toSnapshot(makeDocument({}), {}))
    assert.strictEqual((yield* search()).found, 1)
  })
)

/** Hours of a Tuesday, on which the tests take place from 12:00 on. */
const window = (from: string, to: string) => ({
  pull_request: { schedule: { timezone: "UTC", rules: [{ days: ["tue"], windows: [{ start: from, end: to }] }] } }
})

searched(
  "a head that waits for a window is decided about again when the window has changed, once",
  (host) =>
    Effect.gen(function* () {
      host.set(1, { updatedAt: start + 1 })
      const memory = new SearchMemory()
      assert.strictEqual((yield* search(memory)).found, 1)
      const due = Effect.map(entries, (all) => all.map(({ dueAt }) => dueAt - start))
      assert.deepStrictEqual(yield* due, [8 * hour])
      // Other windows, which open later and earlier.
      const configure = (review: object) =>
        Effect.map(toSnapshot(makeDocument({ review }), {}), (snapshot) => host.configure(snapshot))
      yield* configure(window("21:00", "22:00"))
      assert.strictEqual((yield* search(memory)).found, 0)
      yield* configure(window("14:00", "16:00"))
      assert.strictEqual((yield* search(memory)).found, 1)
      assert.deepStrictEqual(yield* due, [2 * hour])
      yield* configure({})
      assert.strictEqual((yield* search(memory)).found, 1)
      assert.deepStrictEqual(yield* due, [0])
      yield* configure(window("20:00", "22:00"))
      assert.strictEqual((yield* search(memory)).found, 0)
    }),
  { review: window("20:00", "22:00") }
)

searched(
  "a request for help that was replied to is not replied to again, which a restored backup does not contain",
  (host) =>
    Effect.gen(function* () {
      const at = start + hour
      const marker = renderMarker({ op: replyId("event"), scope: "tea:acme/app:pull_request:1" })
      host.statuses.set("head-1", at)
      const help = [
        { id: "7", body: "/aicr help", createdAt: at },
        { id: "8", body: `Commands ${marker}`, createdAt: at + 1, author: "aicr" },
        { id: "9", body: "/aicr help", createdAt: at + 2 }
      ]
      const forged = { id: "10", body: `Commands ${marker}`, createdAt: at + 3, author: "mallory" }
      host.set(1, { updatedAt: at, comments: [...help, forged] })
      assert.strictEqual((yield* search()).found, 1)
      const [record] = yield* (yield* Receipts).list({ limit: 10 })
      assert.strictEqual(record?.deliveryKey, "gitea:command:tea:acme/app:pull_request:1:9")
    })
)

searched("what was opened, pushed, closed and made ready is decided about once", (host) =>
  Effect.gen(function* () {
    const at = start + hour
    host.set(1, { updatedAt: at })
    host.set(2, { updatedAt: at + 1, state: "closed" })
    host.set(3, { updatedAt: at + 2, draft: true })
    host.set(4, { updatedAt: at + 3, repo: "acme/other" })
    assert.deepStrictEqual(yield* search(), { found: 1, skipped: 0, failure: undefined })
    assert.deepStrictEqual(yield* records, ["3 head-3 draft", "1 head-1 queued"])
    const [entry] = yield* entries
    assert.strictEqual(entry?.priority, Priority.found)
    assert.strictEqual(entry?.expires, false)
    // Another process searches again, from the mark.
    assert.strictEqual((yield* search()).found, 0)
    host.set(3, { updatedAt: at + 4, draft: false })
    host.set(1, { updatedAt: at + 5, head: "pushed" })
    assert.strictEqual((yield* search()).found, 2)
    assert.deepStrictEqual(yield* heads, ["head-3", "pushed"])
    host.set(1, { updatedAt: at + 6, state: "closed" })
    assert.strictEqual((yield* search()).found, 0)
    assert.deepStrictEqual((yield* records)[0], "1 pushed closed")
  })
)

searched(
  "an end that a delivery reported is not recorded again while its findings wait for their outcome",
  (host) =>
    Effect.gen(function* () {
      const { decide } = yield* FoundEvents
      const trigger = (yield* ConfigStore).current().triggers.get("main") ?? (yield* Effect.die("no trigger"))
      const run = yield* publishing(1, LeaseToken.make(1))
      const by = { agent: "native-llm", maxProblems: 50 }
      yield* Runs.use(({ settle }) => settle(run.id, "succeeded", { partial: false, by }, 10))
      const subject = { ...noSubject, kind: "pull_request", number: 1 } as const
      const event = { _tag: "PullRequestClosed", ...common, subject, number: 1, baseRef: "main" } as const
      yield* TestClock.setTime(start + hour)
      assert.strictEqual((yield* decide({ trigger, event, key: deliveryKey("gitea", "closed") }))._tag, "Ignored")
      const undecided = Settlements.use((settlements) =>
        settlements.undecided({ targetKey: run.targetKey, receivedAt: start + 2 * hour })
      )
      assert.isNotEmpty(yield* undecided)
      const countEnds = Effect.map(records, (all) => all.filter((text) => text.endsWith("closed")).length)
      const searchMerged = Effect.fnUntraced(function* (updatedAt: number) {
        yield* TestClock.setTime(updatedAt)
        host.set(1, { updatedAt, state: "merged" })
        yield* search()
        return yield* countEnds
      })
      assert.strictEqual(yield* searchMerged(start + 2 * hour), 1)
      // The delivery is too old to be decided about.
      assert.strictEqual(yield* searchMerged(start + 74 * hour), 2)
    }),
  { name: "main" }
)

searched("a quiet host costs one request of an owner, and what was read is not read again", (host) =>
  Effect.gen(function* () {
    const memory = new SearchMemory()
    host.set(1, { updatedAt: start + hour })
    assert.strictEqual((yield* search(memory)).found, 1)
    host.requests = []
    assert.strictEqual((yield* search(memory)).found, 0)
    assert.deepStrictEqual(host.requests, ["pulls acme"])
  })
)

searched(
  "a head with a final status of the service counts as reviewed, which a restored backup does not contain",
  (host) =>
    Effect.gen(function* () {
      const comments = [{ id: "7", body: "/aicr review", createdAt: start + hour }]
      host.set(1, { updatedAt: start + hour, comments })
      host.statuses.set("head-1", start + hour)
      assert.strictEqual((yield* search()).found, 0)
      assert.deepStrictEqual(yield* records, [])
      // A head without a status, and then one of which the backup has no record although it has others of the pull request.
      host.set(1, { updatedAt: start + 2 * hour, head: "second", comments: [] })
      assert.strictEqual((yield* search()).found, 1)
      host.set(1, { updatedAt: start + 3 * hour, head: "third" })
      host.statuses.set("third", start + 3 * hour)
      assert.strictEqual((yield* search()).found, 0)
    })
)

searched("a head that the trigger received under another name is not reviewed again under the new one", (host) =>
  Effect.gen(function* () {
    host.set(1, { updatedAt: start + hour })
    assert.strictEqual((yield* search()).found, 1)
    host.configure(yield* toSnapshot(makeDocument({ name: "renamed" }), {}))
    assert.strictEqual((yield* search()).found, 0)
    host.set(1, { updatedAt: start + 2 * hour })
    assert.strictEqual((yield* search()).found, 0)
    host.set(1, { updatedAt: start + 3 * hour, head: "pushed" })
    assert.strictEqual((yield* search()).found, 1)
    assert.deepStrictEqual(yield* heads, ["head-1", "pushed"])
  })
)

searched("questions that no delivery reported get an entry each, once, and talk among people gets none", (host) =>
  Effect.gen(function* () {
    const at = start + hour
    host.statuses.set("head-1", at)
    const comments = [
      { id: "7", body: "/aicr ask why?", createdAt: at },
      { id: "8", body: "And what then?", createdAt: at + 1, isReply: true },
      { id: "9", body: "I do not like it.", createdAt: at + 2 },
      { id: "10", body: "@bob and you?", createdAt: at + 3, isReply: true }
    ]
    host.set(1, { updatedAt: at, comments })
    assert.strictEqual((yield* search()).found, 2)
    const targets = Effect.map(entries, (all) =>
      all.map(({ change, priority }) => [change.target.comment?.id, priority])
    )
    assert.sameDeepMembers(
      [...(yield* targets)],
      [
        ["7", Priority.reply],
        ["8", Priority.reply]
      ]
    )
    host.set(1, { updatedAt: at + 4 })
    assert.strictEqual((yield* search()).found, 0)
    assert.lengthOf(yield* entries, 2)
  })
)

searched("a command after the last review is executed", (host) =>
  Effect.gen(function* () {
    host.statuses.set("head-1", start + hour)
    const comments = [{ id: "7", body: "/aicr review", createdAt: start + 2 * hour }]
    host.set(1, { updatedAt: start + 2 * hour, comments })
    assert.strictEqual((yield* search()).found, 1)
    assert.deepStrictEqual(
      (yield* entries).map(({ change }) => change.requestedBy),
      ["dana"]
    )
  })
)

searched(
  "what was ignored is decided about again under a configuration that does not ignore it",
  (host) =>
    Effect.gen(function* () {
      host.set(1, { updatedAt: start + hour, draft: true })
      const memory = new SearchMemory()
      assert.strictEqual((yield* search(memory)).found, 0)
      host.requests = []
      assert.strictEqual((yield* search(memory)).found, 0)
      assert.deepStrictEqual(host.requests, ["pulls acme"])
      host.configure(yield* toSnapshot(makeDocument({ review: { skip_drafts: false } }), {}))
      assert.strictEqual((yield* search(memory)).found, 1)
    }),
  { review: { skip_drafts: true } }
)

searched("a command is executed once, whether a delivery or a search reports it", (host) =>
  Effect.gen(function* () {
    const comments = [
      { id: "7", body: "/aicr help", createdAt: start + hour },
      { id: "8", body: "thank you", createdAt: start + hour },
      { id: "6", body: "/aicr review", createdAt: start - 2 * hour }
    ]
    host.set(1, { updatedAt: start + hour, comments })
    assert.strictEqual((yield* search()).found, 2)
    assert.strictEqual((yield* search()).found, 0)
    const found = yield* (yield* Receipts).list({ limit: 10 })
    assert.deepStrictEqual(
      found.map(({ deliveryKey: key, facts }) => [facts.command, facts.sender, key]),
      [
        ["help", "dana", "gitea:command:tea:acme/app:pull_request:1:7"],
        [undefined, undefined, "catch-up:tea:acme/app:pull_request:1:main:head-1"]
      ]
    )
  })
)

searched(
  "a push to a branch that is reviewed is found, from the head that was seen last",
  (host) =>
    Effect.gen(function* () {
      host.tips.set("main", "b")
      assert.strictEqual((yield* search()).found, 1)
      assert.include(host.requests, "pushed a b")
      const [entry] = yield* entries
      assert.deepInclude(entry?.change, { base: "a", head: "b", target: { kind: "push", branch: "main" } })
      assert.strictEqual((yield* search()).found, 0)
    }),
  { review: { auto_commit: { include_branches: ["main"] } } },
  (host) => host.tips.set("main", "a")
)

const pushOf = (before: string, after: string): HostEvent => ({
  _tag: "Pushed",
  ...common,
  event: "push",
  branch: "main",
  before,
  after,
  created: false,
  commits: 1,
  listed: []
})

searched(
  "a push that is in a batch starts nothing again, also one of several that a search found together",
  (host) =>
    Effect.gen(function* () {
      const { decide } = yield* FoundEvents
      const trigger = (yield* ConfigStore).current().triggers.get("tea")
      if (trigger === undefined) return yield* Effect.die("no trigger")
      let deliveries = 0
      const deliver = (before: string, after: string) =>
        Effect.map(
          decide({ trigger, event: pushOf(before, after), key: deliveryKey("gitea", String(deliveries++)) }),
          ({ _tag }) => _tag
        )
      const batches = yield* Batches
      const ranges = Effect.map(batches.list({ limit: 10 }), (all) =>
        all.map(({ change }) => [change.base, change.head].join(" "))
      )
      host.tips.set("main", "b")
      assert.strictEqual((yield* search()).found, 1)
      // Deliveries of the pushes a..mid..b arrive late.
      assert.deepStrictEqual([yield* deliver("mid", "b"), yield* deliver("a", "mid")], ["Ignored", "Ignored"])
      assert.deepStrictEqual(yield* ranges, ["a b"])
      assert.deepStrictEqual([yield* deliver("b", "c"), yield* deliver("c", "d")], ["Accepted", "Accepted"])
      assert.strictEqual(yield* deliver("b", "c"), "Ignored")
      // The branch returns to an earlier commit.
      assert.strictEqual(yield* deliver("d", "c"), "Accepted")
      const [rule] = (yield* (yield* Receipts).list({ decision: "ignored", limit: 1 })).map((event) => event.rule?._tag)
      assert.strictEqual(rule, "PushBatched")
      // A batch that failed contains nothing that was reviewed.
      for (const { id } of yield* batches.list({ limit: 10 })) yield* batches.follow(id, { status: "dead" }, start)
      assert.strictEqual(yield* deliver("b", "c"), "Accepted")
    }),
  { review: { auto_commit: { include_branches: ["main"] } } },
  (host) => host.tips.set("main", "a")
)

searched(
  "max_changes 2: the newest changes are reviewed, the others counted",
  (host) =>
    Effect.gen(function* () {
      for (const number of [1, 2, 3]) host.set(number, { updatedAt: start + number })
      assert.deepStrictEqual(yield* search(), { found: 2, skipped: 1, failure: undefined })
      assert.deepStrictEqual(yield* heads, ["head-2", "head-3"])
    }),
  { catch_up: { max_changes: 2 } }
)

searched(
  "max_age_hours 5: older changes are counted",
  (host) =>
    Effect.gen(function* () {
      host.set(1, { updatedAt: start + hour })
      host.set(2, { updatedAt: start + 3 * hour })
      yield* TestClock.setTime(start + 7 * hour)
      assert.deepStrictEqual(yield* search(), { found: 1, skipped: 1, failure: undefined })
      assert.deepStrictEqual(yield* heads, ["head-2"])
    }),
  { catch_up: { max_age_hours: 5 } }
)

searched(
  "the last tenth of the queue is kept for deliveries, and the search continues later",
  (host) =>
    Effect.gen(function* () {
      for (let number = 1; number <= 12; number++) host.set(number, { updatedAt: start + number })
      assert.deepStrictEqual(yield* search(), { found: 9, skipped: 0, failure: "QueueKeptForDeliveries" })
      const queue = yield* Queue
      yield* queue.cancel(TargetKey.make("tea:acme/app:pull_request:1"), { _tag: "PullRequestClosed" })
      assert.deepStrictEqual(yield* search(), { found: 1, skipped: 0, failure: "QueueKeptForDeliveries" })
    }),
  { limits: { perWorkspace: 10, total: 100 } }
)

searched("a host that fails one request is searched further, and again from there", (host) =>
  Effect.gen(function* () {
    const memory = new SearchMemory()
    for (const number of [1, 2, 3]) host.set(number, { updatedAt: start + number })
    host.fails = /pull 2/
    assert.deepStrictEqual(yield* search(memory), { found: 2, skipped: 0, failure: "Unreachable" })
    assert.deepStrictEqual(yield* search(memory), { found: 0, skipped: 0, failure: "Unreachable" })
    host.fails = undefined
    host.requests = []
    assert.deepStrictEqual(yield* search(memory), { found: 1, skipped: 0, failure: undefined })
    assert.deepStrictEqual(host.requests, ["pulls acme", "pull 2", "status head-2"])
    assert.deepStrictEqual(yield* heads, ["head-1", "head-2", "head-3"])
  })
)

searched("work that was given up for another head is found again when the host has that head again", (host) =>
  Effect.gen(function* () {
    host.set(1, { updatedAt: start + 1 })
    yield* search()
    host.set(1, { updatedAt: start + 2, head: "second" })
    yield* search()
    const receipts = yield* Receipts
    const [, first] = yield* receipts.list({ limit: 2 })
    yield* receipts.settle([first?.id ?? ""], { outcome: "superseded" }, yield* Clock.currentTimeMillis)
    host.set(1, { updatedAt: start + 3, head: "head-1" })
    assert.strictEqual((yield* search()).found, 1)
    assert.deepStrictEqual(yield* heads, ["head-1"])
  })
)

const pullOf = (number: number, head = `head-${number}`) => ({
  number,
  head,
  base: "b",
  headRef: "feature",
  baseRef: "main",
  title: "",
  description: "",
  url: "",
  author: undefined,
  draft: false,
  labels: []
})
const updated = (number: number, isHeadOnly: boolean, fullName = "acme/app"): HostEvent => ({
  _tag: "PullRequestUpdated",
  ...common,
  repo: { fullName },
  pull: pullOf(number),
  isHeadOnly
})
const attempt = (id: string, at: number, event: HostEvent, more: Partial<LoggedDelivery> = {}) => ({
  id,
  guid: `guid-${id}`,
  at,
  isReceived: false,
  isRepeated: false,
  mayStart: true,
  repositoryId: 1,
  event,
  ...more
})

searched(
  "a host repeats failed deliveries that start what no search finds, each once",
  (host) =>
    Effect.gen(function* () {
      const at = start + hour
      // Found by its update: a delivery of its head would start nothing more.
      host.set(1, { updatedAt: at })
      const elsewhere = updated(9, false, "acme/other")
      host.deliveries = [
        attempt("8", at + 8, elsewhere, { repositoryId: 2 }),
        attempt("7", at + 7, elsewhere, { repositoryId: 2 }),
        attempt("6", at + 6, updated(6, false), { isRepeated: true, guid: "guid-5" }),
        attempt("5", at + 5, updated(6, false)),
        attempt("4", at + 4, updated(4, false), { isReceived: true }),
        attempt("3", at + 3, updated(3, false), { mayStart: false }),
        attempt("2", at + 2, updated(1, false)),
        attempt("1", at + 1, updated(1, true)),
        attempt("0", start - 2 * hour, updated(2, false))
      ]
      const memory = new SearchMemory()
      assert.deepStrictEqual(yield* search(memory), { found: 2, skipped: 0, failure: undefined })
      assert.deepStrictEqual(
        host.requests.filter((request) => /deliver|repeat/.test(request)),
        ["deliveries", "delivery 1", "delivery 2", "repeat 2", "delivery 7"]
      )
      const again = yield* (yield* Receipts).list({ reason: "sent_again", limit: 10 })
      assert.deepStrictEqual(
        again.map(({ action, rule }) => [action, rule]),
        [["beat", { _tag: "SentAgain", delivery: "guid-2" }]]
      )
      // The host does not list the repetition yet.
      host.requests = []
      assert.strictEqual((yield* search(memory)).found, 0)
      assert.deepStrictEqual(host.requests.slice(1), ["deliveries", "delivery 1"])
      host.deliveries.unshift(attempt("9", at + 9, updated(1, false), { isRepeated: true, guid: "guid-2" }))
      assert.strictEqual((yield* search()).found, 0)
      assert.notInclude(host.requests, "repeat 2")
    }),
  {},
  (host) => {
    host.deliveries = [attempt("0", start - hour, updated(2, false))]
  }
)

searched(
  "failed deliveries wait for room in the queue, and those beyond the limit are counted",
  (host) =>
    Effect.gen(function* () {
      host.deliveries = [3, 2, 1].map((number) => attempt(String(number), start + number, updated(number, false)))
      assert.deepStrictEqual(yield* search(), { found: 0, skipped: 1, failure: "QueueKeptForDeliveries" })
    }),
  { catch_up: { max_changes: 2 }, limits: { perWorkspace: 1, total: 100 } },
  (host) => {
    host.deliveries = []
  }
)

const issueOf = (number: number, createdAt: number, updatedAt = createdAt) => ({
  repo: { fullName: "acme/app" },
  number,
  title: `Issue ${number}`,
  url: undefined,
  author: { username: "dana" },
  createdAt,
  updatedAt
})

searched(
  "an issue that was opened without a delivery is triaged once, and an older one is not",
  (host) =>
    Effect.gen(function* () {
      // An older issue with a new comment, one of the service, and one of a repository without a workspace.
      host.issues.push(issueOf(1, start - hour, start + 1), issueOf(2, start + 2))
      host.issues.push({ ...issueOf(3, start + 3), repo: { fullName: "acme/other" } })
      assert.deepStrictEqual(yield* search(), { found: 1, skipped: 0, failure: undefined })
      const triaged = Effect.map(entries, (all) =>
        all.map(({ change }) => [change.target.number, change.author?.username])
      )
      assert.deepStrictEqual(yield* triaged, [[2, "dana"]])
      host.issues[1] = issueOf(2, start + 2, start + hour)
      assert.strictEqual((yield* search()).found, 0)
      assert.lengthOf(yield* entries, 1)
    }),
  { triage: { enabled: true } },
  (host) => host.issues.push(issueOf(1, start - hour))
)

searched("issues are not listed where none are triaged", (host) =>
  Effect.gen(function* () {
    host.issues.push(issueOf(2, start + 2))
    assert.strictEqual((yield* search()).found, 0)
    assert.deepStrictEqual(host.requests, ["pulls acme"])
  })
)

searched(
  "issues beyond the limits are counted",
  (host) =>
    Effect.gen(function* () {
      for (const number of [1, 2, 3]) host.issues.push(issueOf(number, start + number * hour))
      yield* TestClock.setTime(start + 5 * hour)
      assert.deepStrictEqual(yield* search(), { found: 1, skipped: 2, failure: undefined })
      assert.deepStrictEqual(
        (yield* entries).map(({ change }) => change.target.number),
        [3]
      )
    }),
  { triage: { enabled: true }, catch_up: { max_changes: 1, max_age_hours: 3 } }
)

it.effect("a search is due on request, after a failure and every every_seconds", () =>
  Effect.gen(function* () {
    const now = start
    const settingsOf = (catch_up: object) =>
      Effect.map(toSnapshot(makeDocument({ catch_up }), {}), ({ triggers }) => {
        const settings = triggers.get("tea")?.settings
        if (settings === undefined) throw new Error("no trigger")
        return settings
      })
    const [hourly, every60, every61, never] = yield* Effect.all(
      [{}, { every_seconds: 60 }, { every_seconds: 61 }, { every_seconds: 0 }].map(settingsOf)
    )
    const due = (settings: typeof hourly, changes: Partial<CatchUp> | undefined, failures = 0) => {
      const state = changes === undefined ? undefined : { trigger: "tea", found: 0, skipped: 0, ...changes }
      if (settings === undefined) throw new Error("no settings")
      return dueOccasion(settings, state, now, failures)
    }
    const ago = (seconds: number) => now - seconds * 1000
    assert.strictEqual(due(hourly, undefined), "beat")
    assert.strictEqual(due(hourly, { searchedAt: ago(3599) }), undefined)
    assert.strictEqual(due(every60, { searchedAt: ago(60) }), "beat")
    assert.strictEqual(due(every61, { searchedAt: ago(60) }), undefined)
    assert.strictEqual(due(never, { searchedAt: ago(1_000_000) }), undefined)
    assert.strictEqual(due(never, { searchedAt: ago(30), requestedFor: "start" }), "start")
    assert.strictEqual(due(hourly, { searchedAt: ago(5), requestedFor: "start" }), undefined)
    assert.strictEqual(due(hourly, { searchedAt: ago(30), requestedFor: "refused" }), undefined)
    assert.strictEqual(due(hourly, { searchedAt: ago(60), requestedFor: "refused" }), "refused")
    const failed = { failure: { _tag: "Unreachable" }, occasion: "start" } as const
    assert.strictEqual(due(hourly, { searchedAt: ago(60), ...failed }, 1), "start")
    assert.strictEqual(due(hourly, { searchedAt: ago(60), ...failed }, 2), undefined)
    assert.strictEqual(due(hourly, { searchedAt: ago(300), ...failed }, 9), "start")
    // The clock was set back by a day.
    assert.strictEqual(due(hourly, { searchedAt: ago(-86_400) }), "beat")
  })
)
