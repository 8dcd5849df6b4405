/** Defines the records of deliveries. */
import { Schema } from "effect"
import { EventDecision, EventOutcome } from "../../domain/Decision.ts"
import { DeliveryPayload } from "../../store/Payloads.ts"
import { RejectedSignature } from "../../store/RejectedSignatures.ts"
import {
  change,
  count,
  maybe,
  maybeCount,
  maybeReason,
  maybeTime,
  recordId,
  targetKey,
  text,
  time,
  workspace
} from "./Fields.ts"
import { shown } from "./Shown.ts"

const event = {
  id: recordId,
  received_at: time("Time of the delivery"),
  provider: text("Kind of the host or of the call"),
  event: text("Event, as the host names it"),
  action: maybe("Action of the event"),
  trigger: maybe("Name of the trigger"),
  workspace: Schema.optionalKey(workspace),
  target_kind: maybe("Kind of the target"),
  target_key: Schema.optionalKey(targetKey),
  repo: maybe("Full name of the repository"),
  number: maybeCount("Number of the pull request or issue"),
  head: maybe("Commit of the head"),
  branch: maybe("Target branch of a pull request, or branch of a push"),
  author: maybe("Author of the change"),
  sender: maybe("Account whose action caused the delivery"),
  command: Schema.optionalKey(Schema.Literals(["review", "help", "cancel"])).annotateKey({
    description: "Command of a comment"
  }),
  decision: EventDecision,
  reason: maybe("Reason of the decision"),
  rule: maybeReason("Part of the configuration or of the delivery that decided"),
  duplicates: count("Number of further deliveries with the same id"),
  duplicated_at: maybeTime("Time of the latest of them"),
  outcome: Schema.optionalKey(EventOutcome),
  outcome_reason: maybeReason("Reason of the outcome; of a report of a hook without an outcome, why it waits"),
  outcome_at: maybeTime("Time of the outcome"),
  run_id: maybe("Id of the run")
}

export const Event = Schema.Struct(event).annotate({
  identifier: "Event",
  description: "A delivery with its decision and outcome"
})
export type DeliveryRecord = typeof Event.Type

export const EventDetails = Schema.Struct({
  ...event,
  delivery: text("Id of the delivery at the host"),
  replay_of: maybe("Id of the delivery that this one repeats"),
  replays: Schema.Array(
    Schema.Struct({
      id: recordId,
      received_at: event.received_at,
      decision: event.decision,
      reason: event.reason,
      outcome: event.outcome
    })
  ).annotate({ description: "Deliveries that repeat this one, the newest first: at most 50" }),
  work: Schema.optionalKey(
    Schema.Struct({
      ...change,
      command: Schema.optionalKey(Schema.Literals(["help", "cancel"])),
      priority: count("Smaller values run first"),
      due_at: time("Earliest start"),
      config_hash: text("Hash of the configuration that admitted it")
    })
  ).annotateKey({ description: "The accepted work; absent if the delivery starts none" })
}).annotate({ identifier: "EventDetails", description: "A delivery with the work that it started" })

export const DecisionCount = Schema.Struct({
  decision: EventDecision,
  reason: maybe("Reason, where a delivery starts no work"),
  count: count("Number of deliveries"),
  last_at: time("Time of the latest")
}).annotate({ identifier: "DecisionCount", description: "Number of deliveries with a decision and a reason" })

export const rejected = shown(RejectedSignature, {
  hour: "Start of the hour",
  provider: "Kind of the host",
  trigger: "Name of the trigger",
  lastAt: "Time of the latest"
})
export const RejectedSignatures = Schema.Struct({
  ...rejected.fields,
  count: count("Number of deliveries"),
  addresses: Schema.Struct({
    loopback: count("From this machine"),
    private: count("From private networks"),
    public: count("From the internet")
  }).annotate({ description: "Number of deliveries by class of address" })
}).annotate({
  identifier: "RejectedSignatures",
  description: "Deliveries of an hour with a wrong signature for a trigger"
})

export const deliveryPayload = shown(DeliveryPayload, {
  eventId: "Id of the delivery",
  receivedAt: "Time of receipt",
  path: "Path below /webhooks or /triggers that received it",
  headers: "Headers, without credentials",
  body: "JSON without white space between its values, or the text of another body",
  bytes: "Length of the received body in bytes",
  cut: "True if the end of the body is not kept",
  replayOf: "Id of the delivery that this one repeats"
})
export const Payload = Schema.Struct(deliveryPayload.fields).annotate({
  identifier: "Payload",
  description: "Headers and body of a delivery, without credentials"
})

export const Replay = Schema.Struct({
  id: text("Id of the delivery that was repeated"),
  event_id: text("Id of the new delivery"),
  decision: text("Decision about it, such as queued, coalesced, ignored or rejected"),
  reason: maybe("Reason of the decision")
}).annotate({ identifier: "Replay", description: "A repeated delivery and its decision" })
