/** Comments on reviews of Swarm: which are queued for a reply, once, and after which one the next search continues. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { searchChannel } from "../../../actors/conversation/SwarmComments.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { Priority } from "../../../src/domain/Entry.ts"
import { SwarmConversations } from "../../../src/outputs/SwarmConversations.ts"
import type { ReviewComment } from "../../../src/outputs/SwarmConversations.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { actorStores, testSnapshotWith } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"
import { publication } from "../../store/Fixtures.ts"

const hour = 3_600_000
const now = 100 * hour
const page = (review: string) => `https://swarm.test/reviews/${review}#comments`

const change: Change = {
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "game" },
  target: { kind: "commit", branch: "//Ace/main@=7" },
  head: "7-0123456789ab"
}

/** Comments that Swarm has, and the ids after which they were requested. */
const given = { comments: [] as Array<ReviewComment>, requested: [] as Array<number> }

const addComment = (id: number, body: string, more: Partial<ReviewComment> = {}) =>
  given.comments.push({
    id: String(id),
    review: "70",
    url: page("70"),
    author: "ada",
    body,
    isReply: true,
    createdAt: now,
    ...more
  })

const swarm = Layer.succeed(
  SwarmConversations,
  SwarmConversations.of({
    channels: () => [],
    commentsAfter: (_channel, id) =>
      Effect.sync(() => {
        given.requested.push(id)
        const comments = given.comments.filter((one) => Number(one.id) > id)
        return { account: "reviewer", comments, last: Math.max(id, ...comments.map((one) => Number(one.id))) }
      }),
    read: () => Effect.die("no thread is read")
  })
)

const config = testSnapshotWith("w", "t")
const world = Layer.merge(Scheduler.layer, swarm).pipe(
  Layer.provideMerge(Layer.mergeAll(actorStores(), Layer.succeed(ConfigStore, config))),
  Layer.provideMerge(testCluster)
)

/** Stores a review whose comments are on a review of Swarm. */
const publish = Effect.fnUntraced(function* (review: string, hostId: string) {
  const key = targetKey(change)
  const outbox = yield* Outbox
  const runs = yield* Runs
  const begun = { entryId: hostId, workspace: "w", targetKey: key, change, head: change.head ?? "", base: undefined }
  const run = yield* runs.begin({ ...begun, configHash: "c", verdict: undefined }, LeaseToken.make(1), now)
  assert(run !== undefined)
  const row = { ...publication(), runId: run.id, targetKey: key, channel: "swarm" }
  yield* outbox.add([row], now)
  const { token } = yield* outbox.takeOver(key, now)
  yield* outbox.move(row.id, "pending", { status: "sending" }, token, now)
  yield* outbox.move(row.id, "sending", { status: "sent", hostId, url: page(review) }, token, now)
  return run.id
})

const search = Effect.gen(function* () {
  const workspaces = [...(yield* ConfigStore).current().workspaces.values()]
  const channel = { name: "swarm", kind: "p4_swarm", base_url: "https://swarm.test" } as never
  yield* searchChannel({ channel, workspaces })
})

const listQueued = Effect.gen(function* () {
  const entries = yield* (yield* Queue).load("w")
  return entries.map(({ change: { author, source }, priority }) => ({ author: author?.username, priority, source }))
})

const each = (name: string, test: Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
  it.effect(name, () =>
    Effect.gen(function* () {
      Object.assign(given, { comments: [], requested: [] })
      yield* TestClock.setTime(now)
      yield* test
    }).pipe(Effect.provide(world))
  )

each(
  "nothing is requested before the service has commented",
  Effect.gen(function* () {
    addComment(1, "@reviewer hello")
    yield* search
    assert.deepStrictEqual(given.requested, [])
  })
)

each(
  "comments in threads and those that address the service are queued once, with the review that they are about",
  Effect.gen(function* () {
    const run = yield* publish("70", "10")
    addComment(9, "Before the review")
    addComment(11, "Why?")
    addComment(12, "@reviewer what?", { isReply: false, author: "bob" })
    addComment(13, "I do not like it.", { isReply: false })
    addComment(14, "Yesterday.", { createdAt: now - 25 * hour })
    addComment(15, "On a review of others", { review: "71", url: page("71") })
    yield* search
    const source = (comment: string) => ({
      _tag: "SwarmQuestion",
      channel: "swarm",
      review: "70",
      comment,
      run,
      target: change.target
    })
    const expected = [
      { author: "ada", priority: Priority.reply, source: source("11") },
      { author: "bob", priority: Priority.reply, source: source("12") }
    ]
    assert.deepStrictEqual(yield* listQueued, expected as never)
    yield* search
    assert.deepStrictEqual(given.requested, [10, 15])
    assert.strictEqual((yield* listQueued).length, 2)
    const events = yield* (yield* Receipts).list({ limit: 10 })
    assert.deepStrictEqual(
      events.map(({ event }) => event),
      ["swarm", "swarm"]
    )
  })
)
