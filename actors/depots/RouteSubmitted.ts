/**
 * Routes reports of submitted changes: reads their metadata from the server, and queues one review per branch. Each review has an event
 * record of its own, stored before it is queued, whose key is the branch and the revision. So a repeated report, and a repetition after a
 * crash, find it instead of starting another one.
 */
import { createHash } from "node:crypto"
import { Duration, Effect, Result } from "effect"
import { admitStream, listRoots } from "../../src/admission/AdmitSubmitted.ts"
import type { StreamDecision } from "../../src/admission/AdmitSubmitted.ts"
import type { Snapshot, TriggerProfile } from "../../src/config/Snapshot.ts"
import { isShelf, targetKey } from "../../src/domain/Change.ts"
import type { DepotChange } from "../../src/domain/DepotChange.ts"
import { Priority } from "../../src/domain/Entry.ts"
import { newId } from "../../src/domain/Ids.ts"
import { deliveryKey } from "../../src/domain/Keys.ts"
import { admitLogged } from "../../src/queue/AutomaticCommits.ts"
import type { QueueAdmission } from "../../src/queue/Queue.ts"
import { logDecision } from "../../src/store/LogDecision.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { EventRecord, StoredEvent } from "../../src/store/Receipts.ts"
import { CheckoutError } from "../../src/vcs/Checkout.ts"
import { toTriggerServer } from "../../src/vcs/ConfiguredServer.ts"
import { SubmittedChanges } from "../../src/vcs/SubmittedChanges.ts"
import { recordSubmits, routeDeleted } from "./EndedShelves.ts"
import { refuseUnattributed, select, settled, toFailed, toUnreadable } from "./SelectTriggers.ts"
import type { Found, HookReport, RoutedEvent, Selected, TriggerReply } from "./SelectTriggers.ts"
import { WorkspaceScheduler } from "../scheduling/WorkspaceScheduler.ts"
import { joinReasons } from "../../src/domain/Reason.ts"
import type { Reason } from "../../src/domain/Reason.ts"

/** Timeout for the metadata of changes: of any number of them, and in addition for each. */
const replySeconds = 60
const secondsPerRevision = 2
/** Triggers whose servers are read at the same time. */
const triggersAtOnce = 4
/** Events that are stored at the same time: they share transactions. */
const storedAtOnce = 32

/**
 * Routes reports with the same triggers together: their metadata is read by few commands, and neighbours of one author join a batch whatever
 * the order of their reports. Returns the results by the id of the event.
 */
export const routeSubmitted = Effect.fnUntraced(function* (reports: ReadonlyArray<HookReport>, snapshot: Snapshot) {
  const routed = new Map<string, RoutedEvent>()
  const matched: Array<Matched> = []
  const attributed: Array<HookReport> = []
  const deleted: Array<HookReport> = []
  for (const report of reports) {
    const { event, routing } = report
    const refused = refuseUnattributed(report)
    if (refused !== undefined) routed.set(event.id, refused)
    else if (routing.isShelfDeleted === true) deleted.push(report)
    else attributed.push(report)
  }
  for (const [id, result] of yield* routeDeleted(deleted, snapshot)) routed.set(id, result)
  const revisions = [...new Set(attributed.map(({ routing }) => routing.revision))]
  const described = new Map(
    yield* Effect.forEach(
      new Set(attributed.flatMap(({ triggers }) => triggers)),
      (trigger) => Effect.map(describe(snapshot, trigger, revisions), (found) => [trigger, found] as const),
      { concurrency: triggersAtOnce }
    )
  )
  for (const report of attributed.toSorted(byRevision)) {
    const { event, routing, triggers } = report
    const found = triggers.map(
      (trigger): TriggerReply => described.get(trigger)?.(routing.revision) ?? { _tag: "Absent" }
    )
    const result = select(found, routing)
    if (result._tag === "Selected") matched.push({ ...report, ...result })
    else routed.set(event.id, result)
  }
  for (const [id, result] of yield* queueAll(matched, snapshot)) routed.set(id, result)
  return routed
})

/** Neighbours follow each other, so that they join one batch. */
export const byRevision = (a: HookReport, b: HookReport): number =>
  Number(a.routing.revision) - Number(b.routing.revision) || (a.event.id < b.event.id ? -1 : 1)

/** Returns what the server of the trigger has of each revision. */
const describe = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  trigger: TriggerProfile,
  revisions: ReadonlyArray<string>
): Effect.fn.Return<(revision: string) => TriggerReply, never, SubmittedChanges> {
  const server = toTriggerServer(trigger, snapshot)
  if (server === undefined || "_tag" in server) return () => toUnreadable(trigger, server)
  const seconds = replySeconds + revisions.length * secondsPerRevision
  const timeout = new CheckoutError({ reason: "unreachable", why: { _tag: "ServerSlow", seconds } })
  const result = yield* (yield* SubmittedChanges)
    .describe({ server, revisions, roots: listRoots(snapshot, trigger), under: trigger.settings.depot_path })
    .pipe(Effect.timeoutOrElse({ duration: Duration.seconds(seconds), orElse: () => timeout }), Effect.result)
  return (revision) => {
    const one = result._tag === "Success" ? (result.success.get(revision) ?? Result.succeed(undefined)) : result
    if (one._tag === "Failure") return toFailed(trigger, one.failure)
    return one.success === undefined ? { _tag: "Absent" } : { _tag: "Found", trigger, submitted: one.success }
  }
})

type Admitted = Extract<StreamDecision, { readonly _tag: "Admitted" }>

type Matched = HookReport & Pick<Selected, "matching" | "failures">

/** Queues the reviews of the reports, in their order. */
const queueAll = Effect.fnUntraced(function* (reports: ReadonlyArray<Matched>, snapshot: Snapshot) {
  const decided = reports.map((report) => ({ report, decisions: decideStreams(report, snapshot) }))
  const wanted = decided.flatMap(({ decisions, report }) =>
    decisions.flatMap((one) => (one._tag === "Admitted" ? [{ event: report.event, one }] : []))
  )
  const stored = yield* Effect.forEach(wanted, ({ event, one }) => storeOne(event, snapshot, one), {
    concurrency: storedAtOnce
  })
  yield* enqueue(stored)
  yield* recordSubmits(reports)
  const reviews = Map.groupBy(stored, ({ reportId }) => reportId)
  return decided.map(
    ({ decisions, report }) =>
      [report.event.id, toRouted(report, decisions, reviews.get(report.event.id) ?? [])] as const
  )
})

const decideStreams = ({ event, matching, routing }: Matched, snapshot: Snapshot): ReadonlyArray<StreamDecision> =>
  matching.flatMap(({ submitted, trigger }) => {
    const { author = routing.user, client = routing.client, description = routing.description ?? "" } = submitted
    // `%oldchange%` of Perforce is the number before the submit, not a base.
    const base = routing.vcs === "subversion" ? routing.base : undefined
    const { requestedBy, vcs, workspaces } = routing
    const change = { ...submitted, vcs, author, base, client, description, workspaces, requestedBy }
    return submitted.streams.map((stream) => admitStream(snapshot, trigger, change, stream, event.receivedAt))
  })

const toRouted = (
  { failures, matching, routing }: Matched,
  decisions: ReadonlyArray<StreamDecision>,
  queued: ReadonlyArray<StoredReview>
): RoutedEvent => {
  const { base, revision, vcs } = routing
  const refused = decisions.flatMap((one) => (one._tag === "Refused" ? [one] : []))
  const reasons = refused.map((one) => one.reason)
  const [first, ...more] = queued.map(({ outcome }) => outcome)
  if (first === undefined) {
    const [none = noChange(routing, matching), ...others] = reasons
    const reason = joinReasons([none, ...others, ...failures])
    if (refused.some(({ waits }) => waits)) return { _tag: "Waiting", reason, isOutage: false }
    return settled(failures.length > 0 ? "failed" : "skipped", reason)
  }
  const isRenumbered = vcs === "perforce" && base !== undefined && base !== revision
  const renumbered = isRenumbered ? [{ _tag: "Renumbered", changelist: base } as const] : []
  const reason = joinReasons([first, ...more, ...reasons, ...failures, ...renumbered])
  return settled(queued.some(({ isNew }) => isNew) ? "executed" : "skipped", reason)
}

const noChange = ({ revision, vcs }: DepotChange, matching: ReadonlyArray<Found>): Reason => {
  if (vcs === "subversion") return { _tag: "RevisionWithoutFiles", revision }
  const paths = matching.flatMap(({ trigger }) => trigger.settings.depot_path ?? [])
  return { _tag: "ChangelistWithoutFiles", revision, ...(paths.length === 0 ? {} : { paths }) }
}

/** The stored event of one review. `queue`: it is not known to be queued. */
interface StoredReview {
  readonly reportId: string
  readonly isNew: boolean
  readonly outcome: Reason
  readonly queue: QueueAdmission | undefined
}

/** Stores the event of one review. After a crash before it is queued, housekeeping queues it. */
const storeOne = Effect.fnUntraced(function* (event: StoredEvent, snapshot: Snapshot, admitted: Admitted) {
  const record = toRecord(event, snapshot, admitted)
  const stored = yield* (yield* Receipts).store(record)
  const { target, workspace, repo } = admitted.change
  const rule = admitted.rule === undefined ? {} : { rule: admitted.rule }
  const where = { name: target.branch ?? repo.fullName, workspace, ...rule }
  const first = stored._tag === "Duplicate" ? stored.first : record
  const isOwn = first.rule?._tag === "ReportedBy" && first.rule.event === event.id
  const reportId = event.id
  if (stored._tag === "Duplicate" && (!isOwn || stored.first.outcome !== undefined)) {
    const outcome = { _tag: isOwn ? "ReviewedAs" : "DuplicateOf", event: first.id, ...where } as const
    return { reportId, isNew: isOwn, outcome, queue: undefined } satisfies StoredReview
  }
  yield* logDecision(first, { eventId: first.id, decision: "queued", reason: first.reason }, { reported_by: event.id })
  const { work } = first
  return {
    reportId,
    isNew: true,
    outcome: { _tag: "QueuedAs", event: first.id, ...where },
    queue:
      work === undefined
        ? undefined
        : {
            eventId: first.id,
            admittedAt: first.receivedAt,
            ...work,
            ...(work.change.requestedBy === undefined ? {} : { expires: true })
          }
  } satisfies StoredReview
})

const toRecord = (event: StoredEvent, snapshot: Snapshot, { change, dueAt }: Admitted): EventRecord => {
  const { author, head, repo, requestedBy, target, trigger, workspace } = change
  // A person requests another review of what was reviewed.
  const request = requestedBy === undefined ? [] : [event.id]
  const identity = createHash("sha256").update(
    JSON.stringify([trigger, workspace, target.branch ?? "", head, ...request])
  )
  return {
    id: newId(),
    deliveryKey: deliveryKey(change.provider, `change:${identity.digest("hex")}`),
    provider: change.provider,
    event: event.event,
    action: undefined,
    trigger,
    workspace,
    targetKind: target.kind,
    targetKey: targetKey(change),
    repo: repo.fullName,
    facts: {
      // The report of its submit names a shelf by its number.
      ...(isShelf(change) ? { number: Number.parseInt(head ?? "", 10) } : {}),
      head,
      branch: target.branch,
      author: author?.username,
      sender: requestedBy ?? author?.username
    },
    decision: "queued",
    reason: undefined,
    rule: { _tag: "ReportedBy", event: event.id },
    work: {
      change,
      configHash: snapshot.hash,
      priority: requestedBy === undefined ? Priority.automatic : Priority.command,
      dueAt
    },
    receivedAt: event.receivedAt
  }
}

const enqueue = Effect.fnUntraced(function* (stored: ReadonlyArray<StoredReview>) {
  const items = stored.flatMap(({ queue }) => queue ?? [])
  if (items.length === 0) return
  yield* admitLogged(items).pipe(
    Effect.catchTag("QueueError", ({ message }) =>
      Effect.logWarning("routed changes not queued, recovery will queue them", {
        event_ids: items.map(({ eventId }) => eventId),
        error: message
      })
    )
  )
  const schedulerOf = yield* WorkspaceScheduler.client
  for (const workspace of new Set(items.map(({ change }) => change.workspace))) {
    // The scheduler also finds the entries by itself.
    yield* Effect.ignore(schedulerOf(workspace).Wake(undefined, { discard: true }), { log: "Debug" })
  }
})
