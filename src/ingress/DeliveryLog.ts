/** Logs each verified delivery and call of a trigger with its decision, and deliveries whose signature is not valid within limits. */
import { Clock, Effect } from "effect"
import { addPastSpan, addRootSpan, inEventTrace } from "../domain/EventTrace.ts"
import type { ForgeKind, TriggerKind } from "../domain/Kinds.ts"
import type { EventRecord } from "../store/Receipts.ts"
import { RepeatedWarnings } from "../domain/RepeatedWarnings.ts"
import type { SignatureCounts } from "./SignatureCounts.ts"

/** Returns the fields of a delivery, without those that its payload does not have. */
const deliveryFields = ({ facts, ...record }: EventRecord, eventId: string) => {
  const fields = {
    event_id: eventId,
    provider: record.provider,
    event: record.event,
    action: record.action,
    trigger: record.trigger,
    workspace: record.workspace,
    repository: record.repo,
    ...facts
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Adds the delivery to the trace of its event, of which the first delivery is the root. */
const traceDelivery = (record: EventRecord, eventId: string, attributes: Readonly<Record<string, unknown>>) =>
  Effect.flatMap(Clock.currentTimeMillis, (to) => {
    const span = { eventId, from: record.receivedAt, to, attributes }
    return record.id === eventId
      ? addRootSpan({ ...span, name: "delivery" })
      : addPastSpan({ ...span, name: "repeated delivery" })
  })

export interface DeliveryLog {
  /** `eventId` is the id of the record: for a duplicate, of the delivery that was first. */
  readonly decided: (
    record: EventRecord,
    decided: { readonly eventId: string; readonly decision: string; readonly reason: string | undefined }
  ) => void
  /** A delivery or call that got 503: nothing was stored. Logged within limits. */
  readonly refused: (provider: TriggerKind, reason: string, eventId: string, now: number) => void
  /** Counts each of them, and logs within limits. */
  readonly rejectedSignature: (kind: ForgeKind, triggers: ReadonlyArray<string>, client: string, now: number) => void
}

export const makeDeliveryLog = (
  run: (effect: Effect.Effect<void>) => void,
  counts: Pick<SignatureCounts, "count">
): DeliveryLog => {
  /** Limits per provider, so that a flood at one does not hide the warnings about another. */
  const rejected = new Map<ForgeKind, RepeatedWarnings>()
  const refused = new RepeatedWarnings()
  return {
    refused: (provider, reason, eventId, now) => {
      const suppressed = refused.admit(`${provider} ${reason}`, now)
      if (suppressed === undefined) return
      run(
        Effect.logWarning("delivery refused, its sender has to repeat it", {
          event_id: eventId,
          provider,
          reason,
          suppressed
        })
      )
    },
    decided: (record, { decision, eventId, reason }) => {
      const fields = {
        ...deliveryFields(record, eventId),
        decision,
        ...(reason === undefined ? {} : { reason })
      }
      run(
        Effect.andThen(
          traceDelivery(record, eventId, fields),
          inEventTrace([eventId])(Effect.logInfo("delivery decided", fields))
        )
      )
    },
    rejectedSignature: (provider, triggers, client, now) => {
      counts.count(provider, triggers, client, now)
      const warnings = rejected.get(provider) ?? new RepeatedWarnings()
      rejected.set(provider, warnings)
      const suppressed = warnings.admit(client, now)
      if (suppressed === undefined) return
      run(Effect.logWarning("signature of a delivery rejected", { provider, triggers, client, suppressed }))
    }
  }
}
