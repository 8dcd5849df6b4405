/**
 * A channel with the service's own publisher, outbox and clients in front of a fake host or chat platform. `review` publishes one
 * head of a pull request or branch; `standing` returns what is visible afterwards, each item by its subject.
 */
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { inEnglish } from "../../src/text/en.ts"
import * as Publisher from "../../actors/publishing/ChangePublisher.ts"
import * as Scheduler from "../../actors/scheduling/WorkspaceScheduler.ts"
import { LeaseToken } from "../../src/domain/FencingToken.ts"
import { layerStatic } from "../../src/config/snapshots/FileConfigStore.ts"
import type { OutputsConfig } from "../../src/config/schema/Outputs.ts"
import type { Fault } from "../../demo/DemoForge.ts"
import { targetKey } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import { newId } from "../../src/domain/Ids.ts"
import type { ForgeKind, Severity } from "../../src/domain/Kinds.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import { ResponseTimeout } from "../../src/forge/ResponseTimeout.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { Progress } from "../../src/observability/Progress.ts"
import { parseMarkers } from "../../src/outputs/Marker.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import * as OutputsLayer from "../../src/outputs/OutputsLayer.ts"
import { Cancellations } from "../../src/queue/dispatch/Cancellations.ts"
import * as MemoryQueue from "../../src/queue/journal/MemoryQueue.ts"
import { Tickets } from "../../src/queue/dispatch/Tickets.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Runs } from "../../src/store/Runs.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { Cache } from "../../src/store/Cache.ts"
import { file, repoName, startHost } from "../forge/Clients.ts"
import type { Host } from "../forge/Clients.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import { isSummary } from "../harness/Summaries.ts"
import { getThread } from "../harness/FakeThreads.ts"
import { testCluster } from "../harness/TestCluster.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"
import { analysis, finding, workspace } from "./Fixtures.ts"
import { AuthorGuess } from "../../src/outputs/AuthorGuess.ts"
import { uncounted } from "../harness/Owners.ts"
import { memoryObjects } from "../harness/MemoryObjects.ts"

type ChannelSettings = NonNullable<(typeof OutputsConfig.Type)["channels"]>[number]

export interface Row {
  readonly host: ForgeKind
  readonly channel: Omit<ChannelSettings, "name">
  readonly target: "pull_request" | "push"
  /** The requests that faults apply to, if not the host's: those to a chat platform, which cannot list its messages. */
  readonly chat?: true
}

export const at = (n: number, line: number, severity: Severity = "medium"): Finding =>
  finding(n, { file, severity }, { path: file, side: "new", line })

/** The observed results of a publication. */
export interface Judged {
  readonly head: string
  readonly run: { readonly status: string; readonly partial: boolean; readonly reason: string | undefined }
  /** Rows of the outbox as `Operation status`. */
  readonly rows: ReadonlyArray<string>
  /** Most attempts of a row. */
  readonly attempts: number
}

/** Timeout of the service for a response, in these tests: longer than a response takes on a busy machine. */
const responseTimeout = Duration.seconds(1)

export const faultWorld = async ({ host: kind, channel, target, chat: onlyChat }: Row) => {
  const host: Host = await startHost(kind)
  const platform = await startChatPlatform()
  const own: ChannelSettings = { name: "channel", ...channel }
  const space = workspace(
    { channels: [own], routes: { default: { line_comments: ["channel"], summary: ["channel"] } } },
    { output_language: "en", labels: { auto_tag: "in review", reviewed_tag: "reviewed" } }
  )
  const snapshot: Snapshot = {
    ...testSnapshot({}, { WEBHOOK: platform.url }),
    triggers: new Map([["host", host.forge.profile()]]),
    workspaces: new Map([["shop", { ...space, snapshot: (): Snapshot => snapshot }]])
  }
  const parts = Layer.mergeAll(
    Store.layerMemory,
    MemoryQueue.layerMemory({ perWorkspace: 100, total: 100 }),
    Tickets.layerMemory,
    Cancellations.layerMemory,
    Progress.layer,
    OutputsLayer.layer,
    Layer.succeed(ResponseTimeout, responseTimeout)
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(Forges.layer, Cache.layerNone, memoryObjects, AuthorGuess.layerNone, uncounted)),
    Layer.provideMerge(layerStatic(snapshot))
  )
  const world = Layer.mergeAll(Publisher.layer, Scheduler.layer).pipe(
    Layer.provideMerge(parts),
    Layer.provideMerge(testCluster)
  )

  /** Heads that every case goes through; making commits would cost more than all the rest. */
  const heads: Array<string> = []
  for (const content of ["1\n", "2\n"]) {
    heads.push(
      await host.forge.push(repoName, { branch: "feature/x", message: content, files: { "more.txt": content } })
    )
  }

  /** A change of its own, with a client that has cached nothing yet. */
  const begin = Effect.gen(function* () {
    ;(yield* Forges).forget(["host"])
    const pull = yield* Effect.promise(() =>
      host.forge.createPull(repoName, { title: "case", headBranch: "feature/x" })
    )
    const repository = host.forge.repository(repoName)
    repository.statuses.clear()
    const issues = host.forge.issues(repoName)
    issues.labels.clear()
    const before = { issues: issues.issues.length, notes: issues.commitComments.length, chat: platform.got.length }

    let reviews = 0
    /**
     * Publishes what a review of the next head found, or with `again` of the same. `tick`: how far the clock goes in a millisecond.
     */
    const review = Effect.fnUntraced(function* (
      findings: ReadonlyArray<Finding>,
      { tick = "10 seconds", again = false }: { readonly tick?: Duration.Input; readonly again?: boolean } = {}
    ) {
      const head = heads[again ? reviews - 1 : reviews++] ?? ""
      pull.head = head
      const change: Change = {
        provider: kind,
        trigger: "host",
        workspace: "shop",
        repo: { fullName: repoName },
        target:
          target === "pull_request"
            ? { kind: "pull_request", number: pull.number }
            : { kind: "push", branch: `b-${pull.number}` },
        head,
        author: { username: "dana" }
      }
      const [runs, outbox, outputs] = [yield* Runs, yield* Outbox, yield* Outputs]
      const key = targetKey(change)
      const run = yield* runs.begin(
        { entryId: newId(), workspace: "shop", targetKey: key, change, head, base: "b", configHash: "test" },
        LeaseToken.make(1),
        0
      )
      if (run === undefined) return yield* Effect.die("the run did not begin")
      yield* runs.move(run.id, LeaseToken.make(1), "analyzing", 0)
      const found = analysis(findings, { coverage: { reviewed: [file], skipped: [], lines: 3 } })
      const input = { runId: run.id, targetKey: key, change, head, workspace: space, runUrl: undefined }
      yield* outbox.add(outputs.status(input, "pending", verbatimReason("Review in progress")), 0)
      const plan = outputs.plan({ ...input, analysis: found })
      const status = outputs
        .status(input, "success", verbatimReason("done"))
        .map((row) => ({ ...row, position: plan.length }))
      if (!(yield* runs.complete(run.id, LeaseToken.make(1), found, [...plan, ...status], 0)))
        return yield* Effect.die("lost the lease")
      const publisherOf = yield* Publisher.publishers
      const done = yield* Effect.forkChild(publisherOf(key).Publish())
      // Requests take real time; pauses between attempts pass immediately.
      while (done.pollUnsafe() === undefined) {
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1)))
        yield* TestClock.adjust(tick)
      }
      const rows = yield* outbox.ofRun(run.id)
      const record = yield* runs.get(run.id)
      const judged: Judged = {
        head,
        run: {
          status: record?.status ?? "none",
          partial: record?.partial ?? false,
          reason: record?.reason && inEnglish(record.reason)
        },
        rows: rows.map((row) => `${row.operation._tag} ${row.status}`),
        attempts: Math.max(...rows.map((row) => row.attempts))
      }
      return judged
    })

    /** Everything of ours on this change, in a form that does not depend on the case. */
    const existing = (): ReadonlyArray<string> => {
      const fps = (body: string) =>
        [
          ...new Set(parseMarkers(body).flatMap(({ fp }) => (fp === undefined ? [] : [fp.replace(/^0+/, "")])))
        ].toSorted()
      const inline = pull.reviews
        .flatMap((one) => one.comments)
        .map((comment) => {
          const { body, resolver } = getThread(comment)
          const marked = parseMarkers(body ?? "").some(({ state }) => state === "resolved")
          return `line ${comment.line} ${fps(comment.body).join()}${marked ? " marked" : ""}${resolver === undefined ? "" : " resolved"}`
        })
      const comments = [
        ...pull.comments.filter(({ user }) => user.login === "aicr"),
        ...pull.reviews.filter(isSummary)
      ].map(({ body }) => `comment ${fps(body).join()}`)
      const written = issues.issues
        .slice(before.issues)
        .map(({ body, labels, state }) => `issue ${fps(body).join()} ${state} ${labels.join()}`)
      const notes = issues.commitComments.slice(before.notes).map(({ sha }) => `note on head ${heads.indexOf(sha)}`)
      const chat = platform.got.slice(before.chat).map((text) => {
        const names = [...new Set(text.match(/Message \d+|Title \d+/g) ?? [])].join()
        const part = /\((\d+\/\d+)\)/.exec(text)?.[1] ?? ""
        return `chat ${/mentioned_mobile_list/.test(text) ? "call" : names} ${part}`
      })
      const states = heads.map((head, n) => `status ${n} ${repository.statuses.get(head)?.at(-1)?.state ?? "none"}`)
      const created = [...issues.labels.values()].map(({ name }) => `label ${name}`)
      return [
        ...inline,
        ...comments,
        ...written,
        ...notes,
        ...chat,
        ...(target === "push" ? [] : [...states, ...pull.labels.map(({ name }) => `labelled ${name}`)]),
        ...created
      ].toSorted()
    }
    return { review, existing, pull }
  })

  return {
    world,
    host,
    begin,
    /** Decides on every request of the row's kind. */
    strike: (decide: (writes: boolean) => Fault | undefined) => {
      if (onlyChat) platform.decide = () => decide(true)
      else host.forge.intercept(({ method }) => decide(method !== "GET"))
    },
    stop: async () => {
      await Promise.all([host.forge.stop(), platform.stop()])
    }
  }
}
