/**
 * Serves `POST /webhooks/<host>`: verifies, parses, admits, stores the receipt, queues and responds. Nothing slow happens before the
 * response, and no request is sent to the host. One plain promise per request; the `ingest` benchmark measures this path.
 */
import { createHash } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import type { Admission, Admitted, Refusal } from "../admission/Admit.ts"
import { admit } from "../admission/Admit.ts"
import type { ConfigStore } from "../config/ConfigStore.ts"
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"
import type { Change } from "../domain/Change.ts"
import type { ExecutedCommand } from "../domain/CommentCommand.ts"
import { discussedKey, targetKey } from "../domain/Change.ts"
import type { IgnoreReason } from "../domain/Decision.ts"
import { isReply, Priority } from "../domain/Entry.ts"
import type { EventFacts, HostEvent, DeliverySubject } from "../domain/HostEvent.ts"
import { commandKey, DeliveryKey, deliveryKey, uniqueDeliveryKey } from "../domain/Keys.ts"
import type { TargetKey } from "../domain/Keys.ts"
import type { ForgeKind } from "../domain/Kinds.ts"
import { truncate } from "../domain/Text.ts"
import { DeliveryBody } from "../forge/DeliveryBody.ts"
import type { ForgeWebhook, Headers } from "../forge/Forge.ts"
import type { OwnAccounts } from "../forge/OwnAccounts.ts"
import { webhooks } from "../forge/Webhooks.ts"
import type { FoundEvent } from "../queue/FoundEvents.ts"
import type { QueueAdmission, QueueAdmitted } from "../queue/Queue.ts"
import type { PullBase } from "../store/PullBases.ts"
import type { DeliveryFacts, EventRecord } from "../store/Receipts.ts"
import type { IngressResponse } from "./Responses.ts"
import {
  accepted,
  describeIssues,
  ignored,
  malformed,
  notConfigured,
  unauthenticated,
  unavailable
} from "./Responses.ts"
import type { DeliveryLog } from "./DeliveryLog.ts"
import type { Intake } from "./Intake.ts"
import type { LargeWork } from "./LargeWork.ts"
import type { PayloadKeeper } from "./PayloadKeeper.ts"
import type { PullBranches } from "./PullBranches.ts"
import type { RenamedRepositories } from "./RenamedRepositories.ts"
import { listSecrets, verifyDelivery } from "./VerifyDelivery.ts"
import type { StoredFacts } from "./StoredFacts.ts"
import { truncateTexts, verbatimReason } from "../domain/Reason.ts"

interface WebhookParts {
  readonly config: ConfigStore["Service"]
  readonly ownAccounts: OwnAccounts["Service"]
  readonly facts: StoredFacts["Service"]
  readonly intake: Intake
  readonly pullBranches: PullBranches
  readonly renamed: RenamedRepositories
  readonly largeWork: LargeWork
  /** Makes the inventories of these triggers list their repositories again. */
  readonly repositoriesChanged: (triggers: ReadonlyArray<string>, now: number) => void
  /** Cancels the waiting entries of a closed pull request. */
  readonly cancelWaiting: (closed: NonNullable<Refusal["closes"]>) => void
  /** Logs once per trigger that has no secret. */
  readonly warnOpen: (trigger: string) => void
  readonly count: (kind: ForgeKind, decision: string, reason: string) => void
  readonly log: DeliveryLog
  readonly payloads: Pick<PayloadKeeper, "keep">
}

/** A stored delivery, decided about again. */
interface ReplayedWebhook extends Verified {
  readonly replayOf: string
  readonly payload: Uint8Array
  /** Names of the triggers that verified it. */
  readonly triggers: ReadonlyArray<string>
}

/** A delivery whose record is made. */
interface Verified {
  /** Id of the request and of the event record. */
  readonly id: string
  readonly kind: ForgeKind
  readonly headers: IncomingHttpHeaders
  readonly now: number
  /** Event of the delivery that this one repeats on the request of an administrator. */
  readonly replayOf?: string | undefined
  /** Whether the event was found without a delivery: its records prevent others with their key, whatever their decision. */
  readonly isFound?: boolean
}

export interface Received extends Verified {
  /** The body in the blocks as received; it is overwritten. */
  readonly blocks: ReadonlyArray<Uint8Array>
  /** Key of fairness between clients: an address or a network. */
  readonly client: string
  /** Returns whether the client has disconnected. */
  readonly isGone: () => boolean
}

/** Maximum length of a text in a recorded rule, in characters. */
const maxRule = 500

/** Converts header values to one string each; node joins repeated ones but keeps a list for a few that do not matter here. */
const flatten = (headers: IncomingHttpHeaders): Headers => {
  const flat: Record<string, string | undefined> = Object.create(null)
  for (const name in headers) {
    const value = headers[name]
    if (typeof value === "string") flat[name] = value
  }
  return flat
}

const hashOf = (event: string, json: Uint8Array): string =>
  `sha256:${createHash("sha256")
    .update(event)
    .update("\n")
    .update(json ?? "")
    .digest("hex")}`

const toFacts = (
  { sender, subject }: Pick<EventFacts, "sender" | "subject">,
  command: DeliveryFacts["command"]
): DeliveryFacts => {
  const { author, branch, head, number, pusher, title } = subject
  return { number, head, branch, author, sender: sender?.username, pusher, title, command }
}

/** Returns the key of the pull request or issue of a delivery that starts no work. Pushes have no number, and merge groups a key of their own. */
const findTarget = (
  { kind, number }: DeliverySubject,
  fullName: string | undefined,
  trigger: string | undefined
): TargetKey | undefined =>
  fullName === undefined ||
  trigger === undefined ||
  number === undefined ||
  kind === undefined ||
  kind === "merge_group"
    ? undefined
    : targetKey({ trigger, workspace: "", repo: { fullName }, target: { kind, number } })

/** Returns the command of the comment that an event is about. */
const findCommandName = (event: HostEvent, outcome: Admitted): DeliveryFacts["command"] => {
  if (event._tag === "Commanded") return event.command.name
  if (!outcome.accepted) return undefined
  return outcome.request?.command.name ?? (outcome.change.requestedBy === undefined ? undefined : "review")
}

/** Returns the name of a command that is executed and never queued. */
const executedName = (request: Admission["request"]): ExecutedCommand["name"] | undefined =>
  request === undefined || request.command.name === "review" ? undefined : request.command.name

/** Returns the key of accepted work. */
const keyOf = (received: Verified, delivery: DeliveryKey, event: HostEvent, change: Change): DeliveryKey => {
  const comment = event._tag === "Commanded" || event._tag === "Discussed" ? event.comment?.id : undefined
  if (comment === undefined || received.replayOf !== undefined) return delivery
  return commandKey(change.provider, discussedKey(change), comment)
}

const recordOf = (
  received: Verified,
  delivery: DeliveryKey,
  event: HostEvent,
  outcome: Admission | Refusal
): EventRecord => {
  const { subject } = event
  const common = {
    id: received.id,
    provider: received.kind,
    event: event.event,
    action: event.action,
    trigger: outcome.trigger?.name,
    workspace: outcome.workspace?.id,
    repo: "repo" in event ? event.repo?.fullName : undefined,
    facts: toFacts(event, findCommandName(event, outcome)),
    rule: outcome.rule && truncateTexts(outcome.rule, maxRule),
    receivedAt: received.now
  }
  if (!outcome.accepted) {
    return {
      ...common,
      // Duplicates are only detected for deliveries that started work: an ignored one may be resent after a configuration change.
      deliveryKey: received.isFound === true ? delivery : uniqueDeliveryKey(delivery, received.id),
      targetKind: subject.kind,
      targetKey: outcome.closes?.targetKey ?? findTarget(subject, common.repo, outcome.trigger?.name),
      decision: "ignored",
      reason: outcome.reason,
      work: undefined
    }
  }
  const { change, dueAt, priority, request } = outcome
  const command = executedName(request)
  return {
    ...common,
    deliveryKey: keyOf(received, delivery, event, change),
    targetKind: change.target.kind,
    targetKey: targetKey(change),
    decision: dueAt > received.now ? "deferred" : "queued",
    reason: command === undefined ? undefined : `command ${command}`,
    work: {
      change,
      configHash: outcome.configHash,
      priority,
      dueAt,
      ...(request === undefined ? undefined : { command, request })
    }
  }
}

const workOf = (received: Verified, { change, configHash, dueAt, priority }: Admission): QueueAdmission => ({
  eventId: received.id,
  change,
  configHash,
  priority,
  admittedAt: received.now,
  dueAt,
  reason: dueAt > received.now ? { _tag: "AwaitsSchedule" } : undefined
})

/** Counts and logs a delivery that was not stored. */
const refuse = (
  { count, log }: WebhookParts,
  { id, kind, now }: Verified,
  reason: Parameters<typeof unavailable>[0]
): IngressResponse => {
  count(kind, "unavailable", reason)
  log.refused(kind, reason, id, now)
  return unavailable(reason)
}

interface StoringParts extends WebhookParts {
  /** Called once the record of the delivery is stored. */
  readonly stored: () => void
}

/** Returns whether the delivery starts nothing if its head was reviewed. */
const isOnce = ({ replayOf }: Verified, event: HostEvent): boolean =>
  replayOf === undefined &&
  (event._tag === "Pushed" ||
    (event._tag === "MergeGroupQueued" && event.isRepeated !== true) ||
    (event._tag === "PullRequestUpdated" && event.isHeadOnly))

/** Stores an admitted delivery, queues its entry and wakes the scheduler. */
const start = async (
  parts: StoringParts,
  received: Verified,
  record: EventRecord,
  event: HostEvent,
  admission: Admission,
  pull: PullBase | undefined
): Promise<IngressResponse> => {
  const { count, facts, intake, log } = parts
  const { change, request } = admission
  const command = executedName(request)
  const respond = (id: string, status: Parameters<typeof accepted>[3], dueAt: number, entry?: QueueAdmitted) => {
    count(received.kind, status, "")
    log.decided(record, { eventId: id, decision: status, reason: record.reason, entry })
    return accepted(id, event.event, { change, dueAt }, status, received.now)
  }
  if (intake.isFull(change.workspace, received.now)) {
    return refuse(parts, received, "queue_full")
  }
  const intakeResult = await intake.take({
    record,
    work: command === undefined ? workOf(received, admission) : undefined,
    pull,
    once: isOnce(received, event)
  })
  if (intakeResult._tag === "Refused") {
    return refuse(parts, received, "store_unavailable")
  }
  if (intakeResult._tag === "Duplicate") {
    return respond(intakeResult.first.id, "duplicate", intakeResult.first.work?.dueAt ?? received.now)
  }
  parts.stored()
  if (intakeResult._tag === "Reviewed") return respondIgnored(parts, received, record, event, "already_reviewed")
  // A requested review is queued, and its comment gets a reaction immediately.
  if (request !== undefined)
    facts.publish({
      _tag: "CommentCommanded",
      request: { eventId: received.id, command: request.command.name, change }
    })
  if (command !== undefined) return respond(received.id, "queued", admission.dueAt)
  facts.publish({ _tag: "EntriesChanged", workspace: change.workspace })
  if (change.target.kind === "pull_request" && change.head !== undefined)
    facts.publish({ _tag: "HeadQueued", targetKey: targetKey(change), head: change.head })
  const { queued = "later" } = intakeResult
  return queued === "later"
    ? respond(received.id, admission.dueAt > received.now ? "deferred" : "queued", admission.dueAt)
    : respond(received.id, queued.status, queued.dueAt, queued)
}

/** Counts and logs a stored delivery that starts no work. */
const respondIgnored = (
  { count, log }: WebhookParts,
  { id, kind }: Verified,
  record: EventRecord,
  { event }: HostEvent,
  reason: IgnoreReason
): IngressResponse => {
  count(kind, "ignored", reason)
  log.decided(record, { eventId: id, decision: "ignored", reason })
  return ignored(id, reason, kind, event)
}

/** Stores a delivery that starts no work. */
const decline = async (
  parts: StoringParts,
  received: Verified,
  record: EventRecord,
  event: HostEvent,
  refusal: Refusal,
  pull: PullBase | undefined
): Promise<IngressResponse> => {
  const intakeResult = await parts.intake.take({ record, pull })
  if (intakeResult._tag === "Refused") {
    return refuse(parts, received, "store_unavailable")
  }
  parts.stored()
  if (refusal.closes !== undefined) {
    parts.cancelWaiting(refusal.closes)
    if (refusal.workspace !== undefined)
      parts.facts.publish({ _tag: "TargetClosed", workspace: refusal.workspace.id, ...refusal.closes })
  }
  return respondIgnored(parts, received, record, event, refusal.reason)
}

/** Stores a verified delivery whose payload cannot be read. */
const reject = async (
  parts: StoringParts,
  received: Verified,
  verified: ReadonlyArray<TriggerProfile>,
  parsed: Extract<ReturnType<ForgeWebhook["parse"]>, { readonly _tag: "Rejected" }>
): Promise<IngressResponse> => {
  const { count, intake, log } = parts
  const { id, kind, now } = received
  const { facts } = parsed
  const record: EventRecord = {
    id,
    deliveryKey: uniqueDeliveryKey(deliveryKey(kind, "rejected"), id),
    provider: kind,
    event: parsed.event ?? "",
    action: facts?.action,
    trigger: verified.length === 1 ? verified[0]?.name : undefined,
    workspace: undefined,
    targetKind: facts?.subject.kind,
    targetKey: undefined,
    repo: facts?.repo?.fullName,
    facts: facts === undefined ? {} : toFacts(facts, undefined),
    decision: "rejected",
    reason: parsed.reason,
    rule: verbatimReason(truncate(describeIssues(parsed.issues), maxRule)),
    work: undefined,
    receivedAt: now
  }
  if ((await intake.take({ record }))._tag === "Refused") return refuse(parts, received, "store_unavailable")
  parts.stored()
  count(kind, "rejected", parsed.reason)
  log.decided(record, { eventId: id, decision: "rejected", reason: parsed.reason })
  return malformed(parsed.reason, parsed.issues, kind)
}

/** Counts and logs a delivery that no trigger verified. */
const rejectSignature = (
  { count, log }: WebhookParts,
  kind: ForgeKind,
  profiles: ReadonlyArray<TriggerProfile>,
  client: string,
  now: number
): IngressResponse => {
  count(kind, "rejected", "invalid_signature")
  const names = profiles.map(({ name }) => name)
  log.rejectedSignature(kind, names, client, now)
  return unauthenticated
}

/**
 * Returns the refusal if the headers are enough for it: no trigger of the kind, or no well-formed signature. It is counted and logged when it is
 * made.
 */
const preflight = (
  parts: WebhookParts,
  kind: ForgeKind,
  requestHeaders: IncomingHttpHeaders,
  client: string,
  now: number
): (() => IngressResponse) | undefined => {
  const profiles = parts.config.current().triggersOfKind(kind)
  if (profiles.length === 0)
    return () => {
      parts.log.unwanted(kind, "trigger_not_configured", now)
      return notConfigured
    }
  if (profiles.some(({ webhookSecret }) => webhookSecret === undefined)) return undefined
  const signature = webhooks[kind].signature(flatten(requestHeaders))
  if (signature !== undefined && !listSecrets(profiles).every((secret) => signature(secret, now) === false)) {
    return undefined
  }
  return () => ({ ...rejectSignature(parts, kind, profiles, client, now), close: true })
}

/** Returns undefined if the sender disconnected before the delivery was verified. */
const handle = async (parts: WebhookParts, received: Received): Promise<IngressResponse | undefined> => {
  const { blocks, kind, now } = received
  const snapshot = parts.config.current()
  const headers = flatten(received.headers)
  const webhook = webhooks[kind]
  const steps = verifyDelivery(snapshot.triggersOfKind(kind), webhook, new DeliveryBody(headers, blocks), now)
  const done = await parts.largeWork.run(received.client, steps, received.isGone)
  if (done === undefined) return undefined
  const { payload, verified } = done
  if (verified.length === 0) {
    return rejectSignature(parts, kind, snapshot.triggersOfKind(kind), received.client, now)
  }
  for (const { name, webhookSecret } of verified) if (webhookSecret === undefined) parts.warnOpen(name)

  return decide(parts, received, { snapshot, verified, headers, payload })
}

interface Decidable {
  readonly snapshot: Snapshot
  readonly verified: ReadonlyArray<TriggerProfile>
  readonly headers: Headers
  readonly payload: Uint8Array | undefined
}

/** Parses a verified delivery, decides about it and stores it. */
const decide = async (
  parts: WebhookParts,
  received: Verified,
  { headers, payload, snapshot, verified }: Decidable
): Promise<IngressResponse> => {
  const { id, kind, now, replayOf } = received
  const webhook = webhooks[kind]
  const parsed = webhook.parse(headers, payload)
  const json = payload ?? new Uint8Array()
  const keep = (): void =>
    parts.payloads.keep({
      eventId: id,
      receivedAt: now,
      path: kind,
      headers,
      body: json,
      contentType: undefined,
      admits: { _tag: "Triggers", names: verified.map(({ name }) => name) },
      replayOf
    })
  if (parsed._tag === "Rejected") return reject({ ...parts, stored: keep }, received, verified, parsed)
  const { event } = parsed
  const sent = deliveryKey(kind, webhook.deliveryId(headers, json) ?? hashOf(event.event, json))
  const delivery = replayOf === undefined ? sent : uniqueDeliveryKey(sent, id)
  if (event._tag === "Lifecycle") {
    const names = verified.map(({ name }) => name)
    if (event.changed === "installation") parts.facts.publish({ _tag: "InstallationChanged", triggers: names })
    parts.repositoriesChanged(names, now)
  }
  return decideEvent({ ...parts, stored: keep }, received, { snapshot, verified, event, delivery })
}

interface DecidableEvent {
  readonly snapshot: Snapshot
  readonly verified: ReadonlyArray<TriggerProfile>
  readonly event: HostEvent
  readonly delivery: DeliveryKey
}

/** Decides about an event, of a delivery or found without one, and stores it. */
const decideEvent = async (
  parts: StoringParts,
  received: Verified,
  { delivery, event, snapshot, verified }: DecidableEvent
): Promise<IngressResponse> => {
  const { now } = received
  const { bases, pull } = await parts.pullBranches.resolve(snapshot, verified, event, now)
  const admitted = admit({ snapshot, verified, event, bases, ownAccount: parts.ownAccounts.of, now })
  const outcome = admitted.accepted
    ? { ...admitted, priority: received.isFound === true && !isReply(admitted) ? Priority.found : admitted.priority }
    : await parts.renamed.resolve(admitted, event, verified, now)
  const record = recordOf(received, delivery, event, outcome)
  return outcome.accepted
    ? start(parts, received, record, event, outcome, pull)
    : decline(parts, received, record, event, outcome, pull)
}

export const makeWebhooks = (parts: WebhookParts) => ({
  preflight: (kind: ForgeKind, headers: IncomingHttpHeaders, client: string, now: number) =>
    preflight(parts, kind, headers, client, now),
  handle: (received: Received): Promise<IngressResponse | undefined> => handle(parts, received),
  replay: (replayed: ReplayedWebhook): Promise<IngressResponse> | undefined => replay(parts, replayed),
  /** Decides about an event that was found at the host of a trigger, without a delivery. */
  found: (id: string, { event, key, trigger }: FoundEvent, now: number): Promise<IngressResponse> => {
    const received = { id, kind: event.provider, headers: {}, now, isFound: true }
    const decided = { snapshot: parts.config.current(), verified: [trigger], event, delivery: key }
    return decideEvent({ ...parts, stored: () => {} }, received, decided)
  }
})

/** Returns undefined if none of its triggers is configured any more. */
const replay = (parts: WebhookParts, replayed: ReplayedWebhook): Promise<IngressResponse> | undefined => {
  const snapshot = parts.config.current()
  const verified = snapshot.triggersOfKind(replayed.kind).filter(({ name }) => replayed.triggers.includes(name))
  if (verified.length === 0) return undefined
  const { headers, payload } = replayed
  return decide(parts, replayed, { snapshot, verified, headers: flatten(headers), payload })
}

export type Webhooks = ReturnType<typeof makeWebhooks>
