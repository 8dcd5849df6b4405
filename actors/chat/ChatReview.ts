/**
 * Reviews and replies that people request from chat: queues one, follows it, and describes its end. Queuing has the id of the request as its
 * key, so that repeating it after a crash changes nothing.
 */
import { Clock, Effect } from "effect"
import { commandDue } from "../../src/admission/Windows.ts"
import { parseRevision, parseSubmitted } from "../../src/chat/Command.ts"
import type { ChatRepository } from "../../src/chat/Repositories.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { chatRequester, targetKey } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import type { ChatOutcome } from "../../src/domain/ChatRequest.ts"
import type { DepotChange } from "../../src/domain/DepotChange.ts"
import { Priority } from "../../src/domain/Entry.ts"
import { newId } from "../../src/domain/Ids.ts"
import { deliveryKey } from "../../src/domain/Keys.ts"
import { isForgeKind } from "../../src/domain/Kinds.ts"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { runLifecycle } from "../../src/domain/Run.ts"
import { enqueue } from "../../src/queue/Enqueue.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import { Operations } from "../../src/queue/operator/Operations.ts"
import { Queue } from "../../src/queue/Queue.ts"
import type { QueueError } from "../../src/queue/Queue.ts"
import type { ChatRequest } from "../../src/store/ChatRequests.ts"
import { listReported } from "../../src/store/ListReported.ts"
import { logDecision } from "../../src/store/LogDecision.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { EventFilter, EventRecord, StoredEvent } from "../../src/store/Receipts.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import { findRun } from "./ChatQueries.ts"
import { NewReports } from "../depots/NewReports.ts"
import { WorkspaceScheduler } from "../scheduling/WorkspaceScheduler.ts"

/** A revision that no report has led to: only its server has its branch, so the routing of reports finds it. */
interface UnreportedRevision {
  readonly _tag: "Unreported"
  readonly vcs: DepotChange["vcs"]
  readonly revision: string
}

/** Returns the change to review, the revision to find, or why there is none. A reviewed revision is reviewed again. */
export const findChatChange = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  repository: ChatRepository,
  revision: string,
  requester: ChatRequest["sender"]
) {
  const trigger = snapshot.triggers.get(repository.trigger)
  if (trigger === undefined || !trigger.enabled || !repository.workspace.enabled) return "not_routed"
  if (isForgeKind(trigger.kind))
    return toHostChange(snapshot, trigger.kind, repository, revision, requester) ?? "not_routed"
  const run = yield* findRun(repository, revision)
  if (run !== undefined) return { ...run.change, requestedBy: toRequester(requester) }
  const number = parseSubmitted(revision)
  if (number === undefined || (trigger.kind !== "subversion" && trigger.kind !== "perforce")) return "not_reviewed"
  return { _tag: "Unreported", vcs: trigger.kind, revision: number } satisfies UnreportedRevision
})

/** Returns the name that a person of chat has in records. */
export const toRequester = ({ id, type }: ChatRequest["sender"]) => chatRequester(`${type} ${id}`)

/** Returns undefined if the workspace does not review this repository. */
const toHostChange = (
  snapshot: Snapshot,
  kind: ForgeKind,
  { repo, trigger, workspace }: ChatRepository,
  revision: string,
  requester: ChatRequest["sender"]
): Change | undefined => {
  const facts = { vcs: kind, repo_ref: repo, any_branch: true }
  if (!snapshot.route(trigger, facts).some(({ id }) => id === workspace.id)) return undefined
  const common = {
    provider: kind,
    trigger,
    workspace: workspace.id,
    repo: { fullName: repo },
    requestedBy: toRequester(requester)
  }
  const parsed = parseRevision(revision)
  if (parsed._tag === "Pull") return { ...common, target: { kind: "pull_request", number: parsed.number } }
  return parsed._tag === "Commit"
    ? { ...common, target: { kind: "manual", branch: parsed.id }, head: parsed.id }
    : { ...common, target: { kind: "manual", branch: parsed.name }, headRef: parsed.name }
}

/** Returns whether the review of this request was queued before a crash. */
export const isReviewQueued = Effect.fnUntraced(function* (
  request: ChatRequest,
  of: Pick<EventFilter, "targetKey" | "workspace">
) {
  const key = toDeliveryKey(request)
  const events = yield* (yield* Receipts).list({ ...of, since: request.receivedAt, limit: 100 })
  return events.some((event) => event.deliveryKey === key)
})

const toDeliveryKey = ({ id }: ChatRequest) => deliveryKey("chat", id)

const requestedIn = ({ connection }: ChatRequest): Reason => ({ _tag: "RequestedFromChat", connection })

/** Stores the receipt and queues the review, or the reply to words about one. Returns the id of the receipt. */
export const queueReview = Effect.fnUntraced(function* (request: ChatRequest, change: Change, snapshot: Snapshot) {
  const receipts = yield* Receipts
  const now = yield* Clock.currentTimeMillis
  const { receivedAt } = request
  const review = snapshot.workspaces.get(change.workspace)?.review
  const isQuestion = change.target.kind === "comment"
  const dueAt = review === undefined || isQuestion ? receivedAt : commandDue(review, change.target.kind, receivedAt)
  const priority = isQuestion ? Priority.reply : Priority.command
  const work = { change, configHash: snapshot.hash, priority, dueAt }
  const id = newId()
  const record: EventRecord = {
    id,
    deliveryKey: toDeliveryKey(request),
    provider: change.provider,
    event: "chat",
    action: isQuestion ? "ask" : "review",
    trigger: change.trigger,
    workspace: change.workspace,
    targetKind: change.target.kind,
    targetKey: targetKey(change),
    repo: change.repo.fullName,
    facts: { number: change.target.number, branch: change.headRef, sender: toRequester(request.sender) },
    decision: "queued",
    reason: undefined,
    rule: requestedIn(request),
    work,
    receivedAt: now
  }
  const receipt = yield* receipts.store(record)
  const eventId = receipt._tag === "Duplicate" ? receipt.first.id : id
  const [admitted] = yield* enqueue([{ eventId, ...work, admittedAt: request.receivedAt, expires: true }])
  const status = admitted?.status ?? "queued"
  if (status !== "queued" && receipt._tag !== "Duplicate")
    yield* receipts.note({ decided: [{ id, decision: status }], duplicates: [] })
  // A repetition after a crash, which logged it before or lost the line.
  const decided = { eventId, decision: status, reason: record.reason }
  yield* logDecision({ ...record, id: eventId }, decided, { chat_request_id: request.id })
  yield* (yield* WorkspaceScheduler.client)(change.workspace).Wake(undefined, { discard: true })
  return { eventId, entryId: admitted?.entryId }
})

/** Stores the report of a revision, which the routing of reports takes from there. Returns the id of the receipt. */
export const queueRevision = Effect.fnUntraced(function* (
  request: ChatRequest,
  { trigger, workspace }: ChatRepository,
  { revision, vcs }: UnreportedRevision
) {
  const receipts = yield* Receipts
  const requestedBy = toRequester(request.sender)
  const id = newId()
  const record: EventRecord = {
    id,
    deliveryKey: toDeliveryKey(request),
    provider: vcs,
    event: "chat",
    action: "review",
    trigger,
    workspace: workspace.id,
    targetKind: "commit",
    targetKey: undefined,
    repo: undefined,
    facts: { head: revision, sender: requestedBy },
    decision: "queued",
    reason: undefined,
    rule: requestedIn(request),
    work: undefined,
    routing: { vcs, trigger, revision, files: [], workspaces: [workspace.id], requestedBy },
    receivedAt: yield* Clock.currentTimeMillis
  }
  const receipt = yield* receipts.store(record)
  const eventId = receipt._tag === "Duplicate" ? receipt.first.id : id
  const decided = { eventId, decision: "queued", reason: record.reason }
  yield* logDecision({ ...record, id: eventId }, decided, { chat_request_id: request.id })
  ;(yield* NewReports).notify()
  return eventId
})

export interface ChatReviewEnd {
  readonly _tag: "Ended"
  readonly outcome: ChatOutcome
  readonly run: Run | undefined
  readonly why: Reason
}

type ChatReviewState =
  /** The revision was found: its review is another event. */
  | { readonly _tag: "Routed"; readonly eventId: string; readonly entryId: string | undefined }
  | { readonly _tag: "Waiting" }
  | { readonly _tag: "Running" }
  | ChatReviewEnd

const toEnd = (event: StoredEvent, run: Run | undefined): ChatReviewState => {
  const why = run?.reason ?? event.outcomeReason ?? verbatimReason(event.outcome ?? "unknown")
  const ended = (outcome: ChatOutcome): ChatReviewState => ({ _tag: "Ended", outcome, run, why })
  if (event.outcome === "expired") return ended("expired")
  if (event.outcome === "superseded") return ended("rejected")
  if (run?.status === "succeeded") return ended(run.partial ? "partial" : "succeeded")
  return ended(event.outcome === "skipped" || run?.status === "skipped" ? "rejected" : "failed")
}

/** Branches that one revision changes. */
const maxBranches = 200

/** Returns the review of a revision that was found. Of several branches, the first one is followed. */
const findRouted = Effect.fnUntraced(function* (report: StoredEvent) {
  const [review] = yield* listReported(report, maxBranches)
  if (review?.targetKey === undefined) return undefined
  const statuses = ["waiting", "ready", "running"] as const
  const { items } = yield* (yield* Operations).list({ targetKey: review.targetKey, statuses, limit: maxBranches })
  const entry = items.find((item) => item.entry.events.includes(review.id))?.entry
  return { _tag: "Routed", eventId: review.id, entryId: entry?.id } satisfies ChatReviewState
})

/** Returns the state of a requested review from the records. */
export const findReviewState = Effect.fnUntraced(function* ({
  facts
}: ChatRequest): Effect.fn.Return<ChatReviewState, QueueError | StoreError, Operations | Queue | Receipts | Runs> {
  const event = facts.eventId === undefined ? undefined : yield* (yield* Receipts).get(facts.eventId)
  if (event === undefined)
    return { _tag: "Ended", outcome: "failed", run: undefined, why: { _tag: "ReviewRecordRemoved" } }
  if (event.routing !== undefined && event.outcome === "executed") {
    const routed = yield* findRouted(event)
    if (routed !== undefined) return routed
  }
  if (event.outcome !== undefined) {
    const run = event.runId === undefined ? undefined : yield* (yield* Runs).get(event.runId)
    return run !== undefined && !runLifecycle.isTerminal(run.status) ? { _tag: "Running" } : toEnd(event, run)
  }
  const entry = facts.entryId === undefined ? undefined : yield* (yield* Queue).get(facts.entryId)
  return { _tag: entry?.status === "running" ? "Running" : "Waiting" }
})
