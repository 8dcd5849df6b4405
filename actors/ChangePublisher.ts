/**
 * One per target (pull request, branch, issue). All writes to it are serial and come from the outbox, where each operation
 * was stored before it is sent. A row whose answer was lost (this process or an earlier one died, or the connection broke) is
 * looked up at the host by its marker before it is sent again, so that no operation is done twice.
 *
 * Right before each content write the head is read again: a head that is no longer the newest gets nothing more, and the newest
 * is queued. A closed or merged change gets the summary only.
 *
 * Messages: `Publish` (send what is open) and `Command` (carry out a comment command, CommentCommand.ts). Both may be lost or
 * repeated: outbox and receipts hold the truth.
 */
import { Clock, Duration, Effect, Metric, Random, Schema } from "effect"
import { Entity, Sharding } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { ConfigStore } from "../src/config/ConfigStore.ts"
import type { Workspace } from "../src/config/Snapshot.ts"
import { Priority } from "../src/domain/Entry.ts"
import type { Publication } from "../src/domain/Publication.ts"
import { BeforeWrite } from "../src/forge/BeforeWrite.ts"
import { ForgeError } from "../src/forge/Forge.ts"
import { Forges } from "../src/forge/Forges.ts"
import * as Metrics from "../src/observability/Metrics.ts"
import { Progress } from "../src/observability/Progress.ts"
import { ChannelMissing, Outputs } from "../src/outputs/Outputs.ts"
import { backoffMillis } from "../src/queue/Backoff.ts"
import { enqueue } from "../src/queue/Enqueue.ts"
import { Queue } from "../src/queue/Queue.ts"
import { Batches } from "../src/store/Batches.ts"
import { Outbox } from "../src/store/Outbox.ts"
import { Receipts } from "../src/store/Receipts.ts"
import { Runs } from "../src/store/Runs.ts"
import type { Run } from "../src/store/Runs.ts"
import type { StoreError } from "../src/store/StoreError.ts"
import { carryOut } from "./CommentCommand.ts"
import { WorkspaceScheduler } from "./WorkspaceScheduler.ts"

const Publish = Rpc.make("Publish")
const Command = Rpc.make("Command", { payload: { eventId: Schema.String } })

export const ChangePublisher = Entity.make("ChangePublisher", [Publish, Command])

/** A host that refuses for now is asked again with growing pauses, and given up after this many attempts (about four hours). */
const maxAttempts = 30
const backoff = { kind: "exponential", base_ms: 1000, max_ms: Duration.toMillis("10 minutes"), jitter: true } as const
/** How long a host gets to show a write whose answer was lost, before it is looked up. */
const settleBeforeLookup = Duration.seconds(1)

type HeadCheck = "newest" | "closed" | { readonly _tag: "Moved"; readonly head: string }

export const layer = ChangePublisher.toLayer(
  Effect.gen(function* () {
    const targetKey = (yield* Entity.CurrentAddress).entityId
    const context = yield* Effect.context<ConfigStore | Forges | Receipts | Sharding.Sharding>()
    const batches = yield* Batches
    const config = yield* ConfigStore
    const forges = yield* Forges
    const outbox = yield* Outbox
    const outputs = yield* Outputs
    const progress = yield* Progress
    const queue = yield* Queue
    const receipts = yield* Receipts
    const runs = yield* Runs
    const schedulerOf = yield* WorkspaceScheduler.client
    /** Rows this activation is sending; a row in `sending` that is not here belongs to a process that died. */
    const mine = new Set<string>()

    const workspaceOf = (run: Run): Workspace | undefined => config.pinned(run.configHash).workspaces.get(run.workspace)

    const headOf = Effect.fnUntraced(function* (run: Run): Effect.fn.Return<HeadCheck, ForgeError> {
      const { number } = run.change.target
      const profile = config.pinned(run.configHash).triggers.get(run.change.trigger)
      if (run.change.target.kind !== "pull_request" || number === undefined || profile === undefined) return "newest"
      const pull = yield* forges.client(profile).pull(run.change.repo, number)
      if (pull.state !== "open") return "closed"
      return pull.head === run.head ? "newest" : { _tag: "Moved", head: pull.head }
    })

    /** The newest head is queued (joining the entry its own webhook made, if any) before the stale one is let go. */
    const follow = Effect.fnUntraced(function* (run: Run, head: string) {
      const now = yield* Clock.currentTimeMillis
      const { base: _base, ...change } = run.change
      yield* enqueue([
        {
          eventId: `follow:${run.id}:${head}`,
          change: { ...change, head },
          configHash: run.configHash,
          priority: Priority.pullRequest,
          admittedAt: now,
          dueAt: now
        }
      ]).pipe(
        Effect.provideService(Queue, queue),
        Effect.provideService(Receipts, receipts),
        Effect.provideService(Batches, batches)
      )
      yield* schedulerOf(run.workspace).Wake(undefined, { discard: true })
    })

    /** The commit that got a pending status and no review says why. */
    const closeStatus = Effect.fnUntraced(function* (run: Run, newest: string) {
      const workspace = workspaceOf(run)
      if (workspace === undefined) return
      const { id: runId, change, head } = run
      const description = `Superseded by ${newest.slice(0, 12)}`
      const rows = outputs.status(
        { runId, targetKey, change, head, workspace, runUrl: undefined },
        "success",
        description
      )
      yield* outbox.add(rows, yield* Clock.currentTimeMillis)
    })

    const drop = Effect.fnUntraced(function* (row: Publication, reason: string) {
      const now = yield* Clock.currentTimeMillis
      yield* outbox.move(row.id, row.status, { status: "dropped", error: reason }, now)
    })

    /** Sends one row and records what the host said. Answers how the change stood when it was about to be sent. */
    const send = Effect.fnUntraced(function* (run: Run, row: Publication): Effect.fn.Return<HeadCheck, StoreError> {
      const workspace = workspaceOf(run)
      if (workspace === undefined) {
        yield* drop(row, `workspace ${run.workspace} is no longer configured`)
        return "newest"
      }
      const previous = yield* outbox.lastSent(targetKey, row.channel, row.operation._tag, run.id)
      if (!(yield* outbox.move(row.id, "pending", { status: "sending" }, yield* Clock.currentTimeMillis)))
        return "newest"
      mine.add(row.id)
      let check: HeadCheck = "newest"
      const guard = Effect.flatMap(headOf(run), (now) => {
        const { _tag } = row.operation
        check = now === "closed" && (_tag === "Summary" || _tag === "Chat") ? "newest" : now
        return check === "newest" ? Effect.void : outdated
      })
      const sending = outputs.send(workspace, run.change, row, previous)
      const answer = yield* Effect.result(Effect.provideService(sending, BeforeWrite, guard))
      const now = yield* Clock.currentTimeMillis
      if (answer._tag === "Success") yield* outbox.add(answer.success.next, now)
      const update =
        answer._tag === "Success"
          ? ({ status: "sent", hostId: answer.success.hostId, url: answer.success.url } as const)
          : check !== "newest"
            ? ({ status: "pending" } as const)
            : yield* afterFailure(answer.failure, row, now)
      yield* outbox.move(row.id, "sending", update, now)
      mine.delete(row.id)
      if (check !== "newest") return check
      yield* Metric.update(
        Metric.withAttributes(Metrics.publications, { operation: row.operation._tag, outcome: update.status }),
        1
      )
      yield* progress.tell({
        _tag: "Published",
        workspace: run.workspace,
        targetKey,
        runId: run.id,
        operation: row.operation._tag,
        status: update.status,
        url: update.status === "sent" ? update.url : undefined
      })
      return "newest"
    })

    const lookUp = Effect.fnUntraced(function* (run: Run, row: Publication): Effect.fn.Return<void, StoreError> {
      const workspace = workspaceOf(run)
      if (workspace === undefined) return yield* drop(row, `workspace ${run.workspace} is no longer configured`)
      yield* Effect.sleep(settleBeforeLookup)
      const found = yield* Effect.result(outputs.find(workspace, run.change, row))
      const now = yield* Clock.currentTimeMillis
      if (found._tag === "Success") {
        yield* outbox.add(found.success?.next ?? [], now)
        yield* outbox.move(
          row.id,
          "unknown",
          found.success === undefined
            ? { status: "pending" }
            : { status: "sent", hostId: found.success.hostId, url: found.success.url },
          now
        )
        return
      }
      yield* Effect.logWarning(
        `Whether ${row.operation._tag} of run ${run.id} reached the host is not known yet: ${found.failure.message}`
      )
      if (isFinal(found.failure)) return yield* drop(row, found.failure.message)
      yield* Effect.sleep(backoffMillis(backoff, Math.max(1, row.attempts), yield* Random.next))
    })

    /** One step: looks up, waits or sends the first open row. False when nothing is open. */
    const step = Effect.fnUntraced(function* () {
      const [row, ...rest] = yield* outbox.open(targetKey)
      if (row === undefined) return false
      const run = yield* runs.get(row.runId)
      if (run === undefined) {
        yield* drop(row, "its run is no longer on record")
        return true
      }
      if (row.status === "sending" && !mine.has(row.id)) {
        yield* outbox.move(row.id, "sending", { status: "unknown" }, yield* Clock.currentTimeMillis)
        return true
      }
      if (row.status === "unknown") {
        yield* Effect.annotateLogs(lookUp(run, row), { target: targetKey, run: run.id })
        return true
      }
      const now = yield* Clock.currentTimeMillis
      if (row.notBefore !== undefined && row.notBefore > now) {
        yield* Effect.sleep(row.notBefore - now)
        return true
      }
      const check = yield* Effect.annotateLogs(send(run, row), { target: targetKey, run: run.id })
      if (check === "closed") yield* drop(row, "the pull request is closed: only the summary is published")
      else if (check !== "newest") {
        yield* follow(run, check.head)
        for (const stale of [row, ...rest]) {
          if (stale.runId === run.id) yield* drop(stale, `the head moved on to ${check.head}`)
        }
        yield* closeStatus(run, check.head)
      }
      yield* settle(run)
      return true
    })

    /** Ends the run once none of its rows is open. */
    const settle = Effect.fnUntraced(function* (run: Run) {
      if (run.status !== "publishing") return
      const rows = yield* outbox.ofRun(run.id)
      if (rows.some((row) => row.status === "pending" || row.status === "sending" || row.status === "unknown")) return
      const contents = rows.filter(({ operation }) => operation._tag !== "Status" && operation._tag !== "Label")
      const failed = contents.filter((row) => row.status === "failed")
      const sent = contents.filter((row) => row.status === "sent")
      const dropped = contents.filter((row) => row.status === "dropped")
      const to =
        failed.length > 0 && sent.length === 0
          ? "failed"
          : sent.length === 0 && dropped.length > 0
            ? "skipped"
            : "succeeded"
      const reason = failed[0]?.error ?? dropped[0]?.error
      const now = yield* Clock.currentTimeMillis
      const cut = run.analysis?.partial === true
      if (yield* runs.settle(run.id, to, { partial: failed.length > 0 || cut, reason }, now)) {
        yield* progress.tell({
          _tag: "Finished",
          workspace: run.workspace,
          targetKey,
          runId: run.id,
          status: to,
          reason
        })
      }
    })

    const drain: Effect.Effect<void> = Effect.gen(function* () {
      while (yield* step()) {}
      // A process that died after its last write left its run open.
      for (const run of yield* runs.list({ targetKey, status: "publishing", limit: 100 })) yield* settle(run)
    }).pipe(
      Effect.catch((error) =>
        Effect.logWarning(`Publishing to ${targetKey} paused: ${error.message}. It goes on in 5 seconds.`).pipe(
          Effect.andThen(Effect.sleep("5 seconds")),
          Effect.andThen(Effect.suspend(() => drain))
        )
      )
    )

    return ChangePublisher.of({
      Publish: () => drain,
      Command: ({ payload }) =>
        carryOut(payload.eventId).pipe(
          Effect.catch((error) =>
            Effect.logWarning(
              `A command for ${targetKey} was not carried out yet: ${error.message}. It is tried again.`
            )
          ),
          Effect.provideContext(context)
        )
    })
  }),
  { disableFatalDefects: true, mailboxCapacity: 256, maxIdleTime: "10 minutes" }
)

/** Never recorded: the guard refused the write before it was sent. */
const outdated = Effect.fail(
  new ForgeError({ reason: "conflict", operation: "publish", message: "the change moved on before this was sent" })
)

const isFinal = (error: ForgeError | ChannelMissing): boolean =>
  error._tag === "ChannelMissing" ||
  error.reason === "unauthorized" ||
  error.reason === "forbidden" ||
  error.reason === "not_found" ||
  error.reason === "conflict" ||
  error.reason === "invalid"

const afterFailure = Effect.fnUntraced(function* (error: ForgeError | ChannelMissing, row: Publication, now: number) {
  if (isFinal(error) || row.attempts + 1 >= maxAttempts) return { status: "failed", error: error.message } as const
  if (error._tag === "ForgeError" && error.reason === "unknown_outcome") {
    return { status: "unknown", error: error.message } as const
  }
  const pause = backoffMillis(backoff, row.attempts + 1, yield* Random.next)
  const asked = error._tag === "ForgeError" ? (error.retryAfterMillis ?? 0) : 0
  return { status: "pending", error: error.message, notBefore: now + Math.max(pause, asked) } as const
})
