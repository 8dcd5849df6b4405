/**
 * Publishes to one target (pull request, branch, issue). All writes to a target are serial and come from the outbox, where each operation
 * is stored before it is sent. A row whose response was lost (the process died, or the connection broke) is looked up at the host by its
 * marker before it is sent again, so that no operation is done twice.
 *
 * A publisher takes its target over in the outbox and gets the newest fencing token. It verifies the token right before each write, so that
 * a node that was frozen and still believes it is the publisher sends nothing and changes no row.
 *
 * Right before each content write the head is read again. A head that is no longer the newest gets nothing more, and the newest is queued.
 * A closed or merged change gets the summary only.
 *
 * Messages: `Publish` (send open rows), `Unreviewed` (an entry of the target waits, and its head may be green; HeadStatus.ts) and `Command` (execute a comment command, CommentCommand.ts) may be lost, because outbox and
 * receipts are the source of truth. `NoteExpired` (an entry of the target expired: notify chat groups) replies when the messages are in the
 * outbox. `Dismiss` (a person dismissed a finding from chat, DismissFinding.ts) replies with its outcome. All may be repeated.
 */
import { Clock, Duration, Effect, Schema, Semaphore } from "effect"
import { ClusterSchema, Entity, Sharding } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Snapshot, Workspace } from "../../src/config/Snapshot.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import type { Publication } from "../../src/domain/Publication.ts"
import { DuringOutage } from "../../src/forge/HostHealth.ts"
import { WriteOwner } from "../../src/forge/WriteOwner.ts"
import type { WritePermits } from "../../src/forge/WritePermits.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { limitWarning } from "../../src/observability/LimitedWarnings.ts"
import { Progress } from "../../src/observability/Progress.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { isPrivateRow } from "../../src/outputs/PrivateRow.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { withSettings } from "../../src/domain/RepositorySettings.ts"
import { QueueControl } from "../../src/queue/operator/QueueControl.ts"
import { Batches } from "../../src/store/Batches.ts"
import type { Lessons } from "../../src/store/Lessons.ts"
import type { Notices } from "../../src/store/Notices.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import { countStart } from "../ActorStarts.ts"
import { CoalescedRuns } from "./CoalescedRuns.ts"
import { executeCommand } from "./CommentCommand.ts"
import type { FailedCommands } from "./CommentCommand.ts"
import { DismissalRequest, DismissalOutcome, dismissFinding } from "./DismissFinding.ts"
import { noteExpiry } from "./ExpiryNote.ts"
import { recordUnreviewed } from "./HeadStatus.ts"
import { everyOne } from "../Placement.ts"
import { skippedReason } from "../../src/domain/SkippedReason.ts"
import {
  isContent,
  isFinalStatus,
  isUndelivered,
  isUnpublished,
  isWithheld,
  maxStarts,
  nextStep,
  runEnd,
  sendingFirst,
  vouches,
  withPartNote
} from "./PublishDecision.ts"
import type { RunEnd } from "./PublishDecision.ts"
import { lookUpRow, sendRow, withholdRow } from "./PublishRow.ts"
import { logEnded, withStory } from "../review/RunLog.ts"
import type { SendResult } from "./PublishRow.ts"
import { endStatus, followHead } from "./SupersededHead.ts"
import { holdTarget } from "./TargetHold.ts"
import type { TargetHold } from "./TargetHold.ts"
import { missingToken } from "../review/MissingToken.ts"
import { reportUnpublished } from "./Unpublished.ts"

const Publish = Rpc.make("Publish")
const Unreviewed = Rpc.make("Unreviewed", { payload: { entryId: Schema.String } })
const Command = Rpc.make("Command", { payload: { eventId: Schema.String } })
const NoteExpired = Rpc.make("NoteExpired", {
  payload: { entryId: Schema.String },
  /** False if it could not be recorded now. */
  success: Schema.Boolean
})

const Dismiss = Rpc.make("Dismiss", { payload: DismissalRequest, success: DismissalOutcome })

export const ChangePublisher = Entity.make("ChangePublisher", [
  Publish,
  Unreviewed,
  Command,
  NoteExpired,
  Dismiss
]).annotate(ClusterSchema.ShardGroup, everyOne("publisher"))

/** Returns the publisher of a target. */
export const publishers = Effect.map(ChangePublisher.client, (clientOf) => (target: TargetKey) => clientOf(target))

/** Time that a node waits before it takes over a target that it lost to another one. The current owner is known by then. */
const cooldown = Duration.seconds(15)

const snapshotOf = (run: Run) => ConfigStore.use((config) => config.pinned(run.configHash))

const workspaceOf = (run: Run) => Effect.map(snapshotOf(run), (snapshot) => snapshot.workspaces.get(run.workspace))

const configuredFor = Effect.fnUntraced(function* (run: Run, snapshot: Snapshot) {
  if (snapshot.workspaces.has(run.workspace)) {
    return (yield* missingToken(snapshot, run.change.trigger)) === undefined ? "yes" : "unknown"
  }
  return snapshot.hash === run.configHash ? "no" : "unknown"
})

/** Records the end of the run when none of its rows is open. Returns the end; undefined if nothing was recorded. */
const recordEnd = Effect.fnUntraced(function* (run: Run, configured: Workspace | undefined) {
  const end = runEnd(
    yield* (yield* Outbox).ofRun(run.id),
    run.analysis?.partial === true,
    run.analysis && skippedReason(run.analysis)
  )
  if (end === undefined) return undefined
  const by = configured && {
    agent: configured.agent.default,
    maxProblems: withSettings(configured, run.analysis?.settings).review.max_problems
  }
  const isEnded = yield* (yield* Runs).settle(run.id, end.to, { ...end, by }, yield* Clock.currentTimeMillis)
  return isEnded ? end : undefined
})

/** Reports the recorded end of a run. */
const reportEnd = Effect.fnUntraced(function* (run: Run, configured: Workspace | undefined, { reason, to }: RunEnd) {
  if (to === "failed" || (to === "skipped" && configured === undefined))
    yield* reportUnpublished(run, configured, reason)
  yield* logEnded(run, to, reason)
  const { workspace, targetKey, id: runId } = run
  yield* (yield* Progress).publish({ _tag: "Finished", workspace, targetKey, runId, status: to, reason })
})

/** Ends the run when none of its rows is open. */
const settleRun = Effect.fnUntraced(function* (run: Run) {
  if (run.status !== "publishing") return
  const configured = yield* workspaceOf(run)
  const end = yield* recordEnd(run, configured)
  if (end !== undefined) yield* reportEnd(run, configured, end)
})

/** Drops the row if its head is closed or superseded. `rest` holds the open rows after this one. */
const dropStale = Effect.fnUntraced(function* (
  hold: TargetHold,
  run: Run,
  check: Exclude<SendResult["check"], "newest">,
  [row, ...rest]: readonly [Publication, ...ReadonlyArray<Publication>]
) {
  if (check === "closed") return yield* hold.drop(row, { _tag: "OnlySummaryPublished" })
  const workspace = yield* workspaceOf(run)
  const note = yield* followHead(run, workspace, check.head)
  if (note !== undefined) return hold.publishLate(run.id, note)
  for (const stale of [row, ...rest]) {
    if (stale.runId === run.id) yield* hold.drop(stale, { _tag: "HeadMovedOn", head: check.head })
  }
  if (workspace !== undefined) yield* endStatus(run, workspace, check.head)
})

/** Quarantines a row that crashed earlier publishers. The other rows continue. */
const quarantine = Effect.fnUntraced(function* (hold: TargetHold, row: Publication) {
  const error = { _tag: "PublishersCrashed", count: maxStarts } as const
  yield* Effect.logError("publication quarantined").pipe(
    Effect.annotateLogs({ channel: row.channel, operation: row.operation._tag, publication: row.id })
  )
  yield* hold.move(row, row.status, { status: "quarantined", error })
})

/**
 * Takes one step for the row: drop, look up, wait or send. Returns true if nothing else changed, so that the rows read before are current.
 */
const takeStep = Effect.fnUntraced(function* (
  hold: TargetHold,
  run: Run | undefined,
  row: Publication,
  rest: ReadonlyArray<Publication>
) {
  const read = run === undefined ? undefined : { run, snapshot: yield* snapshotOf(run) }
  const configuredWorkspace = read?.snapshot.workspaces.get(read.run.workspace)
  const workspace = configuredWorkspace && withSettings(configuredWorkspace, read?.run.analysis?.settings)
  const configured = read === undefined ? "no" : yield* configuredFor(read.run, read.snapshot)
  const isPrivate = (one: Publication) => workspace !== undefined && isPrivateRow(workspace, one)
  const waitsForPrivate = run?.analysis?.private !== undefined && isContent(row) && !isPrivate(row)
  const siblings = isFinalStatus(row) || vouches(row) || waitsForPrivate ? yield* (yield* Outbox).ofRun(row.runId) : []
  const step =
    vouches(row) && isUnpublished(siblings)
      ? ({ _tag: "Drop", reason: { _tag: "NothingPublished" } } as const)
      : waitsForPrivate && isUndelivered(siblings, isPrivate)
        ? ({ _tag: "Drop", reason: { _tag: "NotDelivered" } } as const)
        : nextStep(run, configured, row, yield* Clock.currentTimeMillis)
  if (step._tag === "MarkUnknown") {
    // This activation sends one row at a time and is not sending now, so an earlier publisher sent it and did not record the outcome.
    yield* hold.move(row, "sending", { status: "unknown" })
  } else if (step._tag === "Drop") {
    yield* hold.drop(row, step.reason)
    if (run !== undefined) yield* settleRun(run)
  } else if (step._tag === "Wait") yield* Effect.sleep(step.millis)
  else if (run !== undefined && workspace !== undefined) {
    if ((yield* hold.start) > maxStarts) {
      yield* quarantine(hold, row)
      yield* settleRun(run)
      return false
    }
    if (step._tag === "LookUp" && (yield* lookUpRow(hold, run, workspace, row))) {
      yield* settleRun(run)
      return false
    }
    const isLast = run.status === "publishing" && rest.every((other) => other.runId !== run.id)
    const ending = isLast ? Effect.map(recordEnd(run, configuredWorkspace), (end) => ({ end })) : undefined
    const {
      check,
      following: ended,
      isSent,
      row: unsent
    } = isWithheld(workspace, row)
      ? yield* withholdRow(hold, run, row, ending)
      : yield* sendRow(hold, run, workspace, withPartNote(row, siblings), siblings, ending)
    if (check !== "newest") yield* dropStale(hold, run, check, [unsent, ...rest])
    if (ended?.end !== undefined) yield* reportEnd(run, configuredWorkspace, ended.end)
    // Nothing was recorded together with the row.
    else if (ended === undefined && (!isSent || isLast)) yield* settleRun(run)
    return isSent
  }
  return false
})

/** Processes the open rows in order until one of them changes what was read. Returns whether there is more to do. */
const pass = Effect.fnUntraced(function* (hold: TargetHold, targetKey: TargetKey) {
  const rows = sendingFirst(yield* (yield* Outbox).open(targetKey))
  const runs = yield* Runs
  let run: Run | undefined
  for (const [at, row] of rows.entries()) {
    // A run in `publishing` belongs to the publisher, and its plan does not change.
    if (run?.id !== row.runId || run.status !== "publishing") run = yield* runs.get(row.runId)
    const step = takeStep(hold, run, row, rows.slice(at + 1))
    const isCurrent = yield* run === undefined ? step : withStory(step, run)
    if (!isCurrent || hold.isDoubtful()) return "more"
  }
  return rows.length === 0 ? "nothing" : "sent"
})

/** Sends rows until none is open. Rows that are added in between come with a message of their own. */
const drain = Effect.fnUntraced(function* (hold: TargetHold, targetKey: TargetKey, isFirst: boolean) {
  let outcome = yield* pass(hold, targetKey)
  for (; outcome === "more"; outcome = yield* pass(hold, targetKey)) {
    if (!hold.isDoubtful()) continue
    hold.trust()
    if (yield* hold.isHeld) continue
    yield* Effect.logWarning("publishing was taken over by another node").pipe(
      Effect.annotateLogs({ target: targetKey })
    )
    yield* Effect.sleep(cooldown)
    hold.release()
  }
  // A process that died after its last write left its run open, and a run that publishes nothing has no row.
  if (outcome === "sent" && !isFirst) return
  for (const run of yield* (yield* Runs).list({ targetKey, statuses: ["publishing"], limit: 100 }))
    yield* withStory(settleRun(run), run)
})

/** Returns whether there is a pending status to publish. */
const unreviewed = (target: TargetKey, entryId: string) =>
  Effect.catch(recordUnreviewed(entryId), (error) =>
    Effect.logWarning("commit not marked as unreviewed yet, housekeeping retries").pipe(
      Effect.annotateLogs({ target, entry: entryId, error: error.message }),
      Effect.as(false)
    )
  )

/** Dismisses a finding for a person of a chat platform. */
const dismissFor = (hold: TargetHold, targetKey: TargetKey, dismissal: DismissalRequest) =>
  dismissFinding(hold, dismissal).pipe(
    Effect.catch((error) =>
      Effect.logWarning("finding not dismissed yet", { target: targetKey, error: error.message }).pipe(
        Effect.as("unavailable" as const)
      )
    ),
    Effect.provideService(WriteOwner, { fence: hold.fence, guard: Effect.void })
  )

type Services =
  | Batches
  | ConfigStore
  | Forges
  | Lessons
  | Notices
  | Outbox
  | Outputs
  | Progress
  | Queue
  | QueueControl
  | Receipts
  | Runs
  | Sharding.Sharding
  | WritePermits

export const layer = ChangePublisher.toLayer(
  Effect.gen(function* () {
    yield* countStart("ChangePublisher")
    const targetKey = TargetKey.make((yield* Entity.CurrentAddress).entityId)
    const services = yield* Effect.context<Services>()
    const scope = yield* Effect.scope
    const hold = yield* holdTarget(targetKey)
    const serial = yield* Semaphore.make(1)
    const failedCommands: FailedCommands = new Map()
    const runningCommands = new Set<string>()
    let isFirst = true

    const drained: Effect.Effect<void, never, Services> = Effect.suspend(() => drain(hold, targetKey, isFirst)).pipe(
      // An orderly stop does not count as a crash caused by the row.
      Effect.onInterrupt(() => Effect.ignore(hold.ended)),
      Effect.tap(() =>
        Effect.sync(() => {
          isFirst = false
        })
      ),
      Effect.catch((error) =>
        limitWarning(
          "publishing",
          (suppressed) =>
            Effect.logWarning("publishing paused for 5 seconds", {
              target: targetKey,
              error: error.message,
              suppressed
            }),
          targetKey
        ).pipe(Effect.andThen(Effect.sleep("5 seconds")), Effect.andThen(Effect.suspend(() => drained)))
      )
    )
    const publications = new CoalescedRuns(serial.withPermit(drained))

    const command = Effect.fnUntraced(function* (eventId: string) {
      if (runningCommands.has(eventId)) return
      runningCommands.add(eventId)
      yield* serial.withPermit(executeCommand(hold, eventId, failedCommands)).pipe(
        Effect.catch((error) =>
          Effect.logWarning("comment command not executed yet, retry scheduled").pipe(
            Effect.annotateLogs({ target: targetKey, event: eventId, error: error.message })
          )
        ),
        Effect.provideService(WriteOwner, { fence: hold.fence, guard: Effect.void }),
        Effect.provideService(DuringOutage, "wait"),
        Effect.ensuring(Effect.sync(() => runningCommands.delete(eventId)))
      )
    })

    return ChangePublisher.of({
      Publish: () => Effect.provideContext(publications.request, services),
      Unreviewed: ({ payload: { entryId } }) =>
        unreviewed(targetKey, entryId).pipe(
          Effect.flatMap((isRecorded) => (isRecorded ? publications.request : Effect.void)),
          Effect.provideContext(services)
        ),
      NoteExpired: ({ payload }) =>
        noteExpiry(payload.entryId).pipe(
          Effect.as(true),
          Effect.catch((error) =>
            Effect.logWarning("expired entry could not be noted yet").pipe(
              Effect.annotateLogs({ target: targetKey, entry: payload.entryId, error: error.message }),
              Effect.as(false)
            )
          ),
          Effect.provideContext(services)
        ),
      // What follows from a command or a dismissal is sent right after it.
      Command: ({ payload }) =>
        Effect.provideContext(Effect.andThen(command(payload.eventId), publications.request), services),
      Dismiss: ({ payload }) =>
        serial.withPermit(dismissFor(hold, targetKey, payload)).pipe(
          Effect.tap((outcome) => (outcome === "dismissed" ? Effect.forkIn(publications.request, scope) : Effect.void)),
          Effect.provideContext(services)
        )
    })
  }),
  // Messages are handled concurrently so that one that waits for a host does not fill the mailbox. Writes are serial all the same.
  { concurrency: "unbounded", disableFatalDefects: true, mailboxCapacity: 256, maxIdleTime: "10 minutes" }
)
