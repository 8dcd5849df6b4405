/**
 * Logs an event with its decision, and adds the delivery to the trace of the event. For deliveries of hosts, calls, schedules, submitted
 * revisions and requests of people, so that every story begins with the same line and with a root span.
 */
import { Clock, Effect } from "effect"
import { addPastSpan, addRootSpan, inEventTrace } from "../domain/EventTrace.ts"
import type { EventRecord } from "./Receipts.ts"

/** Returns the fields of an event, without its title and those that its delivery does not have. */
const deliveryFields = ({ facts, ...record }: EventRecord, eventId: string) => {
  const { title: _title, ...placed } = facts
  const fields = {
    event_id: eventId,
    provider: record.provider,
    event: record.event,
    action: record.action,
    trigger: record.trigger,
    workspace: record.workspace,
    repository: record.repo,
    ...placed
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

export interface LoggedDecision {
  /** Id of the stored record: for a duplicate, of the delivery that was first. */
  readonly eventId: string
  readonly decision: string
  readonly reason: string | undefined
  /** Entry that its work was added to. */
  readonly entry?: { readonly entryId: string; readonly dueAt: number } | undefined
}

/** `more` are fields that join the story to others, such as the id of a request from chat. */
export const logDecision = (
  record: EventRecord,
  { decision, entry, eventId, reason }: LoggedDecision,
  more: Readonly<Record<string, string>> = {}
): Effect.Effect<void> => {
  const fields = {
    ...deliveryFields(record, eventId),
    ...more,
    decision,
    ...(reason === undefined ? {} : { reason }),
    ...(entry === undefined || entry.entryId === ""
      ? {}
      : { entry_id: entry.entryId, due_at: new Date(entry.dueAt).toISOString() })
  }
  return Effect.andThen(
    traceDelivery(record, eventId, fields),
    inEventTrace([eventId])(Effect.logInfo("delivery decided", fields))
  )
}
