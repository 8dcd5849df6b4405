/** The path from a dismissed comment at the host to a hint for the next review of the repository, through the store. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { lessonsFor } from "../../../actors/review/Reflect.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { resolve } from "../../../src/config/fields/Defaults.ts"
import type { GivenDocument } from "../../../src/config/Document.ts"
import { ReviewConfig } from "../../../src/config/schema/Review.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { repositoryKey, targetKey } from "../../../src/domain/Change.ts"
import { OperationId } from "../../../src/domain/Keys.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import { ForgeError } from "../../../src/forge/ForgeError.ts"
import type { ForgeClient, HostThread } from "../../../src/forge/Forge.ts"
import { renderMarker } from "../../../src/outputs/Marker.ts"
import { selectHints } from "../../../src/review/Reflection.ts"
import { Lessons } from "../../../src/store/Lessons.ts"
import { Runs } from "../../../src/store/Runs.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { ForgeKind } from "../../../src/domain/Kinds.ts"
import { WriteGap } from "../../../src/forge/Pacing.ts"
import { alone, changed, context, removed, repoName, startHost } from "../../forge/Clients.ts"
import { getThread } from "../../harness/FakeThreads.ts"
import { testForges } from "../../harness/ActorParts.ts"
import { testWorkspace } from "../../harness/TestSnapshot.ts"
import { analysis } from "../../store/Fixtures.ts"
import { owned } from "../../harness/Owners.ts"

const change = (number: number): Change => ({
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "Team/App" },
  target: { kind: "pull_request", number }
})

const finding = (n: number): Finding => ({
  fingerprint: String(n).padStart(32, "0"),
  problem: {
    file: "src/db/a.ts",
    severity: "high",
    category: "security",
    title: `Title ${n}`,
    message: "It breaks",
    quote: `run(${n})`
  },
  anchor: { path: "src/db/a.ts", side: "new", line: n }
})

const thread = (n: number, more: Partial<HostThread> = {}): HostThread => ({
  hostId: String(n),
  body: `text\n${renderMarker({ op: OperationId.make("o"), fp: finding(n).fingerprint })}`,
  path: "src/db/a.ts",
  dismissedBy: [],
  resolved: false,
  replied: false,
  ...more
})

const clientWith = (list: ForgeClient["threads"]["list"]): ForgeClient => {
  const client = testForges(Effect.die("none")).client(Object.create(null))
  return { ...client, canWrite: () => Effect.succeed(true), threads: { ...client.threads, list } }
}

type Review = NonNullable<GivenDocument["review"]>
const workspaceWith = (reflection: NonNullable<Review["reflection"]>, review: Review = {}) => ({
  ...testWorkspace(),
  review: resolve(ReviewConfig, { reflection: { enabled: true, ...reflection }, ...review })
})
const workspace = workspaceWith({ mode: "light" })

/** A review of this pull request that found these. */
const reviewed = Effect.fnUntraced(function* (number: number, findings: ReadonlyArray<Finding>) {
  const runs = yield* Runs
  const run = yield* runs.begin(
    {
      entryId: `e${number}`,
      workspace: "w",
      targetKey: targetKey(change(number)),
      change: change(number),
      head: "h",
      base: "b",
      configHash: "c"
    },
    LeaseToken.make(1),
    1
  )
  if (run === undefined) return yield* Effect.die("not begun")
  yield* runs.move(run.id, LeaseToken.make(1), "analyzing", 2)
  yield* runs.complete(run.id, LeaseToken.make(1), { ...analysis, findings }, [], 3)
})

const before = (number: number, client: ForgeClient, given = workspace) =>
  lessonsFor({ change: change(number), targetKey: targetKey(change(number)) }, given, client)

const run = <A, E>(effect: Effect.Effect<A, E, Lessons | Runs>) =>
  effect.pipe(Effect.provide([Layer.fresh(Store.layerMemory), Logger.layer([])]))

describe("reflection", () => {
  it.effect("a dismissal by the author or by a person without write access teaches nothing", () =>
    Effect.gen(function* () {
      yield* reviewed(1, [finding(1), finding(2)])
      const all = [thread(1, { dismissedBy: ["eve"] }), thread(2, { dismissedBy: ["Dana"] })]
      const client = {
        ...clientWith(() => Effect.succeed(all)),
        canWrite: (_: unknown, username: string) => Effect.succeed(username !== "eve")
      }
      const change1 = { ...change(1), author: { username: "dana" } }
      const learnt = yield* lessonsFor({ change: change1, targetKey: targetKey(change1) }, workspace, client)
      assert.deepStrictEqual(learnt, [])
      const open = workspaceWith({ mode: "light" }, { dismissal: "anyone" })
      assert.lengthOf(yield* lessonsFor({ change: change1, targetKey: targetKey(change1) }, open, client), 2)
    }).pipe(run)
  )

  it.effect("what a person dismissed on one pull request is a hint for the next one", () =>
    Effect.gen(function* () {
      yield* reviewed(1, [finding(1), finding(2), finding(3)])
      const threads = [
        thread(1, { dismissedBy: ["ann"] }),
        thread(2),
        thread(3, { resolved: true }),
        thread(9, { dismissedBy: ["ann"] })
      ]
      yield* before(
        1,
        clientWith(() => Effect.succeed(threads))
      )
      // Another pull request without earlier findings: the host is not queried.
      const lessons = yield* before(
        2,
        clientWith(() => Effect.die("asked"))
      )
      assert.sameDeepMembers(
        lessons.map(({ title, verdict }) => [title, verdict]),
        [
          ["Title 1", "dismissed"],
          ["Title 3", "resolved"]
        ]
      )
      assert.deepStrictEqual(selectHints(lessons, ["src/db/z.ts"], "light"), [
        "- dismissed by a person: security (high) in src/db/a.ts: Title 1. The code was: run(1)"
      ])
      const kept = yield* Effect.flatMap(Lessons, (store) => store.sizes)
      assert.deepStrictEqual(
        kept.map(({ repository, entries }) => [repository, entries]),
        [[repositoryKey(change(1)), 2]]
      )
      assert.strictEqual(repositoryKey(change(1)), "t:team/app")
    }).pipe(run)
  )

  it.effect("is off unless it is enabled: nothing is requested, stored or recalled", () =>
    Effect.gen(function* () {
      yield* reviewed(1, [finding(1)])
      yield* before(
        1,
        clientWith(() => Effect.succeed([thread(1, { dismissedBy: ["ann"] })]))
      )
      for (const given of [testWorkspace(), workspaceWith({ mode: "off" })]) {
        assert.deepStrictEqual(
          yield* before(
            1,
            clientWith(() => Effect.die("asked")),
            given
          ),
          []
        )
      }
    }).pipe(run)
  )

  it.effect("an unavailable host costs the lessons of this time, not the review", () =>
    Effect.gen(function* () {
      yield* reviewed(1, [finding(1)])
      yield* before(
        1,
        clientWith(() => Effect.succeed([thread(1, { dismissedBy: ["ann"] })]))
      )
      const away = new ForgeError({ reason: "unavailable", operation: "GET /x", why: verbatimReason("down") })
      assert.lengthOf(
        yield* before(
          1,
          clientWith(() => Effect.fail(away))
        ),
        1
      )
    }).pipe(run)
  )

  it.effect("a lesson goes when it is older than the workspace keeps it", () =>
    Effect.gen(function* () {
      const short = workspaceWith({ memory: { retention_days: 2, max_entries: 5, max_size_kb: 1 } })
      yield* reviewed(1, [finding(1)])
      const quiet = clientWith(() => Effect.succeed([]))
      yield* before(
        1,
        clientWith(() => Effect.succeed([thread(1, { dismissedBy: ["ann"] })])),
        short
      )
      yield* TestClock.adjust("47 hours")
      assert.lengthOf(yield* before(1, quiet, short), 1)
      yield* TestClock.adjust("1 hour")
      assert.lengthOf(yield* before(1, quiet, short), 0)
    }).pipe(run)
  )

  it.effect.each([
    ["max_entries", { max_entries: 2 }, 1, 2],
    ["max_size_kb", { max_size_kb: 1 }, 400, 2],
    ["neither", {}, 400, 3]
  ] as const)("keeps as many lessons as the workspace allows: %s", ([, memory, quoteLength, kept]) =>
    Effect.gen(function* () {
      const findings = [1, 2, 3].map((n) => {
        const { problem, ...rest } = finding(n)
        return { ...rest, problem: { ...problem, quote: "x".repeat(quoteLength) } }
      })
      yield* reviewed(1, findings)
      const threads = [1, 2, 3].map((n) => thread(n, { dismissedBy: ["ann"] }))
      const bounded = workspaceWith({ memory })
      assert.lengthOf(
        yield* before(
          1,
          clientWith(() => Effect.succeed(threads)),
          bounded
        ),
        kept
      )
    }).pipe(run)
  )
})

describe.each(ForgeKind.literals)("reflection on %s", (kind) => {
  it.live("learns what became of real comments", () =>
    Effect.gen(function* () {
      const host = yield* Effect.acquireRelease(
        Effect.promise(() => startHost(kind)),
        ({ forge }) => Effect.promise(() => forge.stop())
      )
      const text = (n: number) =>
        `Title ${n}\n${renderMarker({ op: OperationId.make(`o${n}`), fp: finding(n).fingerprint })}`
      yield* host.client.createReview(host.repo, 1, {
        head: host.pull.head,
        event: "COMMENT",
        body: "Review",
        comments: [changed(text(1)), removed(text(2)), context(text(3))],
        pending: alone
      })
      const comments = host.pull.reviews.flatMap((one) => one.comments)
      const [dismissed, withdrawn, settled] = comments
      assert.lengthOf(comments, 3)
      if (dismissed === undefined || withdrawn === undefined || settled === undefined) return
      getThread(withdrawn).body = `${text(2)}\n${renderMarker({ op: OperationId.make("w"), state: "withdrawn" })}`
      // GitHub's REST API does not return who resolved a thread; a thumbs-down counts there.
      if (kind === "github") getThread(dismissed).thumbsDown.push(host.forge.user("ann"))
      else getThread(dismissed).resolver = host.forge.user("ann")
      host.forge.setPermission(repoName, "ann", "write")
      // GitLab's threads are resolved by us; elsewhere the text of our comment shows it.
      if (kind === "gitlab") getThread(settled).resolver = host.forge.user("aicr")
      else getThread(settled).body = `${text(3)}\n${renderMarker({ op: OperationId.make("r"), state: "resolved" })}`

      const subject: Change = { ...change(1), provider: kind, repo: host.repo }
      const target = targetKey(subject)
      const runs = yield* Runs
      const begun = { workspace: "w", targetKey: target, change: subject, head: "h", base: "b", configHash: "c" }
      const first = yield* runs.begin({ ...begun, entryId: "e" }, LeaseToken.make(1), 1)
      yield* runs.move(first?.id ?? "", LeaseToken.make(1), "analyzing", 2)
      const findings = [finding(1), finding(2), finding(3)]
      yield* runs.complete(first?.id ?? "", LeaseToken.make(1), { ...analysis, findings }, [], 3)
      const lessons = yield* lessonsFor({ change: subject, targetKey: target }, workspace, host.client)
      assert.deepStrictEqual(lessons.map(({ title, verdict }) => `${title} ${verdict}`).toSorted(), [
        "Title 1 dismissed",
        "Title 2 dismissed",
        "Title 3 resolved"
      ])
      host.forge.expectContract()
    }).pipe(Effect.scoped, Effect.provideService(WriteGap, Duration.zero), owned, run)
  )
})
