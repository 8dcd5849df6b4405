/**
 * One per target (pull request, branch, issue). All writes to it are serial and come from the outbox, where each operation
 * was stored before it is sent. A row whose answer was lost (this process or an earlier one died, or the connection broke) is
 * looked up at the host by its marker before it is sent again, so that no operation is done twice.
 *
 * Whoever starts to publish to a target takes it over in the outbox and holds the newest token; right before each write it asks
 * whether it still does. A node that was frozen and still believes to be the publisher sends nothing more and changes no row.
 *
 * Right before each content write the head is read again: a head that is no longer the newest gets nothing more, and the newest
 * is queued. A closed or merged change gets the summary only.
 *
 * Messages: `Publish` (send what is open) and `Command` (carry out a comment command, CommentCommand.ts) may be lost: outbox and
 * receipts hold the truth. `NoteExpired` (an entry of the target waited too long: chat groups are to know) is answered when that is in
 * the outbox. All may be repeated.
 */
import { Clock, Duration, Effect, Metric, Random, Schema } from "effect"
import { ClusterSchema, Entity, Sharding } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { ConfigStore } from "../src/config/ConfigStore.ts"
import type { Workspace } from "../src/config/Snapshot.ts"
import { Priority } from "../src/domain/Entry.ts"
import type { Publication, PublicationStatus } from "../src/domain/Publication.ts"
import { BeforeWrite, WriteFence } from "../src/forge/BeforeWrite.ts"
import { ForgeError } from "../src/forge/Forge.ts"
import { Forges } from "../src/forge/Forges.ts"
import * as Metrics from "../src/observability/Metrics.ts"
import { Progress } from "../src/observability/Progress.ts"
import { expiryNotice } from "../src/outputs/ExpiryNotice.ts"
import { ChannelMissing, Outputs } from "../src/outputs/Outputs.ts"
import { backoffMillis } from "../src/queue/Backoff.ts"
import { enqueue } from "../src/queue/Enqueue.ts"
import { Queue } from "../src/queue/Queue.ts"
import type { QueueError } from "../src/queue/Queue.ts"
import { Batches } from "../src/store/Batches.ts"
import { Outbox } from "../src/store/Outbox.ts"
import type { PublicationUpdate } from "../src/store/Outbox.ts"
import { Receipts } from "../src/store/Receipts.ts"
import { Runs } from "../src/store/Runs.ts"
import type { Run } from "../src/store/Runs.ts"
import type { StoreError } from "../src/store/StoreError.ts"
import { carryOut } from "./CommentCommand.ts"
import { everyOne } from "./Placement.ts"
import { WorkspaceScheduler } from "./WorkspaceScheduler.ts"

const Publish = Rpc.make("Publish")
const Command = Rpc.make("Command", { payload: { eventId: Schema.String } })
const NoteExpired = Rpc.make("NoteExpired", {
  payload: { entryId: Schema.String },
  /** False: it could not be noted now. */
  success: Schema.Boolean
})

export const ChangePublisher = Entity.make("ChangePublisher", [Publish, Command, NoteExpired]).annotate(
  ClusterSchema.ShardGroup,
  everyOne("publisher")
)

/** A host that refuses for now is asked again with growing pauses, and given up after this many attempts (about four hours). */
const maxAttempts = 30
const backoff = { kind: "exponential", base_ms: 1000, max_ms: Duration.toMillis("10 minutes"), jitter: true } as const
/** How long a host gets to show a write whose answer was lost, before it is looked up. */
const settleBeforeLookup = Duration.seconds(1)

/** Until a node that lost a target to another one may take it over again: it knows by then whose it is. */
const standBack = Duration.seconds(15)

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
    let token: number | undefined

    /** What the target is held with; taken over with the first message of an activation. */
    const held = Effect.suspend(() =>
      token === undefined
        ? Effect.tap(
            Effect.flatMap(Clock.currentTimeMillis, (now) => outbox.takeOver(targetKey, now)),
            (taken) =>
              Effect.sync(() => {
                token = taken
              })
          )
        : Effect.succeed(token)
    )
    const stillHeld = Effect.flatMap(held, (own) => outbox.holds(targetKey, own))
    const fence = Effect.flatMap(
      Effect.mapError(
        stillHeld,
        ({ message }) => new ForgeError({ reason: "unavailable", operation: "publish", message })
      ),
      (holds) => (holds ? Effect.void : takenOver)
    )
    /** A row was not where this activation left it. */
    let doubtful = false
    const move = Effect.fnUntraced(function* (row: Publication, from: PublicationStatus, update: PublicationUpdate) {
      const moved = yield* outbox.move(row.id, from, update, yield* held, yield* Clock.currentTimeMillis)
      doubtful = doubtful || !moved
      return moved
    })

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
      yield* move(row, row.status, { status: "dropped", error: reason })
    })

    /**
     * Sends one row and records what the host said. Answers how the change stood when it was about to be sent, and whether all that
     * became of it is that this row is sent.
     */
    const send = Effect.fnUntraced(function* (
      run: Run,
      row: Publication
    ): Effect.fn.Return<{ readonly check: HeadCheck; readonly isSent: boolean }, StoreError> {
      const unsent = { check: "newest", isSent: false } as const
      const workspace = workspaceOf(run)
      if (workspace === undefined) {
        yield* drop(row, `workspace ${run.workspace} is no longer configured`)
        return unsent
      }
      const previous = isContent(row)
        ? yield* outbox.lastSent(targetKey, row.channel, row.operation._tag, run.id)
        : undefined
      if (!(yield* move(row, "pending", { status: "sending" }))) return unsent
      let check: HeadCheck = "newest"
      const guard = Effect.flatMap(headOf(run), (now) => {
        const { _tag } = row.operation
        check = now === "closed" && (_tag === "Summary" || _tag === "Chat") ? "newest" : now
        return check === "newest" ? Effect.void : outdated
      })
      const sending = outputs.send(workspace, run.change, row, previous)
      const answer = yield* sending.pipe(
        Effect.provideService(BeforeWrite, guard),
        Effect.provideService(WriteFence, fence),
        Effect.result
      )
      const now = yield* Clock.currentTimeMillis
      const next = answer._tag === "Success" ? answer.success.next : []
      if (next.length > 0) yield* outbox.add(next, now)
      const update =
        answer._tag === "Success"
          ? ({ status: "sent", hostId: answer.success.hostId, url: answer.success.url } as const)
          : check !== "newest"
            ? ({ status: "pending" } as const)
            : yield* afterFailure(answer.failure, row, now)
      if (!(yield* move(row, "sending", update))) return unsent
      if (check !== "newest") return { check, isSent: false }
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
      return { check, isSent: update.status === "sent" && next.length === 0 }
    })

    const lookUp = Effect.fnUntraced(function* (run: Run, row: Publication): Effect.fn.Return<void, StoreError> {
      const workspace = workspaceOf(run)
      if (workspace === undefined) return yield* drop(row, `workspace ${run.workspace} is no longer configured`)
      yield* Effect.sleep(settleBeforeLookup)
      const found = yield* Effect.result(outputs.find(workspace, run.change, row))
      const now = yield* Clock.currentTimeMillis
      if (found._tag === "Success") {
        yield* outbox.add(found.success?.next ?? [], now)
        yield* move(
          row,
          "unknown",
          found.success === undefined
            ? { status: "pending" }
            : { status: "sent", hostId: found.success.hostId, url: found.success.url }
        )
        return
      }
      yield* Effect.logWarning(
        `Whether ${row.operation._tag} of run ${run.id} reached the host is not known yet: ${found.failure.message}`
      )
      if (isFinal(found.failure)) return yield* drop(row, found.failure.message)
      yield* Effect.sleep(backoffMillis(backoff, Math.max(1, row.attempts), yield* Random.next))
    })

    /** One step: looks up, waits for or sends this row. True when nothing else changed by it, so that what was read still stands. */
    const step = Effect.fnUntraced(function* (
      run: Run | undefined,
      row: Publication,
      rest: ReadonlyArray<Publication>
    ) {
      if (run === undefined) {
        yield* drop(row, "its run is no longer on record")
        return false
      }
      // This activation sends one row at a time and is not sending now: whoever sent this one did not get to note its end.
      if (row.status === "sending") {
        yield* move(row, "sending", { status: "unknown" })
        return false
      }
      if (row.status === "unknown") {
        yield* Effect.annotateLogs(lookUp(run, row), { target: targetKey, run: run.id })
        return false
      }
      const now = yield* Clock.currentTimeMillis
      if (row.notBefore !== undefined && row.notBefore > now) {
        yield* Effect.sleep(row.notBefore - now)
        return false
      }
      const { check, isSent } = yield* Effect.annotateLogs(send(run, row), { target: targetKey, run: run.id })
      if (check === "closed") yield* drop(row, "the pull request is closed: only the summary is published")
      else if (check !== "newest") {
        yield* follow(run, check.head)
        for (const stale of [row, ...rest]) {
          if (stale.runId === run.id) yield* drop(stale, `the head moved on to ${check.head}`)
        }
        yield* closeStatus(run, check.head)
      }
      if (!isSent || rest.every((other) => other.runId !== run.id)) yield* settle(run)
      return isSent
    })

    /** The open rows in their order, for as long as they are as they were read. Answers whether there is more to do. */
    const pass = Effect.fnUntraced(function* () {
      const rows = yield* outbox.open(targetKey)
      let run: Run | undefined
      for (const [at, row] of rows.entries()) {
        // From `publishing` on a run is the publisher's, and what is published of it stands.
        if (run?.id !== row.runId || run.status !== "publishing") run = yield* runs.get(row.runId)
        if (!(yield* step(run, row, rows.slice(at + 1))) || doubtful) return "more"
      }
      return rows.length === 0 ? "nothing" : "sent"
    })

    /** Ends the run once none of its rows is open. */
    const settle = Effect.fnUntraced(function* (run: Run) {
      if (run.status !== "publishing") return
      const rows = yield* outbox.ofRun(run.id)
      if (rows.some((row) => row.status === "pending" || row.status === "sending" || row.status === "unknown")) return
      const contents = rows.filter(isContent)
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

    let isFirst = true
    /** What is added meanwhile comes with a message of its own. */
    const drain: Effect.Effect<void> = Effect.gen(function* () {
      let found = yield* pass()
      for (; found === "more"; found = yield* pass()) {
        if (!doubtful) continue
        doubtful = false
        if (yield* stillHeld) continue
        yield* Effect.logWarning(`Publishing to ${targetKey} was taken over by another node`)
        yield* Effect.sleep(standBack)
        token = undefined
      }
      // A process that died after its last write left its run open; a run that publishes nothing never had a row.
      if (found === "sent" && !isFirst) return
      for (const run of yield* runs.list({ targetKey, status: "publishing", limit: 100 })) yield* settle(run)
      isFirst = false
    }).pipe(
      Effect.catch((error) =>
        Effect.logWarning(`Publishing to ${targetKey} paused: ${error.message}. It goes on in 5 seconds.`).pipe(
          Effect.andThen(Effect.sleep("5 seconds")),
          Effect.andThen(Effect.suspend(() => drain))
        )
      )
    )

    /** A run that says why there is none, and its messages. Nothing where no chat group is to know. */
    const noteExpired = Effect.fnUntraced(function* (entryId: string): Effect.fn.Return<void, QueueError | StoreError> {
      const entry = yield* queue.get(entryId)
      if (entry?.status !== "expired") return
      const { change, configHash, token: entryToken } = entry
      const workspace = config.pinned(configHash).workspaces.get(entry.workspace)
      if (workspace === undefined) return
      const hours = config.current().document.review.auto_commit.queued_timeout_hours
      const planned = expiryNotice("", entry, workspace, hours)
      const noted = (yield* runs.list({ targetKey, limit: 100 })).some(
        (run) => run.entryId === entryId && run.reason === "queued_timeout"
      )
      if (planned.length === 0 || noted) return
      const now = yield* Clock.currentTimeMillis
      const { base, head = "" } = change
      const begun = { entryId, workspace: entry.workspace, targetKey, change, head, base, configHash }
      const run = yield* runs.begin(begun, entryToken, now)
      if (run === undefined) return
      yield* outbox.add(
        planned.map((row) => ({ ...row, runId: run.id })),
        now
      )
      yield* runs.move(run.id, entryToken, "skipped", now, "queued_timeout")
    })

    return ChangePublisher.of({
      Publish: () => drain,
      NoteExpired: ({ payload }) =>
        noteExpired(payload.entryId).pipe(
          Effect.as(true),
          Effect.catch((error) =>
            Effect.as(
              Effect.logWarning(`That an entry of ${targetKey} expired is not noted yet: ${error.message}`),
              false
            )
          )
        ),
      Command: ({ payload }) =>
        carryOut(payload.eventId).pipe(
          Effect.catch((error) =>
            Effect.logWarning(
              `A command for ${targetKey} was not carried out yet: ${error.message}. It is tried again.`
            )
          ),
          Effect.provideService(WriteFence, fence),
          Effect.provideContext(context)
        )
    })
  }),
  { disableFatalDefects: true, mailboxCapacity: 256, maxIdleTime: "10 minutes" }
)

/** What people read; the rest is the same whatever was said before. */
const isContent = ({ operation }: Publication): boolean => operation._tag !== "Status" && operation._tag !== "Label"

/** Never recorded: the guard refused the write before it was sent. */
const outdated = Effect.fail(
  new ForgeError({ reason: "conflict", operation: "publish", message: "the change moved on before this was sent" })
)

const takenOver = Effect.fail(
  new ForgeError({ reason: "unavailable", operation: "publish", message: "another node publishes to this change now" })
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
