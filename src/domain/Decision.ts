/** Outcome of a delivery, in the response and on the record. */
import { Schema } from "effect"

/** Reason why a verified, well-formed delivery starts no work. The response is 202 with `accepted: false`. */
export const IgnoreReason = Schema.Literals([
  "unsupported_event",
  "unsupported_action",
  "repository_not_configured",
  /** A workspace has the repository under the name that it had before. */
  "repository_renamed",
  "ambiguous_route",
  "workspace_disabled",
  "trigger_disabled",
  "label_ignored",
  "branch_not_watched",
  "target_branch_not_watched",
  "source_excluded",
  "draft",
  "own_event",
  "pong",
  /** An app installation or a repository changed: cached credentials are dropped, repositories are listed again, no work starts. */
  "lifecycle",
  "closed",
  /** The same head was reviewed on the same base. */
  "already_reviewed",
  /** Its host was requested to send a failed delivery again, which is decided about when it arrives. */
  "sent_again"
])
export type IgnoreReason = typeof IgnoreReason.Type

/** Reason why a verified delivery cannot be read. The response is 400. */
export const RejectReason = Schema.Literals([
  "invalid_json",
  "invalid_payload",
  "missing_event",
  "missing_changelist",
  "missing_revision"
])
export type RejectReason = typeof RejectReason.Type

/** State of an accepted delivery at the time of the response. */
export const AcceptedStatus = Schema.Literals(["queued", "deferred", "coalesced", "duplicate"])
export type AcceptedStatus = typeof AcceptedStatus.Type

/** Column `decision` of an event record. */
export const EventDecision = Schema.Literals(["queued", "deferred", "coalesced", "duplicate", "ignored", "rejected"])
export type EventDecision = typeof EventDecision.Type

/** Final outcome of accepted work; null until then. A receipt without one is requeued at start. */
export const EventOutcome = Schema.Literals(["executed", "superseded", "skipped", "cancelled", "expired", "failed"])
export type EventOutcome = typeof EventOutcome.Type
