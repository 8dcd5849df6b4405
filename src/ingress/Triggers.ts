/**
 * Serves `POST /triggers/*`: authenticates, parses, admits, stores the receipt, queues and responds, with the same responses as webhooks. A
 * change of Perforce or Subversion is stored as a routing receipt: its workspace is determined later.
 */
import { createHash } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import type { Admission, Refusal } from "../admission/Admit.ts"
import { admitManual, isCommitId } from "../admission/AdmitManual.ts"
import type { ManualRequest } from "../admission/AdmitManual.ts"
import type { ConfigStore } from "../config/ConfigStore.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { foldRepo, targetKey } from "../domain/Change.ts"
import type { Change } from "../domain/Change.ts"
import type { DepotChange } from "../domain/DepotChange.ts"
import { deliveryKey, uniqueDeliveryKey } from "../domain/Keys.ts"
import type { DeliveryKey } from "../domain/Keys.ts"
import type { TriggerKind } from "../domain/Kinds.ts"
import type { QueueAdmitted } from "../queue/Queue.ts"
import type { DeliveryFacts, EventRecord } from "../store/Receipts.ts"
import type { IngressResponse } from "./Responses.ts"
import {
  accepted,
  describeIssues,
  ignored,
  malformed,
  notConfigured,
  routed,
  unauthorized,
  unavailable
} from "./Responses.ts"
import { hasKeys, findScope } from "./ApiKeys.ts"
import type { KeyScope } from "./ApiKeys.ts"
import type { DeliveryLog } from "./DeliveryLog.ts"
import type { Intake } from "./Intake.ts"
import type { PayloadKeeper } from "./PayloadKeeper.ts"
import { parseTrigger } from "./TriggerPayload.ts"
import type { TriggerPath } from "./TriggerPayload.ts"
import type { WaitingReports } from "./WaitingReports.ts"
import type { StoredFacts } from "./StoredFacts.ts"
import { verbatimReason } from "../domain/Reason.ts"

interface TriggerParts {
  readonly config: ConfigStore["Service"]
  readonly facts: StoredFacts["Service"]
  readonly intake: Intake
  /** Logs once that nothing can be triggered because no key is configured. */
  readonly warnKeyless: () => void
  readonly count: (kind: TriggerKind, decision: string, reason: string) => void
  readonly log: DeliveryLog
  readonly waiting: Pick<WaitingReports, "admit">
  readonly payloads: Pick<PayloadKeeper, "keep">
}

export interface Called {
  readonly id: string
  readonly path: TriggerPath
  readonly headers: IncomingHttpHeaders
  readonly body: Uint8Array
  readonly now: number
  /** Event of the call that this one repeats on the request of an administrator. */
  readonly replayOf?: string | undefined
}

export const callKinds = {
  manual: "manual",
  custom: "manual",
  p4: "perforce",
  svn: "subversion"
} as const satisfies Record<TriggerPath, TriggerKind>

/** The same call within ten minutes is a repetition; later it requests a new review. */
const repeatedWithinMillis = 600_000

/**
 * Returns the scope of a caller's idempotency key, so that the same key of another caller for another workspace, trigger or repository is a
 * different one. A VCS hook event has no workspace yet; its scope is that of the caller's API key.
 */
const callScope = ({ host, repo, trigger, workspace }: Change): string =>
  JSON.stringify([workspace, trigger, host ?? "", foldRepo(repo.fullName)])

const deliveryOf = (
  { body, headers, id, now, path, replayOf }: Called,
  { moves, scope }: { readonly scope: string; readonly moves: boolean }
): DeliveryKey => {
  if (replayOf !== undefined) return uniqueDeliveryKey(deliveryKey(callKinds[path], "replay"), id)
  const key = headers["idempotency-key"]
  if (typeof key === "string" && key !== "" && key.length <= 200) {
    return deliveryKey(callKinds[path], `key:${createHash("sha256").update(`${scope}\n${key}`).digest("hex")}`)
  }
  const hash = createHash("sha256")
    .update(`${scope}\n${path}\n${moves ? Math.floor(now / repeatedWithinMillis) : ""}\n`)
    .update(body)
  return deliveryKey(callKinds[path], `sha256:${hash.digest("hex")}`)
}

/** Counts and logs a call that was not stored. */
const failed = (
  { count, log }: TriggerParts,
  kind: TriggerKind,
  reason: "store_unavailable" | "queue_full",
  { id, now }: Pick<Called, "id" | "now">
): IngressResponse => {
  count(kind, "unavailable", reason)
  log.refused(kind, reason, id, now)
  return unavailable(reason)
}

/** Counts and logs a call that is stored. */
const settle = (
  { count, log }: TriggerParts,
  kind: TriggerKind,
  record: EventRecord,
  decided: Parameters<DeliveryLog["decided"]>[1]
): void => {
  count(kind, decided.decision, decided.reason ?? "")
  log.decided(record, decided)
}

interface StoringParts extends TriggerParts {
  /** Called once the record of the call is stored. */
  readonly stored: () => void
}

const reject = async (
  parts: StoringParts,
  { id, now, path }: Called,
  reason: Parameters<typeof malformed>[0],
  issues: Parameters<typeof malformed>[1]
): Promise<IngressResponse> => {
  const kind = callKinds[path]
  const key = uniqueDeliveryKey(deliveryKey(kind, "rejected"), id)
  const record: EventRecord = {
    ...recordOf(id, kind, path, now, key),
    decision: "rejected",
    reason,
    rule: verbatimReason(describeIssues(issues))
  }
  if ((await parts.intake.take({ record }))._tag === "Refused")
    return failed(parts, kind, "store_unavailable", { id, now })
  parts.stored()
  settle(parts, kind, record, { eventId: id, decision: "rejected", reason })
  return malformed(reason, issues, kind)
}

const toFacts = ({ author, head }: ManualRequest): DeliveryFacts =>
  isCommitId(head) ? { head: head.toLowerCase(), author: author?.username } : { branch: head, author: author?.username }

const decline = async (
  parts: StoringParts,
  { id, now, path }: Called,
  request: ManualRequest,
  refusal: Refusal
): Promise<IngressResponse> => {
  const record: EventRecord = {
    ...recordOf(id, "manual", path, now, uniqueDeliveryKey(deliveryKey("manual", "ignored"), id)),
    trigger: refusal.trigger?.name,
    workspace: refusal.workspace?.id,
    repo: request.repo,
    facts: toFacts(request),
    decision: "ignored",
    reason: refusal.reason,
    rule: refusal.rule
  }
  if ((await parts.intake.take({ record }))._tag === "Refused")
    return failed(parts, "manual", "store_unavailable", { id, now })
  parts.stored()
  settle(parts, "manual", record, { eventId: id, decision: "ignored", reason: refusal.reason })
  return ignored(id, refusal.reason, "manual", path)
}

const start = async (
  parts: StoringParts,
  called: Called,
  request: ManualRequest,
  admission: Admission
): Promise<IngressResponse> => {
  const { id, now, path } = called
  const { change, configHash, dueAt, priority } = admission
  const respond = (eventId: string, status: Parameters<typeof accepted>[3], due: number, entry?: QueueAdmitted) => {
    settle(parts, "manual", record, { eventId, decision: status, reason: undefined, entry })
    return accepted(eventId, path, { change, dueAt: due }, status, now)
  }
  if (parts.intake.isFull(change.workspace, now)) return failed(parts, "manual", "queue_full", { id, now })
  const record: EventRecord = {
    ...recordOf(
      id,
      "manual",
      path,
      now,
      deliveryOf(called, { scope: callScope(change), moves: !isCommitId(request.head) })
    ),
    trigger: change.trigger,
    workspace: change.workspace,
    targetKind: change.target.kind,
    targetKey: targetKey(change),
    repo: request.repo,
    facts: toFacts(request),
    decision: "queued",
    rule: admission.rule,
    work: { change, configHash, priority, dueAt }
  }
  const intakeResult = await parts.intake.take({
    record,
    work: {
      eventId: id,
      change,
      configHash,
      priority,
      admittedAt: now,
      dueAt
    }
  })
  if (intakeResult._tag === "Refused") return failed(parts, "manual", "store_unavailable", { id, now })
  if (intakeResult._tag === "Duplicate") return respond(intakeResult.first.id, "duplicate", now)
  parts.stored()
  parts.facts.publish({ _tag: "EntriesChanged", workspace: change.workspace })
  const queued = intakeResult._tag === "Stored" ? (intakeResult.queued ?? "later") : "later"
  return queued === "later" ? respond(id, "queued", dueAt) : respond(id, queued.status, queued.dueAt, queued)
}

/** Returns the response that needs no body: no trigger of the kind is configured, or the caller is not authorised. */
const preflight = (
  parts: TriggerParts,
  path: TriggerPath,
  headers: IncomingHttpHeaders,
  now: number
): (() => IngressResponse) | undefined => {
  const snapshot = parts.config.current()
  const kind = callKinds[path]
  if (snapshot.triggersOfKind(kind).length === 0)
    return () => {
      parts.log.unwanted(kind, "trigger_not_configured", now)
      return notConfigured
    }
  if (findScope(snapshot, headers) !== undefined) return undefined
  return () => {
    if (hasKeys(snapshot)) parts.log.unwanted(kind, "unauthorized", now)
    else parts.warnKeyless()
    parts.count(kind, "rejected", "unauthorized")
    return { ...unauthorized, close: true }
  }
}

/** Stores a VCS hook event, whose workspace is determined later. */
const routeChange = async (
  parts: StoringParts,
  called: Called,
  change: DepotChange,
  scope: KeyScope
): Promise<IngressResponse> => {
  const { id, now, path } = called
  const kind = callKinds[path]
  const limit = parts.config.current().document.queue.limits.per_workspace
  if (!(await parts.waiting.admit(scope, limit, now))) return failed(parts, kind, "queue_full", { id, now })
  const workspaces = scope.workspaces === undefined ? undefined : [...scope.workspaces]
  const scoped = { scope: JSON.stringify(workspaces?.toSorted() ?? []), moves: false }
  const record: EventRecord = {
    ...recordOf(id, kind, path, now, deliveryOf(called, scoped)),
    targetKind: "commit",
    facts: { head: change.revision, branch: change.path, author: change.user, sender: change.user },
    decision: "queued",
    routing: { ...change, ...(workspaces === undefined ? {} : { workspaces }) }
  }
  const stored = await parts.intake.take({ record })
  if (stored._tag === "Refused") return failed(parts, kind, "store_unavailable", { id, now })
  const isDuplicate = stored._tag === "Duplicate"
  if (!isDuplicate) {
    parts.stored()
    parts.facts.publish({ _tag: "SubmitReported" })
  }
  const status = isDuplicate ? "duplicate" : "queued"
  const eventId = isDuplicate ? stored.first.id : id
  settle(parts, kind, record, { eventId, decision: status, reason: undefined })
  return routed(eventId, kind, path, status)
}

/** Stores a change whose triggers are all disabled. */
const declineDisabled = async (parts: StoringParts, { id, now, path }: Called): Promise<IngressResponse> => {
  const kind = callKinds[path]
  const reason = "trigger_disabled"
  const key = uniqueDeliveryKey(deliveryKey(kind, "ignored"), id)
  const record: EventRecord = {
    ...recordOf(id, kind, path, now, key),
    decision: "ignored",
    reason,
    rule: { _tag: "KindDisabled", kind }
  }
  if ((await parts.intake.take({ record }))._tag === "Refused")
    return failed(parts, kind, "store_unavailable", { id, now })
  parts.stored()
  settle(parts, kind, record, { eventId: id, decision: "ignored", reason })
  return ignored(id, reason, kind, path)
}

const handle = async (parts: TriggerParts, called: Called): Promise<IngressResponse> => {
  const scope = findScope(parts.config.current(), called.headers)
  return scope === undefined ? unauthorized : decide(parts, called, scope)
}

/** Parses an authenticated call, decides about it and stores it. */
const decide = async (parts: TriggerParts, called: Called, scope: KeyScope): Promise<IngressResponse> => {
  const { body, headers, id, now, path, replayOf } = called
  const snapshot = parts.config.current()
  const { workspaces } = scope
  const ids = workspaces === undefined ? undefined : [...workspaces]
  const storing: StoringParts = {
    ...parts,
    stored: () =>
      parts.payloads.keep({
        eventId: id,
        receivedAt: now,
        path,
        headers,
        body,
        contentType: headers["content-type"],
        admits: { _tag: "Workspaces", ids },
        replayOf
      })
  }
  const payload = parseTrigger(path, headers["content-type"], body)
  if (payload._tag === "Rejected") return reject(storing, called, payload.reason, payload.issues)
  if (payload._tag === "Manual") {
    const { request } = payload
    const outcome = admitManual({ snapshot, request, scope: workspaces, now })
    return outcome.accepted ? start(storing, called, request, outcome) : decline(storing, called, request, outcome)
  }
  return isOff(snapshot, callKinds[path])
    ? declineDisabled(storing, called)
    : routeChange(storing, called, payload.change, scope)
}

/** Returns undefined if no trigger of the kind is configured any more. */
const replay = (parts: TriggerParts, called: Called, scope: KeyScope): Promise<IngressResponse> | undefined =>
  parts.config.current().triggersOfKind(callKinds[called.path]).length === 0 ? undefined : decide(parts, called, scope)

export const makeTriggers = (parts: TriggerParts) => ({
  preflight: (path: TriggerPath, headers: IncomingHttpHeaders, now: number): (() => IngressResponse) | undefined =>
    preflight(parts, path, headers, now),
  handle: (called: Called): Promise<IngressResponse> => handle(parts, called),
  replay: (called: Called, scope: KeyScope): Promise<IngressResponse> | undefined => replay(parts, called, scope)
})

export type Triggers = ReturnType<typeof makeTriggers>

const isOff = (snapshot: Snapshot, kind: TriggerKind): boolean =>
  snapshot.triggersOfKind(kind).every(({ enabled }) => !enabled)

const recordOf = (id: string, provider: TriggerKind, event: string, receivedAt: number, key: DeliveryKey) =>
  ({
    id,
    deliveryKey: key,
    provider,
    event,
    action: undefined,
    trigger: undefined,
    workspace: undefined,
    targetKind: undefined,
    targetKey: undefined,
    repo: undefined,
    facts: {},
    decision: "queued",
    reason: undefined,
    work: undefined,
    receivedAt
  }) satisfies EventRecord
