/** The outcome of a delivery, as answered and as recorded. Reasons: decisions.md 2.4. */
import { Schema } from "effect"

/** Why a verified, well-formed delivery starts no work. Answered 202 with `accepted: false`. */
export const IgnoreReason = Schema.Literals([
  "unsupported_event",
  "unsupported_action",
  "repository_not_configured",
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
  /** An app installation changed: cached credentials are dropped, no work starts. */
  "lifecycle",
  "closed"
])
export type IgnoreReason = typeof IgnoreReason.Type

/** Why a verified delivery cannot be read. Answered 400. */
export const RejectReason = Schema.Literals([
  "invalid_json",
  "invalid_payload",
  "missing_event",
  "missing_changelist",
  "missing_revision"
])
export type RejectReason = typeof RejectReason.Type

/** How an accepted delivery stands when it is answered. */
export const AcceptedStatus = Schema.Literals(["queued", "deferred", "coalesced", "duplicate"])
export type AcceptedStatus = typeof AcceptedStatus.Type

/** `decision` column of an event record. */
export const EventDecision = Schema.Literals(["queued", "deferred", "coalesced", "duplicate", "ignored", "rejected"])
export type EventDecision = typeof EventDecision.Type

/** What became of accepted work in the end; null until known. A receipt without one is queued again at start. */
export const EventOutcome = Schema.Literals(["executed", "superseded", "skipped", "cancelled", "expired", "failed"])
export type EventOutcome = typeof EventOutcome.Type
