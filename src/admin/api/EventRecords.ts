/** Defines the records of deliveries. */
import { Schema } from "effect"
import { DeliveryPayload } from "../../store/Payloads.ts"
import { acceptedWork, DecisionCount as StoredCount, deliveryFacts, StoredEvent } from "../../store/Receipts.ts"
import { RejectedSignature } from "../../store/RejectedSignatures.ts"
import { change, count, maybe, text } from "./Fields.ts"
import { shown } from "./Shown.ts"

const received = shown(StoredEvent, {
  id: "Id, ordered by time",
  receivedAt: "Time of the delivery",
  provider: "Kind of the host or of the call",
  event: "Event, as the host names it",
  action: "Action of the event",
  trigger: "Name of the trigger",
  workspace: "Id of the workspace",
  targetKind: "Kind of the target",
  targetKey: "Key of the pull request, merge group, branch or issue",
  repo: "Full name of the repository"
})
const facts = shown(
  { fields: deliveryFacts },
  {
    number: "Number of the pull request or issue",
    head: "Commit of the head",
    branch: "Target branch of a pull request, or branch of a push",
    author: "Author of the change",
    sender: "Account whose action caused the delivery",
    title: "Title of the pull request or issue",
    command: "Command of a comment"
  }
)
const decided = shown(StoredEvent, {
  decision: "Decision",
  reason: "Reason of the decision",
  rule: "Part of the configuration or of the delivery that decided",
  duplicates: "Number of further deliveries with the same id",
  duplicatedAt: "Time of the latest of them",
  outcome: "Outcome of the work",
  outcomeReason: "Reason of the outcome; of a report of a hook without an outcome, why it waits",
  outcomeAt: "Time of the outcome",
  runId: "Id of the run"
})

const event = { ...received.fields, ...facts.fields, ...decided.fields }
export const eventView = (found: StoredEvent) => ({
  ...received.view(found),
  ...facts.view(found.facts),
  ...decided.view(found)
})

export const work = shown(
  { fields: acceptedWork },
  {
    command: "Command of a comment other than a review",
    priority: "Smaller values run first",
    dueAt: "Earliest start",
    configHash: "Hash of the configuration that admitted it"
  }
)

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
      id: event.id,
      received_at: event.received_at,
      decision: event.decision,
      reason: event.reason,
      outcome: event.outcome
    })
  ).annotate({ description: "Deliveries that repeat this one, the newest first: at most 50" }),
  work: Schema.optionalKey(Schema.Struct({ ...change, ...work.fields })).annotateKey({
    description: "The accepted work; absent if the delivery starts none"
  })
}).annotate({ identifier: "EventDetails", description: "A delivery with the work that it started" })

export const decisionCount = shown(StoredCount, {
  decision: "Decision",
  reason: "Reason, where a delivery starts no work",
  count: "Number of deliveries",
  lastAt: "Time of the latest"
})
export const DecisionCount = Schema.Struct(decisionCount.fields).annotate({
  identifier: "DecisionCount",
  description: "Number of deliveries with a decision and a reason"
})

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
