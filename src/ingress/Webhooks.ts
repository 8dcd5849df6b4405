/**
 * `POST /webhooks/<host>`: verify, parse, admit, store the receipt, queue, answer. Nothing slow happens before the answer and the
 * host is never asked anything. A plain promise per request; the path is measured by the `ingest` benchmark.
 */
import { createHash } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import { Redacted } from "effect"
import type { Admission, Refusal } from "../admission/Admit.ts"
import { admit } from "../admission/Admit.ts"
import type { ConfigStore } from "../config/ConfigStore.ts"
import type { TriggerProfile } from "../config/Snapshot.ts"
import { targetKey } from "../domain/Change.ts"
import type { HostEvent } from "../domain/HostEvent.ts"
import type { ForgeKind } from "../domain/Kinds.ts"
import type { ForgeWebhook, Headers } from "../forge/Forge.ts"
import type { OwnAccounts } from "../forge/OwnAccounts.ts"
import { webhooks } from "../forge/Webhooks.ts"
import type { Admission as Work } from "../queue/Queue.ts"
import type { EventRecord } from "../store/Receipts.ts"
import type { Answer } from "./Answers.ts"
import { accepted, ignored, malformed, notConfigured, unauthenticated, unavailable } from "./Answers.ts"
import type { Intake } from "./Intake.ts"
import type { Wake } from "./Wake.ts"

export interface WebhookParts {
  readonly config: ConfigStore["Service"]
  readonly ownAccounts: OwnAccounts["Service"]
  readonly wake: Wake["Service"]
  readonly intake: Intake
  /** Cancels what waits for a closed pull request. */
  readonly cancelWaiting: (targetKey: string) => void
  /** Said once per trigger that has no secret. */
  readonly warnOpen: (trigger: string) => void
  readonly count: (kind: ForgeKind, decision: string, reason: string) => void
}

export interface Received {
  /** Id of the request and of the event record. */
  readonly id: string
  readonly kind: ForgeKind
  readonly headers: IncomingHttpHeaders
  readonly body: Uint8Array
  readonly now: number
}

/** Header values as one string each; node joins repeated ones but keeps a list for a few that do not matter here. */
const flatten = (headers: IncomingHttpHeaders): Headers => {
  const flat: Record<string, string | undefined> = Object.create(null)
  for (const name in headers) {
    const value = headers[name]
    if (typeof value === "string") flat[name] = value
  }
  return flat
}

const verifiedBy = (
  profiles: ReadonlyArray<TriggerProfile>,
  webhook: ForgeWebhook,
  headers: Headers,
  { body, now }: Received
): ReadonlyArray<TriggerProfile> => {
  const tried = new Map<string, boolean>()
  return profiles.filter(({ webhookSecret }) => {
    if (webhookSecret === undefined) return true
    const secret = Redacted.value(webhookSecret)
    let right = tried.get(secret)
    if (right === undefined) {
      right = webhook.verify(webhookSecret, headers, body, now)
      tried.set(secret, right)
    }
    return right
  })
}

const hashOf = (event: string, body: Uint8Array): string =>
  `sha256:${createHash("sha256").update(event).update("\n").update(body).digest("hex")}`

const recordOf = (
  received: Received,
  delivery: string,
  event: HostEvent,
  outcome: Admission | Refusal
): EventRecord => {
  const common = {
    id: received.id,
    provider: received.kind,
    event: event.event,
    action: event.action,
    trigger: outcome.trigger?.name,
    workspace: outcome.workspace?.id,
    repo: "repo" in event ? event.repo?.fullName : undefined,
    receivedAt: received.now
  }
  if (!outcome.accepted) {
    return {
      ...common,
      // Only deliveries that started work are known again: one that was ignored may be sent again once configuration allows it.
      deliveryKey: `${delivery}#${received.id}`,
      targetKind: undefined,
      targetKey: outcome.closes,
      decision: "ignored",
      reason: outcome.reason,
      work: undefined
    }
  }
  const { change, command, dueAt, priority } = outcome
  return {
    ...common,
    deliveryKey: delivery,
    targetKind: change.target.kind,
    targetKey: targetKey(change),
    decision: dueAt > received.now ? "deferred" : "queued",
    reason: command === undefined ? undefined : `command ${command}`,
    work: {
      change,
      configHash: outcome.configHash,
      priority,
      dueAt,
      ...(command === undefined ? undefined : { command })
    }
  }
}

const workOf = (received: Received, { change, configHash, dueAt, priority }: Admission): Work => ({
  eventId: received.id,
  change,
  configHash,
  priority,
  admittedAt: received.now,
  dueAt,
  reason: dueAt > received.now ? "waits for its schedule to open" : undefined
})

export const makeWebhooks = (parts: WebhookParts) => {
  const { config, count, intake, ownAccounts, wake } = parts

  const start = async (
    received: Received,
    record: EventRecord,
    event: string,
    admission: Admission
  ): Promise<Answer> => {
    const { change, command } = admission
    const answer = (id: string, status: Parameters<typeof accepted>[3], dueAt: number) => {
      count(received.kind, status, "")
      return accepted(id, event, { change, dueAt }, status, received.now)
    }
    if (intake.isFull(change.workspace, received.now)) {
      count(received.kind, "unavailable", "queue_full")
      return unavailable("queue_full")
    }
    const taken = await intake.take(record, command === undefined ? workOf(received, admission) : undefined)
    if (taken._tag === "Refused") {
      count(received.kind, "unavailable", "store_unavailable")
      return unavailable("store_unavailable")
    }
    if (taken._tag === "Duplicate") {
      return answer(taken.first.id, "duplicate", taken.first.work?.dueAt ?? received.now)
    }
    if (command !== undefined) {
      wake.command({ eventId: received.id, command, change })
      return answer(received.id, "queued", admission.dueAt)
    }
    wake.workspace(change.workspace)
    const { queued = "later" } = taken
    return queued === "later"
      ? answer(received.id, admission.dueAt > received.now ? "deferred" : "queued", admission.dueAt)
      : answer(received.id, queued.status, queued.dueAt)
  }

  const decline = async (received: Received, record: EventRecord, event: string, refusal: Refusal): Promise<Answer> => {
    if ((await intake.take(record))._tag === "Refused") {
      count(received.kind, "unavailable", "store_unavailable")
      return unavailable("store_unavailable")
    }
    if (refusal.closes !== undefined) {
      parts.cancelWaiting(refusal.closes)
      if (refusal.workspace !== undefined) wake.closed(refusal.workspace.id, refusal.closes)
    }
    count(received.kind, "ignored", refusal.reason)
    return ignored(received.id, refusal.reason, received.kind, event)
  }

  return {
    /** Answered before the body is read; undefined where a trigger of the kind exists. */
    preflight: (kind: ForgeKind): Answer | undefined =>
      config.current().triggersOfKind(kind).length === 0 ? notConfigured : undefined,

    handle: async (received: Received): Promise<Answer> => {
      const { body, id, kind, now } = received
      const snapshot = config.current()
      const headers = flatten(received.headers)
      const webhook = webhooks[kind]
      const verified = verifiedBy(snapshot.triggersOfKind(kind), webhook, headers, received)
      if (verified.length === 0) {
        count(kind, "rejected", "invalid_signature")
        return unauthenticated
      }
      for (const { name, webhookSecret } of verified) if (webhookSecret === undefined) parts.warnOpen(name)

      const parsed = webhook.parse(headers, body)
      if (parsed._tag === "Rejected") {
        const taken = await intake.take({
          id,
          deliveryKey: `${kind}:rejected#${id}`,
          provider: kind,
          event: parsed.event ?? "",
          action: undefined,
          trigger: verified.length === 1 ? verified[0]?.name : undefined,
          workspace: undefined,
          targetKind: undefined,
          targetKey: undefined,
          repo: undefined,
          decision: "rejected",
          reason: parsed.reason,
          work: undefined,
          receivedAt: now
        })
        if (taken._tag === "Refused") return unavailable("store_unavailable")
        count(kind, "rejected", parsed.reason)
        return malformed(parsed.reason, parsed.issues, kind)
      }
      const { event } = parsed
      const delivery = `${kind}:${webhook.deliveryId(headers) ?? hashOf(event.event, body)}`
      const outcome = admit({ snapshot, verified, event, ownAccount: ownAccounts.of, now })
      const record = recordOf(received, delivery, event, outcome)
      if (event._tag === "Lifecycle") wake.installationChanged(verified.map(({ name }) => name))
      return outcome.accepted
        ? start(received, record, event.event, outcome)
        : decline(received, record, event.event, outcome)
    }
  }
}

export type Webhooks = ReturnType<typeof makeWebhooks>
