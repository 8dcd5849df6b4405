/** Logs each verified delivery and call of a trigger with its decision, and deliveries whose signature is not valid within limits. */
import { Effect } from "effect"
import type { ForgeKind } from "../domain/Kinds.ts"
import type { EventRecord } from "../store/Receipts.ts"
import { RepeatedWarnings } from "./RepeatedWarnings.ts"

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

export interface DeliveryLog {
  /** `eventId` is the id of the record: for a duplicate, of the delivery that was first. */
  readonly decided: (
    record: EventRecord,
    decided: { readonly eventId: string; readonly decision: string; readonly reason: string | undefined }
  ) => void
  readonly rejectedSignature: (kind: ForgeKind, triggers: ReadonlyArray<string>, client: string, now: number) => void
}

export const makeDeliveryLog = (run: (effect: Effect.Effect<void>) => void): DeliveryLog => {
  const rejected = new RepeatedWarnings()
  return {
    decided: (record, { decision, eventId, reason }) =>
      run(
        Effect.logInfo("delivery decided", {
          ...deliveryFields(record, eventId),
          decision,
          ...(reason === undefined ? {} : { reason })
        })
      ),
    rejectedSignature: (provider, triggers, client, now) => {
      const suppressed = rejected.admit(`${provider} ${client}`, now)
      if (suppressed === undefined) return
      run(Effect.logWarning("signature of a delivery rejected", { provider, triggers, client, suppressed }))
    }
  }
}
