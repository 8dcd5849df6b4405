/**
 * Sends one row of the outbox, or looks up whether a row whose outcome is unknown reached the host: loads what the row needs, calls the
 * host, decides (PublishDecision.ts) and saves.
 */
import { Clock, Duration, Effect, Metric, Random } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { TriggerProfile, Workspace } from "../../src/config/Snapshot.ts"
import { repeatedStatus } from "../../src/domain/HeadVerdict.ts"
import { newId } from "../../src/domain/Ids.ts"
import { OperationId } from "../../src/domain/Keys.ts"
import type { Publication, PublicationStatus } from "../../src/domain/Publication.ts"
import { runLifecycle } from "../../src/domain/Run.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import { DuringOutage } from "../../src/forge/HostHealth.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { HasNoOthers, TakesLineComments, WriteOwner, WrittenStatus } from "../../src/forge/WriteOwner.ts"
import type { WritePermits } from "../../src/forge/WritePermits.ts"
import * as Metrics from "../../src/observability/Metrics.ts"
import { Progress } from "../../src/observability/Progress.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import type { SentRow } from "../../src/outputs/Outputs.ts"
import { isPrivateRow } from "../../src/outputs/PrivateRow.ts"
import { Records } from "../../src/outputs/Records.ts"
import type { Lessons } from "../../src/store/Lessons.ts"
import type { Notices } from "../../src/store/Notices.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import type { PublicationUpdate } from "../../src/store/Outbox.ts"
import type { Receipts } from "../../src/store/Receipts.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import { readWithCurrent } from "../review/HostCredential.ts"
import { noteLostCredential } from "./CredentialNotice.ts"
import { afterFailure, checkFor, isContent, isPassingConflict, sentSummary, withNote } from "./PublishDecision.ts"
import type { HeadCheck, SendFailure } from "./PublishDecision.ts"
import { publishedRecords } from "./PublishedRecords.ts"
import { openStatus, RowWrite } from "./RowWrite.ts"
import type { WriteServices } from "./RowWrite.ts"
import { ruleFinding } from "./RuleFinding.ts"
import type { TargetHold } from "./TargetHold.ts"

/** Delay before the lookup of a write whose response was lost, so that the host can make the write visible. */
const settleBeforeLookup = Duration.seconds(1)

export interface SendResult<F = undefined> {
  readonly check: HeadCheck
  /** The current row. */
  readonly row: Publication
  /** True if the row was sent and added no further row, so that the outbox as read before is current. */
  readonly isSent: boolean
  /** Facts that were recorded together with the end of the row. */
  readonly following: F | undefined
}

/** Never recorded: the guard rejects the write before it is sent. */
const outdated = Effect.fail(
  new ForgeError({ reason: "conflict", operation: "publish", why: { _tag: "ChangeMovedOn" } })
)

/** The state of a change at its host right before a write. */
interface Seen {
  readonly check: HeadCheck
  /** Undefined where the host does not count them. */
  readonly comments: number | undefined
}

/** Compares the head of the change at the host with the reviewed head. */
const readHead = Effect.fnUntraced(function* (run: Run): Effect.fn.Return<Seen, ForgeError, ConfigStore | Forges> {
  const { number } = run.change.target
  const config = yield* ConfigStore
  const profile = (yield* config.pinned(run.configHash)).triggers.get(run.change.trigger)
  if (run.change.target.kind !== "pull_request" || number === undefined || profile === undefined)
    return { check: "newest", comments: undefined }
  const forges = yield* Forges
  const read = (from: TriggerProfile) => forges.client(from).pull(run.change.repo, number)
  const { comments, head, state } = yield* readWithCurrent(profile, read)
  if (state !== "open") return { check: "closed", comments }
  return { check: head === run.head ? "newest" : { _tag: "Moved", head }, comments }
})

/** Milliseconds for which a read of the head holds: a permit that comes later has it read again. */
const headMaxAge = 2000

/** Reads the head of the change for the writes of one row. */
const headReader = (run: Run): Effect.Effect<Seen, ForgeError, ConfigStore | Forges> => {
  let last: { readonly at: number; readonly seen: Seen } | undefined
  return Effect.gen(function* () {
    const at = yield* Clock.currentTimeMillis
    if (last !== undefined && at >= last.at && at - last.at <= headMaxAge) return last.seen
    const seen = yield* readHead(run)
    last = { at, seen }
    return seen
  })
}

/** Returns how the verdict of a review was written where it is a check run: only such ones have details. */
const checkOutcome = ({ operation }: Publication, { error, status }: PublicationUpdate) => {
  if (operation._tag !== "Status" || operation.details === undefined || status !== "sent") return undefined
  return error?._tag === "CheckRefused" ? "refused" : "written"
}

const report = Effect.fnUntraced(function* (run: Run, row: Publication, update: PublicationUpdate) {
  const operation = row.operation._tag
  const { status } = update
  if (update.status === "failed")
    yield* Effect.logWarning("publication failed").pipe(
      Effect.annotateLogs({ channel: row.channel, operation, attempts: row.attempts + 1, error: update.error })
    )
  if (update.status === "sent") yield* Effect.logInfo("published", { channel: row.channel, operation, url: update.url })
  yield* Metric.update(
    Metric.withAttributes(Metrics.publications, { channel: row.channel, operation, outcome: status }),
    1
  )
  const outcome = checkOutcome(row, update)
  if (outcome !== undefined) yield* Metric.update(Metric.withAttributes(Metrics.checkRuns, { outcome }), 1)
  yield* (yield* Progress).publish({
    _tag: "Published",
    workspace: run.workspace,
    targetKey: row.targetKey,
    runId: run.id,
    operation,
    status,
    url: status === "sent" ? update.url : undefined
  })
})

const settleFailure = Effect.fnUntraced(function* (
  hold: TargetHold,
  run: Run,
  row: Publication,
  error: SendFailure["error"],
  {
    isBegun,
    isBusy,
    isPrivate,
    objection
  }: Pick<RowWrite, "isBegun" | "isBusy" | "objection"> & {
    readonly isPrivate: boolean
  }
) {
  const now = yield* Clock.currentTimeMillis
  if (isBusy) return { status: openStatus(row), notBefore: now + busyPauseMillis } as const
  if (objection !== undefined) return { status: "dropped", error: objection } as const
  const trigger = error._tag === "ForgeError" ? error.lostCredential : undefined
  if (trigger !== undefined) yield* noteLostCredential(trigger, error.why)
  const failure = {
    error,
    isBegun,
    from: openStatus(row),
    attempts: row.attempts,
    deferrals: isBegun && trigger === undefined ? 0 : hold.deferred(),
    ageMillis: now - run.createdAt,
    isLastStatus: !isContent(row) && runLifecycle.isTerminal(run.status),
    isPrivate
  }
  return afterFailure(failure, now, yield* Random.next)
})

/** Returns the update of a row that was sent, that had nothing to write, or for which the host has no place. */
const settleSent = (sent: SentRow): PublicationUpdate => {
  const { hostId, url, ignoredDismissals, listed, note, nothingToDo, posted, reactions, skipped } = sent
  if (skipped !== undefined) return { status: "dropped", error: skipped }
  return nothingToDo === undefined
    ? { status: "sent", error: note, hostId, url, ignoredDismissals, listed, posted, reactions }
    : { status: "nothing_to_do", error: nothingToDo, ignoredDismissals, reactions }
}

/** Pause before a status is sent while another publisher writes one of the same commit. */
const busyPauseMillis = 250

/** Loads what the row refers to: the content that it updates, or the summary that a status links to. */
const loadPrevious = Effect.fnUntraced(function* (run: Run, row: Publication, siblings: ReadonlyArray<Publication>) {
  if (!isContent(row)) return sentSummary(siblings)
  const kind = row.operation._tag
  // A review that is published again after a decision about a finding updates its own summary. The messages of a change have one thread.
  const notOf = kind === "Summary" || kind === "Chat" ? undefined : run.id
  return yield* (yield* Outbox).lastSent(row.targetKey, kind, { channel: row.channel, notOf })
})

/** Makes the withdrawal of a finding count for the review of its change, once its comments are marked. Returns whether it was published again. */
const followWithdrawal = Effect.fnUntraced(function* (
  hold: TargetHold,
  { source }: Run["change"],
  { operation, operationId, targetKey }: Publication
) {
  if (operation._tag !== "Withdraw") return false
  const { fp, head } = operation
  const run = source?._tag === "SwarmQuestion" ? source.run : undefined
  return (yield* ruleFinding(hold, targetKey, { fp, counts: false, head, run, cause: operationId })) === "published"
})

/**
 * Repeats a status that was written while another publisher took the target over: that one may have written before this one, from newer
 * records. It counts as attempted, because what this one wrote is not recorded.
 */
const repeatStatus = Effect.fnUntraced(function* (row: Publication) {
  if (row.operation._tag !== "Status") return
  const run = yield* (yield* Runs).get(row.runId)
  if (run === undefined) return
  const operation = repeatedStatus(
    row.operation,
    run.verdict,
    run.analysis !== undefined || runLifecycle.isTerminal(run.status)
  )
  const id = newId()
  const again = { ...row, id, operationId: OperationId.make(id), operation, status: "pending", attempts: 1 } as const
  yield* (yield* Outbox).add([again], yield* Clock.currentTimeMillis)
})

/** Calls the host, again while the records demand another status than the one that was to be sent. */
const callHost = Effect.fnUntraced(function* (
  run: Run,
  workspace: Workspace,
  write: RowWrite,
  previous: Publication | undefined,
  checks: {
    readonly note: string | undefined
    readonly guard: Effect.Effect<void, ForgeError>
    readonly hasNoOthers: Effect.Effect<boolean, ForgeError>
    readonly takesComments: Effect.Effect<boolean, ForgeError>
  }
) {
  const context = yield* Effect.context<WriteServices>()
  const guard = Effect.andThen(checks.guard, Effect.provideContext(write.guard, context))
  const fence = Effect.provideContext(write.fence, context)
  const records = yield* publishedRecords
  while (true) {
    const { row } = write
    const result = yield* (yield* Outputs)
      .send(workspace, run.change, withNote(row, checks.note), write.isHeld ? undefined : previous)
      .pipe(
        Effect.provideService(WriteOwner, { fence, guard, beforePermit: checks.guard }),
        Effect.provideService(HasNoOthers, checks.hasNoOthers),
        Effect.provideService(TakesLineComments, checks.takesComments),
        Effect.provideService(WrittenStatus, write.written),
        Effect.provideService(DuringOutage, "wait"),
        Effect.provideService(Records, records),
        Effect.withSpan("publication", {
          kind: "client",
          attributes: { channel: row.channel, operation: row.operation._tag, run: run.id }
        }),
        Effect.result
      )
    if (!write.takeChange()) return result
  }
})

type Services = Forges | Lessons | Notices | Outbox | Progress | Receipts | WritePermits | WriteServices

/**
 * Records the end of a row together with what follows from it. What fails for its own reason is undone alone: the row was written, and has to
 * be recorded.
 */
const endRow = Effect.fnUntraced(function* <F, R>(
  hold: TargetHold,
  row: Publication,
  from: PublicationStatus,
  update: PublicationUpdate,
  following: Effect.Effect<F | undefined, StoreError, R> | undefined
): Effect.fn.Return<{ readonly isMoved: boolean; readonly following: F | undefined }, StoreError, R> {
  let followed: F | undefined
  const recording =
    following &&
    following.pipe(
      Effect.catch(() => Effect.undefined),
      Effect.catchDefect(() => Effect.undefined),
      Effect.map((recorded) => {
        followed = recorded
      })
    )
  const isMoved = yield* hold.moveWith(row, from, update, recording)
  return { isMoved, following: isMoved ? followed : undefined }
})

/** Ends a row of a workspace in shadow. The row keeps the texts that would have been published. */
export const withholdRow = Effect.fnUntraced(function* <F, R>(
  hold: TargetHold,
  run: Run,
  row: Publication,
  end: Effect.Effect<F | undefined, StoreError, R> | undefined
) {
  const update = { status: "nothing_to_do", error: { _tag: "InShadow" } } as const
  const { following, isMoved } = yield* endRow(hold, row, openStatus(row), update, end)
  if (isMoved) yield* report(run, row, update)
  return { check: "newest", row, isSent: isMoved, following } satisfies SendResult<F>
})

/**
 * Sends a row that is pending, or one with an unknown outcome that the host does not have. `siblings`: the rows of its run, for a status;
 * `end` is recorded together with the end of the row, if nothing else follows from that.
 */
export const sendRow = Effect.fnUntraced(function* <F, R>(
  hold: TargetHold,
  run: Run,
  workspace: Workspace,
  row: Publication,
  siblings: ReadonlyArray<Publication>,
  end: Effect.Effect<F | undefined, StoreError, R> | undefined
): Effect.fn.Return<SendResult<F>, StoreError, R | Services> {
  const unsent = { check: "newest", row, isSent: false, following: undefined } as const
  const outbox = yield* Outbox
  const context = yield* Effect.context<ConfigStore | Forges>()
  const previous = yield* loadPrevious(run, row, siblings)
  let check: HeadCheck = "newest"
  const note = hold.lateNote(run.id)
  const isPrivate = isPrivateRow(workspace, row)
  const read = Effect.provideContext(headReader(run), context)
  const patient = Effect.provideService(read, DuringOutage, "wait")
  const hasNoOthers = Effect.map(patient, ({ comments }) => comments !== undefined && comments <= hold.written(row))
  const takesComments = Effect.map(patient, ({ check: now }) => now !== "closed")
  // Other writes of the account wait while this one holds its permit, so the head is read before, and again where the permit came late.
  const guard = read.pipe(
    Effect.provideService(DuringOutage, "fail"),
    Effect.flatMap(({ check: now }) => {
      check = note !== undefined && now !== "closed" ? "newest" : checkFor(row, now, isPrivate)
      return check === "newest" ? Effect.void : outdated
    })
  )
  const write = new RowWrite(hold, run, workspace.snapshot(), row)
  const result = yield* callHost(run, workspace, write, previous, { note, guard, hasNoOthers, takesComments })
  // A newer head explains a conflict that no repetition resolves.
  if (result._tag === "Failure" && result.failure._tag === "ForgeError" && isPassingConflict(result.failure))
    yield* Effect.ignore(guard)
  if (hold.isDoubtful()) return unsent
  const next = result._tag === "Success" ? result.success.next : []
  if (next.length > 0) yield* outbox.add(next, yield* Clock.currentTimeMillis)
  const isFollowed = result._tag === "Success" && (yield* followWithdrawal(hold, run.change, row))
  if (hold.isDoubtful()) return unsent
  const from = write.isBegun ? "sending" : openStatus(row)
  if (check !== "newest") {
    if (!write.isBegun) return { ...unsent, check }
    yield* hold.move(row, "sending", { status: "unknown" })
    return { ...unsent, check, row: { ...row, status: "unknown" } }
  }
  const { isBegun, isBusy, objection } = write
  const update: PublicationUpdate =
    result._tag === "Success"
      ? settleSent(result.success)
      : yield* settleFailure(hold, run, row, result.failure, { isBegun, isBusy, objection, isPrivate })
  const isDone = update.status === "sent" || update.status === "nothing_to_do"
  const isSent = isDone && next.length === 0 && !isFollowed
  const { following, isMoved } = yield* endRow(hold, row, from, update, isSent ? end : undefined)
  if (!isMoved) {
    if (result._tag === "Success") yield* repeatStatus(row)
    return unsent
  }
  if (isDone) hold.progressed(row)
  yield* report(run, row, update)
  return { ...unsent, isSent, following }
})

const notBegun = { isBegun: false, isBusy: false, objection: undefined }

/** Looks the row with an unknown outcome up at the host. Returns false if the host does not have it, so that it may be sent. */
export const lookUpRow = Effect.fnUntraced(function* (
  hold: TargetHold,
  run: Run,
  workspace: Workspace,
  row: Publication
): Effect.fn.Return<boolean, StoreError, ConfigStore | Notices | Outbox | Outputs> {
  yield* Effect.sleep(settleBeforeLookup)
  const previous = yield* loadPrevious(run, row, [])
  const result = yield* (yield* Outputs)
    .find(workspace, run.change, row, previous)
    .pipe(Effect.provideService(DuringOutage, "wait"), Effect.result)
  if (result._tag === "Success") {
    const match = result.success
    if (match === undefined) return false
    yield* (yield* Outbox).add(match.next, yield* Clock.currentTimeMillis)
    yield* hold.move(row, "unknown", settleSent(match))
    return true
  }
  yield* Effect.logWarning("publication with unknown outcome could not be looked up").pipe(
    Effect.annotateLogs({ operation: row.operation._tag, error: result.failure.message })
  )
  const state = { ...notBegun, isPrivate: isPrivateRow(workspace, row) }
  yield* hold.move(row, "unknown", yield* settleFailure(hold, run, row, result.failure, state))
  return true
})
