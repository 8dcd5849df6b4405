/**
 * Routes reports of submitted changes: reads their metadata from the server, and queues one review per branch. Each review has an event
 * record of its own, stored before it is queued, whose key is the branch and the revision. So a repeated report, and a repetition after a
 * crash, find it instead of starting another one.
 */
import { createHash } from "node:crypto"
import { Duration, Effect, Result } from "effect"
import { admitStream, listRoots } from "../src/admission/AdmitSubmitted.ts"
import type { StreamDecision } from "../src/admission/AdmitSubmitted.ts"
import type { Snapshot, TriggerProfile } from "../src/config/Snapshot.ts"
import { targetKey } from "../src/domain/Change.ts"
import { reportedBy } from "../src/domain/Decision.ts"
import type { DepotChange } from "../src/domain/DepotChange.ts"
import { Priority } from "../src/domain/Entry.ts"
import { newId } from "../src/domain/Ids.ts"
import { deliveryKey } from "../src/domain/Keys.ts"
import { admit } from "../src/queue/AutomaticCommits.ts"
import type { QueueAdmission } from "../src/queue/Queue.ts"
import { logDecision } from "../src/store/LogDecision.ts"
import { Receipts } from "../src/store/Receipts.ts"
import type { EventRecord, StoredEvent } from "../src/store/Receipts.ts"
import { CheckoutError } from "../src/vcs/Checkout.ts"
import { toTriggerServer } from "../src/vcs/ConfiguredServer.ts"
import { SubmittedChanges } from "../src/vcs/SubmittedChanges.ts"
import type { SubmittedChange } from "../src/vcs/SubmittedChanges.ts"
import { WorkspaceScheduler } from "./WorkspaceScheduler.ts"

export type RoutedEvent =
  | { readonly _tag: "Settled"; readonly outcome: "executed" | "skipped" | "failed"; readonly reason: string }
  /** A later attempt may succeed. */
  | { readonly _tag: "Waiting"; readonly reason: string; readonly isOutage: boolean }

/** Timeout for the metadata of changes: of any number of them, and in addition for each. */
const replySeconds = 60
const secondsPerRevision = 2
/** Triggers whose servers are read at the same time. */
const triggersAtOnce = 4
/** Events that are stored at the same time: they share transactions. */
const storedAtOnce = 32

const settled = (outcome: "executed" | "skipped" | "failed", reason: string): RoutedEvent => ({
  _tag: "Settled",
  outcome,
  reason
})

/** A report with the triggers that may have its repository. */
export interface HookReport {
  readonly event: StoredEvent
  readonly routing: DepotChange
  readonly triggers: ReadonlyArray<TriggerProfile>
}

export const findTriggers = (routing: DepotChange, snapshot: Snapshot): ReadonlyArray<TriggerProfile> =>
  snapshot.triggersOfKind(routing.vcs).filter((trigger) => trigger.enabled && mayHave(trigger, routing))

/**
 * Routes reports with the same triggers together: their metadata is read by few commands, and neighbours of one author join a batch whatever
 * the order of their reports. Returns the results by the id of the event.
 */
export const routeSubmitted = Effect.fnUntraced(function* (reports: ReadonlyArray<HookReport>, snapshot: Snapshot) {
  const routed = new Map<string, RoutedEvent>()
  const matched: Array<Matched> = []
  const revisions = [...new Set(reports.map(({ routing }) => routing.revision))]
  const described = new Map(
    yield* Effect.forEach(
      new Set(reports.flatMap(({ triggers }) => triggers)),
      (trigger) => Effect.map(describe(snapshot, trigger, revisions), (found) => [trigger, found] as const),
      { concurrency: triggersAtOnce }
    )
  )
  for (const report of reports.toSorted(byRevision)) {
    const { event, routing, triggers } = report
    const found = triggers.map((trigger): Described => described.get(trigger)?.(routing.revision) ?? { _tag: "Absent" })
    const result = triggers.length === 0 ? notConfigured(routing) : select(found, routing)
    if ("_tag" in result) routed.set(event.id, result)
    else matched.push({ ...report, matching: result })
  }
  for (const [id, result] of yield* queueAll(matched, snapshot)) routed.set(id, result)
  return routed
})

/** Neighbours follow each other, so that they join one batch. */
export const byRevision = (a: HookReport, b: HookReport): number =>
  Number(a.routing.revision) - Number(b.routing.revision) || (a.event.id < b.event.id ? -1 : 1)

const notConfigured = ({ vcs }: DepotChange): RoutedEvent => ({
  _tag: "Waiting",
  reason: `repository_not_configured: no enabled trigger of kind ${vcs} has this repository`,
  isOutage: false
})

/** Returns the triggers that have the change, or why there is none. */
const select = (found: ReadonlyArray<Described>, routing: DepotChange): ReadonlyArray<Found> | RoutedEvent => {
  const matching = narrow(
    found.flatMap((one) => (one._tag === "Found" ? [one] : [])),
    routing
  )
  if (matching.length === 0) return whyNot(found, routing)
  if (matching.length === 1 || isOneServer(matching)) return matching
  const names = matching.map(({ trigger }) => trigger.name).join(", ")
  return settled(
    "skipped",
    `ambiguous_route: the triggers ${names} have revision ${routing.revision}; report the ${routing.vcs === "perforce" ? "depot path" : "repository"}`
  )
}

/** Triggers of one Perforce server that watch different branches all take their part of a changelist. */
const isOneServer = (matching: ReadonlyArray<Found>): boolean => {
  const ports = new Set(matching.map(({ trigger }) => trigger.settings.port))
  const branches = matching.flatMap(({ submitted }) => submitted.streams.map(({ branch }) => branch))
  return (
    matching.every(({ trigger }) => trigger.kind === "perforce") &&
    ports.size === 1 &&
    new Set(branches).size === branches.length
  )
}

/** A reported URL or depot path has to be the one of the trigger, or around or below it. */
const mayHave = ({ settings }: TriggerProfile, { path, repository, vcs }: DepotChange): boolean => {
  if (vcs === "perforce") {
    if (path === undefined || settings.depot_path === undefined) return true
    const [own, reported] = [settings.depot_path, path].map((one) =>
      `${one.replace(/\/?\.\.\.$/, "").replace(/(?<!\/)\/+$/, "")}/`.toLowerCase()
    )
    return own !== undefined && reported !== undefined && (own.startsWith(reported) || reported.startsWith(own))
  }
  if (repository === undefined || !repository.includes("://")) return true
  const [own, reported] = [settings.repository_url ?? "", repository].map((url) => `${url.replace(/(?<!\/)\/+$/, "")}/`)
  return own !== undefined && reported !== undefined && (own.startsWith(reported) || reported.startsWith(own))
}

interface Found {
  readonly _tag: "Found"
  readonly trigger: TriggerProfile
  readonly submitted: SubmittedChange
}

type Described =
  | Found
  | { readonly _tag: "Absent" }
  | { readonly _tag: "Failed"; readonly reason: string; readonly isOutage: boolean }

/** Returns what the server of the trigger has of each revision. */
const describe = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  trigger: TriggerProfile,
  revisions: ReadonlyArray<string>
): Effect.fn.Return<(revision: string) => Described, never, SubmittedChanges> {
  const server = toTriggerServer(trigger, snapshot)
  if (server === undefined || typeof server === "string") {
    const failed: Described = {
      _tag: "Failed",
      reason: `not_readable: ${server ?? `trigger ${trigger.name}`}`,
      isOutage: false
    }
    return () => failed
  }
  const seconds = replySeconds + revisions.length * secondsPerRevision
  const timeout = new CheckoutError({ reason: "unreachable", message: `its server did not reply within ${seconds} s` })
  const result = yield* (yield* SubmittedChanges)
    .describe({ server, revisions, roots: listRoots(snapshot, trigger), under: trigger.settings.depot_path })
    .pipe(Effect.timeoutOrElse({ duration: Duration.seconds(seconds), orElse: () => timeout }), Effect.result)
  return (revision) => {
    const one = result._tag === "Success" ? (result.success.get(revision) ?? Result.succeed(undefined)) : result
    if (one._tag === "Failure") return toFailed(trigger, one.failure)
    return one.success === undefined ? { _tag: "Absent" } : { _tag: "Found", trigger, submitted: one.success }
  }
})

const toFailed = (trigger: TriggerProfile, { message, reason }: CheckoutError): Described => ({
  _tag: "Failed",
  reason: `${reason}: trigger ${trigger.name}: ${message}`,
  isOutage: reason === "unreachable" || reason === "disk"
})

/** Selects the repository of the report: by its UUID, by the changed paths, and if several remain, by the author. */
const narrow = <A extends { readonly submitted: SubmittedChange }>(
  found: ReadonlyArray<A>,
  { repository, user }: DepotChange
): ReadonlyArray<A> => {
  const named =
    repository === undefined || repository.includes("://")
      ? found
      : found.filter(({ submitted }) => submitted.repository === repository)
  const changed = named.filter(({ submitted }) => submitted.streams.length > 0)
  const same = changed.length > 0 ? changed : named.slice(0, 1)
  return same.length > 1 && user !== undefined ? same.filter(({ submitted }) => submitted.author === user) : same
}

const whyNot = (found: ReadonlyArray<Described>, { revision, vcs }: DepotChange): RoutedEvent => {
  const failures = found.flatMap((one) => (one._tag === "Failed" ? [one] : []))
  const [failure] = failures.toSorted((a, b) => Number(b.isOutage) - Number(a.isOutage))
  if (failure === undefined) {
    const reason = `revision_not_found: no trigger's ${vcs === "perforce" ? "server has changelist" : "repository has revision"} ${revision}, or its user may not read it`
    return { _tag: "Waiting", reason, isOutage: false }
  }
  return failure.isOutage
    ? { _tag: "Waiting", reason: failure.reason, isOutage: true }
    : settled("failed", failure.reason)
}

type Admitted = Extract<StreamDecision, { readonly _tag: "Admitted" }>

interface Matched extends HookReport {
  readonly matching: ReadonlyArray<Found>
}

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
  const texts = Map.groupBy(stored, ({ reportId }) => reportId)
  return decided.map(
    ({ decisions, report }) => [report.event.id, toRouted(report, decisions, texts.get(report.event.id) ?? [])] as const
  )
})

const decideStreams = ({ event, matching, routing }: Matched, snapshot: Snapshot): ReadonlyArray<StreamDecision> =>
  matching.flatMap(({ submitted, trigger }) => {
    const { author = routing.user, client = routing.client, description = routing.description ?? "" } = submitted
    // `%oldchange%` of Perforce is the number before the submit, not a base.
    const base = routing.vcs === "subversion" ? routing.base : undefined
    const { vcs, workspaces } = routing
    const change = { ...submitted, vcs, author, base, client, description, workspaces }
    return submitted.streams.map((stream) => admitStream(snapshot, trigger, change, stream, event.receivedAt))
  })

const toRouted = (
  { matching, routing }: Matched,
  decisions: ReadonlyArray<StreamDecision>,
  queued: ReadonlyArray<StoredReview>
): RoutedEvent => {
  const { base, revision, vcs } = routing
  const refused = decisions.flatMap((one) => (one._tag === "Refused" ? [one] : []))
  if (queued.length === 0) {
    const reason = refused.map((one) => one.reason).join("; ") || noChange(routing, matching)
    return refused.some(({ waits }) => waits)
      ? { _tag: "Waiting", reason, isOutage: false }
      : settled("skipped", reason)
  }
  const isRenumbered = vcs === "perforce" && base !== undefined && base !== revision
  const reason = [
    ...queued.map(({ text }) => text),
    ...refused.map((one) => one.reason),
    ...(isRenumbered ? [`it was changelist ${base} before its submit`] : [])
  ].join("; ")
  return settled(queued.some(({ isNew }) => isNew) ? "executed" : "skipped", reason)
}

const noChange = ({ revision, vcs }: DepotChange, matching: ReadonlyArray<Found>): string => {
  if (vcs === "subversion") return `no_change: revision ${revision} changes no file here`
  const paths = matching.flatMap(({ trigger }) => trigger.settings.depot_path ?? [])
  const where = paths.length === 0 ? "" : ` below ${paths.join(", ")}`
  return `no_change: changelist ${revision} has no submitted or shelved file${where}`
}

/** The stored event of one review. `queue`: it is not known to be queued. */
interface StoredReview {
  readonly reportId: string
  readonly isNew: boolean
  readonly text: string
  readonly queue: QueueAdmission | undefined
}

/** Stores the event of one review. After a crash before it is queued, housekeeping queues it. */
const storeOne = Effect.fnUntraced(function* (event: StoredEvent, snapshot: Snapshot, admitted: Admitted) {
  const record = toRecord(event, snapshot, admitted)
  const stored = yield* (yield* Receipts).store(record)
  const { target, workspace, repo } = admitted.change
  const where = `${target.branch ?? repo.fullName} in workspace ${workspace}`
  const first = stored._tag === "Duplicate" ? stored.first : record
  const isOwn = first.rule === record.rule
  const reportId = event.id
  if (stored._tag === "Duplicate" && (!isOwn || stored.first.outcome !== undefined)) {
    const text = isOwn
      ? `reviewed as event ${first.id}: ${where}`
      : `duplicate: ${where} is reviewed as event ${first.id}`
    return { reportId, isNew: isOwn, text, queue: undefined } satisfies StoredReview
  }
  yield* logDecision(first, { eventId: first.id, decision: "queued", reason: first.reason }, { reported_by: event.id })
  const { work } = first
  return {
    reportId,
    isNew: true,
    text: `queued as event ${first.id}: ${where}`,
    queue: work === undefined ? undefined : { eventId: first.id, admittedAt: first.receivedAt, ...work }
  } satisfies StoredReview
})

const toRecord = (event: StoredEvent, snapshot: Snapshot, { change, dueAt }: Admitted): EventRecord => {
  const { author, head, repo, target, trigger, workspace } = change
  const identity = createHash("sha256").update(JSON.stringify([trigger, workspace, target.branch ?? "", head]))
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
    facts: { head, branch: target.branch, author: author?.username, sender: author?.username },
    decision: "queued",
    reason: undefined,
    rule: reportedBy(event.id),
    work: { change, configHash: snapshot.hash, priority: Priority.automatic, dueAt },
    receivedAt: event.receivedAt
  }
}

const enqueue = Effect.fnUntraced(function* (stored: ReadonlyArray<StoredReview>) {
  const items = stored.flatMap(({ queue }) => queue ?? [])
  if (items.length === 0) return
  yield* admit(items).pipe(
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
