/**
 * Routes the report of a submitted change: reads its metadata from the server, and queues one review per branch. Each review has an event
 * record of its own, stored before it is queued, whose key is the branch and the revision. So a repeated report, and a repetition after a
 * crash, find it instead of starting another one.
 */
import { createHash } from "node:crypto"
import { Duration, Effect } from "effect"
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

/** Timeout for the metadata of one change. */
const replyTimeout = Duration.seconds(60)

const settled = (outcome: "executed" | "skipped" | "failed", reason: string): RoutedEvent => ({
  _tag: "Settled",
  outcome,
  reason
})

export const routeSubmitted = Effect.fnUntraced(function* (
  event: StoredEvent,
  routing: DepotChange,
  snapshot: Snapshot
) {
  const triggers = snapshot
    .triggersOfKind(routing.vcs)
    .filter((trigger) => trigger.enabled && mayHave(trigger, routing))
  if (triggers.length === 0) {
    const reason = `repository_not_configured: no enabled trigger of kind ${routing.vcs} has this repository`
    return { _tag: "Waiting", reason, isOutage: false } satisfies RoutedEvent
  }
  const found = yield* Effect.forEach(triggers, (trigger) => describe(snapshot, trigger, routing))
  const matching = narrow(
    found.flatMap((one) => (one._tag === "Found" ? [one] : [])),
    routing
  )
  const [match] = matching
  if (match === undefined) return whyNot(found, routing)
  if (matching.length > 1 && !isOneServer(matching)) {
    const names = matching.map(({ trigger }) => trigger.name).join(", ")
    return settled(
      "skipped",
      `ambiguous_route: the triggers ${names} have revision ${routing.revision}; report the ${routing.vcs === "perforce" ? "depot path" : "repository"}`
    )
  }
  return yield* queueStreams(event, routing, snapshot, matching)
})

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

const describe = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  trigger: TriggerProfile,
  { revision }: DepotChange
): Effect.fn.Return<Described, never, SubmittedChanges> {
  const server = toTriggerServer(trigger, snapshot)
  if (server === undefined || typeof server === "string") {
    return { _tag: "Failed", reason: `not_readable: ${server ?? `trigger ${trigger.name}`}`, isOutage: false }
  }
  const timeout = new CheckoutError({ reason: "unreachable", message: "its server did not reply within 60 s" })
  const result = yield* (yield* SubmittedChanges)
    .describe({ server, revision, roots: listRoots(snapshot, trigger), under: trigger.settings.depot_path })
    .pipe(Effect.timeoutOrElse({ duration: replyTimeout, orElse: () => timeout }), Effect.result)
  if (result._tag === "Success") {
    return result.success === undefined ? { _tag: "Absent" } : { _tag: "Found", trigger, submitted: result.success }
  }
  const { message, reason } = result.failure
  const isOutage = reason === "unreachable" || reason === "disk"
  return { _tag: "Failed", reason: `${reason}: trigger ${trigger.name}: ${message}`, isOutage }
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

const queueStreams = Effect.fnUntraced(function* (
  event: StoredEvent,
  routing: DepotChange,
  snapshot: Snapshot,
  matching: ReadonlyArray<Found>
) {
  const { revision, vcs } = routing
  const decided = matching.flatMap(({ submitted, trigger }) => {
    const { author = routing.user, client = routing.client, description = routing.description ?? "" } = submitted
    // `%oldchange%` of Perforce is the number before the submit, not a base.
    const base = vcs === "subversion" ? routing.base : undefined
    const change = { ...submitted, vcs, author, base, client, description, workspaces: routing.workspaces }
    return submitted.streams.map((stream) => admitStream(snapshot, trigger, change, stream, event.receivedAt))
  })
  const admitted = decided.flatMap((one) => (one._tag === "Admitted" ? [one] : []))
  const refused = decided.flatMap((one) => (one._tag === "Refused" ? [one] : []))
  if (admitted.length === 0) {
    const reason = refused.map((one) => one.reason).join("; ") || noChange(routing, matching)
    return refused.some(({ waits }) => waits)
      ? ({ _tag: "Waiting", reason, isOutage: false } satisfies RoutedEvent)
      : settled("skipped", reason)
  }
  const queued = yield* Effect.forEach(admitted, (one) => queueOne(event, snapshot, one))
  const renumbered = vcs === "perforce" && routing.base !== undefined && routing.base !== revision
  const reason = [
    ...queued.map(({ text }) => text),
    ...refused.map((one) => one.reason),
    ...(renumbered ? [`it was changelist ${routing.base} before its submit`] : [])
  ].join("; ")
  return settled(queued.some(({ isNew }) => isNew) ? "executed" : "skipped", reason)
})

const noChange = ({ revision, vcs }: DepotChange, matching: ReadonlyArray<Found>): string => {
  if (vcs === "subversion") return `no_change: revision ${revision} changes no file here`
  const paths = matching.flatMap(({ trigger }) => trigger.settings.depot_path ?? [])
  const where = paths.length === 0 ? "" : ` below ${paths.join(", ")}`
  return `no_change: changelist ${revision} has no submitted or shelved file${where}`
}

/** Stores the event of one review and queues it. After a crash between the two, housekeeping queues it. */
const queueOne = Effect.fnUntraced(function* (
  event: StoredEvent,
  snapshot: Snapshot,
  { change, dueAt }: Extract<StreamDecision, { readonly _tag: "Admitted" }>
) {
  const { author, head, repo, target, trigger, workspace } = change
  const identity = createHash("sha256").update(JSON.stringify([trigger, workspace, target.branch ?? "", head]))
  const record: EventRecord = {
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
  const stored = yield* (yield* Receipts).store(record)
  const where = `${target.branch ?? repo.fullName} in workspace ${workspace}`
  const first = stored._tag === "Duplicate" ? stored.first : record
  const isOwn = first.rule === record.rule
  if (stored._tag === "Duplicate" && (!isOwn || stored.first.outcome !== undefined)) {
    return {
      isNew: isOwn,
      text: isOwn ? `reviewed as event ${first.id}: ${where}` : `duplicate: ${where} is reviewed as event ${first.id}`
    }
  }
  yield* logDecision(first, { eventId: first.id, decision: "queued", reason: first.reason }, { reported_by: event.id })
  const { work } = first
  if (work !== undefined) {
    yield* admit([
      {
        eventId: first.id,
        change: work.change,
        configHash: work.configHash,
        priority: work.priority,
        admittedAt: first.receivedAt,
        dueAt: work.dueAt
      }
    ]).pipe(
      Effect.catchTag("QueueError", ({ message }) =>
        Effect.logWarning("routed change not queued, recovery will queue it", { event_id: first.id, error: message })
      )
    )
    // The scheduler also finds the entry by itself.
    yield* Effect.ignore((yield* WorkspaceScheduler.client)(workspace).Wake(undefined, { discard: true }), {
      log: "Debug"
    })
  }
  return { isNew: true, text: `queued as event ${first.id}: ${where}` }
})
