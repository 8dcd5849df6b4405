/**
 * A notice to operators about something that happened to the service or to a review, stored once per channel before it is sent.
 *
 * ```
 * pending ──▶ sending ──▶ sent
 *    │           ├──────▶ pending      the platform refused temporarily, or it recognises a repeated message: retried at `notBefore`
 *    │           ├──────▶ unconfirmed  the response was lost, and a second message could be a duplicate
 *    │           ├──────▶ quarantined  it failed too often
 *    │           └──────▶ failed       the platform refused permanently
 *    ├──────────▶ failed               its channel is no longer configured
 *    ├──────────▶ pending              deferred before a write
 *    ├──────────▶ quarantined          deferred too often
 *    └──────────▶ dropped              it waited too long
 * ```
 * A row is `sending` from right before its request. One that a new sender finds in `sending` has no known outcome.
 */
import { Schema } from "effect"
import { CatchUpOccasion } from "./CatchUpOccasion.ts"
import { makeLifecycle } from "./Lifecycle.ts"
import { Reason } from "./Reason.ts"
import * as Field from "./Field.ts"
import { record } from "./Record.ts"
import type { RecordValues } from "./Record.ts"

export const NoticeStatus = Schema.Literals([
  "pending",
  "sending",
  "sent",
  "unconfirmed",
  "failed",
  "dropped",
  "quarantined"
])
export type NoticeStatus = typeof NoticeStatus.Type

export const noticeLifecycle = makeLifecycle<NoticeStatus>(NoticeStatus.literals, {
  pending: ["sending", "pending", "failed", "quarantined", "dropped"],
  sending: ["sent", "pending", "unconfirmed", "failed", "quarantined"],
  sent: [],
  unconfirmed: [],
  failed: [],
  dropped: [],
  quarantined: []
})

/** The change that a notice is about. Texts are those of the delivery. */
const subject = {
  workspace: Schema.String,
  repository: Schema.String,
  number: Schema.optional(Schema.Int),
  branch: Schema.optional(Schema.String),
  head: Schema.optional(Schema.String),
  url: Schema.optional(Schema.String),
  author: Schema.optional(Schema.String),
  eventId: Schema.String,
  /** Number of deliveries that ended together, which one notice reports. */
  events: Schema.Int,
  reason: Reason
}

export const NoticeFacts = Schema.Union([
  Schema.TaggedStruct("queue_expired", { ...subject, hours: Schema.Finite }),
  Schema.TaggedStruct("review_failed", {
    ...subject,
    runId: Schema.optional(Schema.String),
    runUrl: Schema.optional(Schema.String)
  }),
  Schema.TaggedStruct("budget_threshold", {
    scope: Schema.Literals(["repository", "author", "team"]),
    name: Schema.String,
    /** UTC day, `2026-01-31`. */
    day: Schema.String,
    percent: Schema.Int,
    spentUsd: Schema.Finite,
    capUsd: Schema.Finite
  }),
  Schema.TaggedStruct("config_refused", {
    source: Schema.Literals(["file", "revision"]),
    /** Path of the file, or number of the revision. */
    name: Schema.String,
    /** Digest of what was refused. */
    digest: Schema.String,
    errors: Schema.Int,
    line: Schema.optional(Schema.Int),
    node: Schema.String
  }),
  Schema.TaggedStruct("webhook_silent", {
    trigger: Schema.String,
    /** Time of the newest delivery, in milliseconds since the epoch. */
    lastAt: Schema.Int,
    hours: Schema.Int
  }),
  Schema.TaggedStruct("webhook_broken", {
    trigger: Schema.String,
    /** Number of webhooks that are missing or have problems. */
    count: Schema.Int,
    /** The first of them, by repository or owner. */
    hooks: Schema.Array(Schema.Struct({ name: Schema.String, problem: Reason })),
    /** Start of the check that found the newest of them, in milliseconds since the epoch. */
    since: Schema.Int
  }),
  Schema.TaggedStruct("found_without_delivery", {
    trigger: Schema.String,
    /** Number of changes. */
    found: Schema.Int,
    /** Number of those that are not reviewed because of `catch_up.max_age_hours` or `max_changes`. */
    skipped: Schema.Int,
    /** Time of the search, in milliseconds since the epoch, and below of the one before it. */
    foundAt: Schema.Int,
    since: Schema.optional(Schema.Int),
    /** Occasion of the search. */
    occasion: Schema.optional(CatchUpOccasion)
  }),
  Schema.TaggedStruct("repository_renamed", {
    trigger: Schema.String,
    /** Name that a workspace has. */
    before: Schema.String,
    repository: Schema.String
  }),
  Schema.TaggedStruct("credential_refused", {
    trigger: Schema.String,
    /** UTC day, `2026-01-31`. */
    day: Schema.String,
    reason: Reason
  }),
  Schema.TaggedStruct("rule_muted", {
    /** Its name follows that of its trigger. */
    repository: Schema.String,
    rule: Schema.String,
    /** Digest of its file. */
    digest: Schema.String,
    owner: Schema.optional(Schema.String),
    /** Findings that maintainers decided about, and those of them that were repaired. */
    judged: Schema.Int,
    accepted: Schema.Int,
    /** Share of accepted findings below which the rule is muted, 0 to 1. */
    floor: Schema.Finite
  })
])
export type NoticeFacts = typeof NoticeFacts.Type
export type NoticeKind = NoticeFacts["_tag"]
export type NoticeFactsBy<Kind extends NoticeKind> = Extract<NoticeFacts, { readonly _tag: Kind }>

export const noticeKinds = [
  "queue_expired",
  "review_failed",
  "budget_threshold",
  "config_refused",
  "webhook_silent",
  "webhook_broken",
  "found_without_delivery",
  "repository_renamed",
  "credential_refused",
  "rule_muted"
] as const satisfies ReadonlyArray<NoticeKind>
export const NoticeKindName = Schema.Literals(noticeKinds)

/** Kinds about work of a workspace; the others are about the service. */
export const workspaceNoticeKinds = ["queue_expired", "review_failed"] as const satisfies ReadonlyArray<NoticeKind>

/** Kinds of channels that carry notices. The others write to a change, which a notice may not have. */
export const noticeChannelKinds = [
  "feishu_bot",
  "feishu_app",
  "wecom_bot",
  "wecom_app",
  "slack_webhook",
  "slack_app",
  "teams_webhook",
  "webhook",
  "email"
] as const

/** A notice of which at most one per key and channel is stored. */
export const Notice = record({
  id: Field.text,
  key: Field.named("notice_key", Field.text),
  channel: Field.text,
  facts: Field.json(NoticeFacts),
  status: Field.stored(NoticeStatus),
  /** Failures, bounded by the sender. */
  attempts: Field.integer,
  notBefore: Field.optional(Field.time),
  error: Field.optional(Field.reason),
  createdAt: Field.time,
  updatedAt: Field.time
})
export type Notice = RecordValues<typeof Notice>

/** A notice that is to be stored. */
export type NewNotice = Pick<Notice, "id" | "key" | "channel" | "facts">

/** Percentages of a budget that are announced. */
const budgetThresholds = [50, 75, 90, 100] as const

/** Returns the highest threshold that an amount has reached; undefined below the first. */
export const reachedThreshold = (spentUsd: number, capUsd: number): number | undefined =>
  budgetThresholds.findLast((percent) => spentUsd * 100 >= capUsd * percent)

/** Returns what a notice is about, in one line: a repository, an account, a file, a revision or a trigger. */
export const noticeSubject = (facts: NoticeFacts): string => {
  switch (facts._tag) {
    case "queue_expired":
    case "review_failed":
      return [facts.repository, facts.number === undefined ? facts.branch : `#${facts.number}`]
        .filter((part) => part !== undefined)
        .join(" ")
    case "budget_threshold":
      return `${facts.name} ${facts.percent} %`
    case "config_refused":
      return `${facts.source} ${facts.name}`
    case "repository_renamed":
      return facts.repository
    case "rule_muted":
      return `${facts.repository} ${facts.rule}`
    case "webhook_silent":
    case "webhook_broken":
    case "found_without_delivery":
    case "credential_refused":
      return facts.trigger
  }
}
