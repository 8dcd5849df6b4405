/** Stores in memory, a host whose conversations are in memory, and a model, for tests of replies to comments. */
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import * as Publisher from "../../../actors/publishing/ChangePublisher.ts"
import * as Executor from "../../../actors/review/ReviewExecutor.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { Agent } from "../../../src/agent/Agent.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import type { Workspace } from "../../../src/config/Snapshot.ts"
import { targetKey, toWordsAbout } from "../../../src/domain/Change.ts"
import type { Change, CommentPlace } from "../../../src/domain/Change.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { Priority } from "../../../src/domain/Entry.ts"
import { OperationId } from "../../../src/domain/Keys.ts"
import { NodeIdentity } from "../../../src/domain/NodeIdentity.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import { noUsage } from "../../../src/domain/Analysis.ts"
import type { Analysis } from "../../../src/domain/Analysis.ts"
import { ChangeThreads } from "../../../src/engine/ChangeThreads.ts"
import type { ChangeThread } from "../../../src/engine/ChangeThreads.ts"
import { makeChangeWork } from "../../../src/engine/work/ChangeWork.ts"
import type { ChangeWork } from "../../../src/engine/work/ChangeWork.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { Catalog } from "../../../src/llm/Catalog.ts"
import { Gateway, GatewayError } from "../../../src/llm/Gateway.ts"
import { ModelRun } from "../../../src/llm/ModelRun.ts"
import type { ModelAccount } from "../../../src/llm/ModelRun.ts"
import type { GatewayRequest, GatewayResponse } from "../../../src/llm/Gateway.ts"
import { findAtHost, isHostOperation, sendAtHost } from "../../../src/outputs/channels/HostOperations.ts"
import { planRows } from "../../../src/outputs/channels/PlanRows.ts"
import { renderMarker } from "../../../src/outputs/Marker.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { toDisputed } from "../../../src/queue/operator/DisputeFinding.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { ChatRequests } from "../../../src/store/ChatRequests.ts"
import { Objects } from "../../../src/store/Objects.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import { ContextRepositories } from "../../../src/vcs/ContextRepositories.ts"
import { fakeCheckout } from "../../agent/FakeCheckout.ts"
import { calling } from "../../engine/Fixture.ts"
import { actorStores, testForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { noSearch } from "../../harness/NoSearch.ts"
import { MemoryConversations } from "../../harness/MemoryConversations.ts"
import { testCluster } from "../../harness/TestCluster.ts"
import { until } from "../../harness/UntilOnTestClock.ts"
import { chatRequest } from "../../store/Fixtures.ts"

/** The host and the model, which tests change. */
export class Given extends Context.Service<
  Given,
  {
    readonly conversations: MemoryConversations
    readonly writers: Set<string>
    readonly files: Map<string, string>
    readonly prompts: Array<GatewayRequest>
    /** Accounts that the prompts are charged to. */
    readonly accounts: Array<ModelAccount>
    readonly settings: {
      respond: (() => GatewayResponse) | undefined
      answer: GatewayResponse | GatewayError
      group: string | undefined
      review: Workspace["review"] | undefined
      contextRepositories: Workspace["contextRepositories"]
    }
    /** Heads that were checked out for models, and repositories that were mounted. */
    readonly opened: Array<string>
  }
>()("test/Given") {
  static readonly layer = Layer.sync(Given, () => ({
    conversations: new MemoryConversations(),
    writers: new Set(["ada"]),
    files: new Map([["src/cart.ts", "const a = 1\nreturn sum(items)\n"]]),
    prompts: [],
    accounts: [],
    settings: {
      respond: undefined,
      answer: calling("reply", { outcome: "replied", text: "Because an **empty** cart has no sum." }),
      group: "default",
      review: undefined,
      contextRepositories: []
    },
    opened: []
  }))
}

const forges = Layer.effect(
  Forges,
  Effect.gen(function* () {
    const { conversations, files, writers } = yield* Given
    const none = testForges(Effect.succeed({ head: "h1", state: "open", author: { username: "carol" } }))
    return Forges.of({
      ...none,
      client: (profile) => ({
        ...none.client(profile),
        conversations: conversations.service,
        self: Effect.succeed({ username: "aicr", id: 1 }),
        canWrite: (_, person) => Effect.sync(() => person === "carol" || writers.has(person)),
        gitAuthorization: () => Effect.undefined,
        file: (_repo, _ref, path) => Effect.sync(() => files.get(path))
      })
    })
  })
)

const gateway = Layer.effect(
  Gateway,
  Effect.gen(function* () {
    const { accounts, prompts, settings } = yield* Given
    return Gateway.of({
      call: (request) =>
        Effect.flatMap(ModelRun, (account) => {
          accounts.push(account)
          prompts.push(request)
          const { respond } = settings
          const answer = respond === undefined ? settings.answer : respond()
          return answer instanceof GatewayError ? Effect.fail(answer) : Effect.succeed(answer)
        })
    })
  })
)

/** Computes in this thread, because a test clock does not wait for another one. */
const threads = Layer.succeed(
  ChangeThreads,
  ChangeThreads.of({
    open: () =>
      Effect.sync(() => {
        const work = makeChangeWork()
        const run = (name: keyof ChangeWork, ...input: ReadonlyArray<unknown>) =>
          Effect.sync((): unknown => Reflect.apply(work[name], work, input))
        return { run: run as ChangeThread["run"] }
      }),
    end: () => {}
  })
)

const code = Layer.effectContext(
  Effect.map(Given, ({ files, opened }) =>
    Context.make(
      Vcs,
      Vcs.of({
        checkout: ({ head }) =>
          Effect.sync(() => {
            opened.push(head)
            return fakeCheckout(Object.fromEntries(files))
          }),
        isAncestor: () => Effect.die("no history is read")
      })
    ).pipe(
      Context.add(
        ContextRepositories,
        ContextRepositories.of({
          mount: (request) =>
            Effect.sync(() => {
              opened.push("url" in request ? request.url : request.path)
              return {
                commit: "c",
                read: () => Effect.succeed({ _tag: "File", text: "members only" }),
                search: noSearch
              }
            })
        })
      )
    )
  )
)

const config = Layer.effect(
  ConfigStore,
  Effect.gen(function* () {
    const { settings } = yield* Given
    const store = testSnapshotWith("w", "t")
    const snapshot = () => {
      const current = store.current()
      const workspace = current.workspaces.get("w")
      if (workspace === undefined) throw new Error("no workspace")
      const review = { ...(settings.review ?? workspace.review), output_language: "en" }
      const { contextRepositories, group } = settings
      const own = { ...workspace, review, modelChain: group, contextRepositories }
      return { ...current, workspaces: new Map([["w", own]]) }
    }
    return ConfigStore.of({ ...store, current: snapshot, pinned: () => Effect.sync(snapshot) })
  })
)

const outputs = Layer.effect(
  Outputs,
  Effect.gen(function* () {
    const { conversations, writers } = yield* Given
    const client = (yield* Forges).client((yield* ConfigStore).current().triggers.get("t") ?? assert.fail("no trigger"))
    return Outputs.of({
      anyFor: () => false,
      plan: (input) => planRows(new Map(), input),
      status: () => [],
      issueCode: () => Effect.succeed([]),
      reactions: () => Effect.succeed([]),
      dismiss: () => Effect.die("nothing is dismissed"),
      mark: () => Effect.die("nothing is dismissed"),
      mayDismiss: (_workspace, { author }, username) =>
        Effect.sync(() => writers.has(username) && username !== author?.username),
      send: (_workspace, change, { operation, operationId: key }) =>
        operation._tag === "Withdraw"
          ? Effect.sync(() => {
              conversations.withdrawn.push(operation.fp)
              return { hostId: operation.fp, url: undefined, next: [] }
            })
          : isHostOperation(operation, change)
            ? Effect.map(sendAtHost(client, change, operation, { key, language: "en" }), (sent) => ({
                ...sent,
                next: []
              }))
            : Effect.die("only replies are sent"),
      find: (_workspace, change, publication) =>
        publication.operation._tag === "Withdraw"
          ? Effect.undefined
          : isHostOperation(publication.operation, change)
            ? Effect.map(
                findAtHost(client, change, publication, publication.operation),
                (sent) => sent && { ...sent, next: [] }
              )
            : Effect.die("only replies are looked up")
    })
  })
)

/** The settings of reviews in a loaded configuration. */
export const loadReview = (review: object) =>
  Effect.map(
    toSnapshot(
      {
        triggers: [{ name: "t", kind: "gitea", webhook_secret: "x", base_url: "https://git.test" }],
        workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "team/app" }, review } } }
      },
      {}
    ),
    ({ workspaces }) => workspaces.get("w")?.review
  )

const world = Executor.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Publisher.layer, Scheduler.layer)),
  Layer.provideMerge(outputs),
  Layer.provideMerge(
    Layer.mergeAll(
      actorStores(),
      NodeIdentity.layer("node"),
      code,
      threads,
      Layer.mock(Objects, { get: () => Effect.undefined, put: () => Effect.void }),
      Layer.mock(Agent, {}),
      Layer.mock(Catalog, {}),
      forges,
      gateway,
      config
    )
  ),
  Layer.provideMerge(Given.layer),
  Layer.provideMerge(testCluster)
)

export const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
  layer(world)((it) => it.effect(name, test))

export const toChange = (comment: CommentPlace, author = "ada"): Change => ({
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "Team/App" },
  target: { kind: "comment", number: 7, comment },
  author: { username: author }
})

export const finding: Finding = {
  fingerprint: "f".repeat(32),
  problem: {
    file: "src/cart.ts",
    severity: "medium",
    category: "bug",
    title: "Empty carts",
    message: "An empty cart fails.",
    quote: "return sum(items)"
  },
  anchor: { path: "src/cart.ts", side: "new", line: 2 }
}

export const objection = { outcome: "withdrawn", text: "You are right.", quote: "if (items.length === 0) return 0" }
export const verdict = (given: string) =>
  calling("verdicts", { verdicts: [{ number: 1, verdict: given, reason: "the case is handled" }] })

export const marker = (op: string, { fingerprint: fp } = finding) => renderMarker({ op: OperationId.make(op), fp })

/** Stores a published review with the findings, and writes their comments at the host, in the threads `t1`, `t2` and so on. */
export const reviewed = (...findings: ReadonlyArray<Finding>) => reviewedWith({}, ...findings)

export const reviewedWith = Effect.fnUntraced(function* (more: Partial<Analysis>, ...findings: ReadonlyArray<Finding>) {
  const all = findings.length === 0 ? [finding] : findings
  const runs = yield* Runs
  const change: Change = {
    ...toChange({ id: "", on: "pull_request", kind: "general" }),
    target: pullTarget
  }
  const token = LeaseToken.make(1)
  const begun = {
    entryId: "review",
    workspace: "w",
    targetKey: targetKey(change),
    change,
    head: "h1",
    base: "b",
    configHash: "c",
    verdict: undefined
  }
  const run = yield* runs.begin(begun, token, 0)
  assert(run !== undefined)
  const analysis = {
    findings: all,
    summary: "",
    coverage: { reviewed: [], skipped: [], lines: 1 },
    models: [],
    usage: noUsage,
    notices: [],
    ...more
  }
  assert.isTrue(yield* runs.complete(run.id, token, analysis, [], 0))
  yield* runs.settle(run.id, "succeeded", { partial: false }, 0)
  const { conversations } = yield* Given
  for (const [index, one] of all.entries())
    conversations.write(`t${index + 1}`, "aicr", `**Empty carts**\n\n${marker("review", one)}`)
})

const pullTarget = { kind: "pull_request", number: 7 } as const

export const slowly = { step: "1 second", atMost: "10 minutes" } as const

/** Handles the delivery of a comment, or an objection; returns how its entry ended, and its runs. */
const deliverChange = Effect.fnUntraced(function* (change: Change) {
  const queue = yield* Queue
  const [admitted] = yield* queue.admit([
    {
      eventId: `event-${change.target.comment?.id}-${yield* Clock.currentTimeMillis}`,
      change,
      configHash: "c",
      priority: Priority.reply,
      dueAt: 0,
      admittedAt: yield* Clock.currentTimeMillis
    }
  ])
  const entryId = admitted?.entryId ?? ""
  const scheduler = yield* Scheduler.WorkspaceScheduler.client
  yield* Effect.forkChild(scheduler("w").Wake())
  yield* until(
    "the entry has ended",
    Effect.map(queue.get(entryId), (entry) => entry?.status === "done" || entry?.status === "dead"),
    slowly
  )
  const listed = (yield* Runs).list({ targetKey: targetKey(change), limit: 10 })
  yield* until(
    "no run is open",
    Effect.map(listed, (all) => all.every(({ finishedAt }) => finishedAt !== undefined)),
    slowly
  )
  return { entry: yield* queue.get(entryId), runs: yield* listed }
})

export const deliver = (comment: CommentPlace, author = "ada") => deliverChange(toChange(comment, author))

/** Handles the objection of a program; returns what was decided. */
export const dispute = Effect.fnUntraced(function* (
  quote: string,
  { fingerprint } = finding,
  reason = "It is handled."
) {
  const pull = { ...toChange({ id: "", on: "pull_request", kind: "general" }), target: pullTarget }
  const change = toDisputed(
    pull,
    "h1",
    { name: "laptop" },
    { _tag: "Dispute", fingerprint, reason, path: "src/cart.ts", quote }
  )
  const { entry, runs } = yield* deliverChange(change)
  assert.strictEqual(entry?.status, "done")
  return runs[0]?.analysis?.reply
})

/** Handles a question from chat about the newest review; returns how its entry ended, and its runs. */
export const ask = Effect.fnUntraced(function* (question: string) {
  const requests = yield* ChatRequests
  const request = chatRequest({})
  yield* requests.add({ ...request, facts: { ...request.facts, question } })
  const pull = { ...toChange({ id: "", on: "pull_request", kind: "general" }), target: pullTarget }
  const [review] = yield* (yield* Runs).list({ targetKey: targetKey(pull), limit: 1 })
  assert(review !== undefined)
  const source = { _tag: "ChatQuestion", request: request.id, run: review.id } as const
  const author = "chat feishu_open_id ou_ada"
  return yield* deliverChange(toWordsAbout(review.change, review.head, { author, id: `chat-${request.id}`, source }))
})
