/**
 * One write to a host, stored before it is sent.
 *
 * ```
 * pending ──▶ sending ──▶ sent
 *                ├──────▶ pending   the host refused temporarily (429, 5xx): retried at `notBefore`
 *                ├──────▶ unknown   the response was lost: looked up by marker before any second post
 *                └──────▶ failed    the host refused permanently
 * pending | unknown ──▶ quarantined several processes crashed while they handled it
 * unknown ──▶ sent | sending        found at the host, or not found
 * pending | unknown ──▶ itself      deferred before a write, until `notBefore`
 * pending | sending | unknown ──▶ nothing_to_do   nothing had to be written, with the reason
 * pending | unknown ──▶ failed      a required read before the write fails permanently
 * pending | unknown ──▶ dropped     a newer head made it obsolete
 * ```
 * A row is `sending` from right before its first write to the host. One found in `sending` when its actor wakes is `unknown`: the
 * process died between request and response.
 */
import { Schema } from "effect"
import { CommentPlace } from "./Change.ts"
import { DecidedBy } from "./DecidedBy.ts"
import { makeLifecycle } from "./Lifecycle.ts"
import { FindingState } from "./FindingState.ts"
import { Severity } from "./Kinds.ts"
import { Anchor } from "./Problem.ts"
import { CheckedCode } from "./IssueCode.ts"
import { OperationId, TargetKey } from "./Keys.ts"
import { Reason } from "./Reason.ts"
import { ReviewData } from "./ReviewData.ts"
import * as Field from "./Field.ts"
import { record } from "./Record.ts"
import type { RecordValues } from "./Record.ts"

export const PublicationStatus = Schema.Literals([
  "pending",
  "sending",
  "sent",
  "nothing_to_do",
  "unknown",
  "failed",
  "dropped",
  "quarantined"
])
export type PublicationStatus = typeof PublicationStatus.Type

export const publicationLifecycle = makeLifecycle<PublicationStatus>(PublicationStatus.literals, {
  pending: ["quarantined", "sending", "sent", "nothing_to_do", "pending", "failed", "dropped"],
  sending: ["sent", "nothing_to_do", "pending", "unknown", "failed"],
  unknown: ["quarantined", "sending", "sent", "nothing_to_do", "unknown", "failed", "dropped"],
  sent: [],
  nothing_to_do: [],
  failed: [],
  dropped: [],
  quarantined: []
})

/** Attempts of a write that the host refuses as a conflict (409, 423), with growing pauses of half a minute in all. */
export const maxConflicts = 6

/** One inline comment, rendered, with its marker inside `body`. Lines are 1-based at `side`. */
export const InlineComment = Schema.Struct({ ...Anchor.fields, body: Schema.String })
export type InlineComment = typeof InlineComment.Type

/** Verdict of a review: a remark, or a request that blocks merging where the host enforces it. */
export const ReviewEvent = Schema.Literals(["COMMENT", "REQUEST_CHANGES", "APPROVE"])
export type ReviewEvent = typeof ReviewEvent.Type

/** One problem of a managed issue: `text` is rendered and has no marker. */
export const IssueProblem = Schema.Struct({
  fp: Schema.String,
  file: Schema.String,
  /** Key of the quoted code (review/CodeKey.ts). */
  code: Schema.optional(Schema.String),
  severity: Severity,
  title: Schema.String,
  text: Schema.String
})
export type IssueProblem = typeof IssueProblem.Type

const listed = {
  fp: Schema.String,
  file: Schema.String,
  severity: Severity,
  /** Title, as one safe line. */
  name: Schema.String,
  /** Path and lines, as safe text. */
  place: Schema.String,
  /** Link to the lines, in the diff if they get a comment. Once its thread exists, that takes the place of the link. */
  url: Schema.optional(Schema.String)
}

/** One problem of a summary. */
export const SummaryProblem = Schema.Struct({
  ...listed,
  /** Safe Markdown, of a problem without a comment at its line. */
  detail: Schema.optional(Schema.String),
  /** True below the severity from which problems get comments at lines. */
  folded: Schema.optional(Schema.Boolean),
  /** Round that read its lines first and did not report it. */
  missed: Schema.optional(Schema.Int)
})
export type SummaryProblem = typeof SummaryProblem.Type

/** A finding in the summary of a change. It keeps its number for the life of the change. */
export const ListedFinding = Schema.Struct({
  ...listed,
  number: Schema.Int,
  state: FindingState,
  /** The review before did not have it. */
  isNew: Schema.optional(Schema.Literal(true))
})
export type ListedFinding = typeof ListedFinding.Type

/** Problems of a review, for the list of the summary and the comparison with the previous one. */
export const SummaryProblems = Schema.Struct({
  found: Schema.Array(SummaryProblem),
  /** Fingerprints of found problems that people had dismissed when the review ended. */
  dismissed: Schema.optional(Schema.Array(Schema.String)),
  /** Sentence for a list without an open problem. */
  clean: Schema.optional(Schema.String),
  present: Schema.Array(Schema.String),
  analysed: Schema.Array(Schema.String),
  changed: Schema.Array(Schema.String),
  /** True if the review finished without omitting a problem. */
  complete: Schema.Boolean
})
export type SummaryProblems = typeof SummaryProblems.Type

/** `neutral`: neither success nor failure; each host represents it differently. */
export const StatusState = Schema.Literals(["pending", "success", "failure", "neutral"])
export type StatusState = typeof StatusState.Type

/** A remark on lines of a file at the head, for a finding without a comment. Lines are 1-based; the texts are plain. */
export const StatusAnnotation = Schema.Struct({
  path: Schema.String,
  start: Schema.Int,
  end: Schema.Int,
  severity: Severity,
  title: Schema.String,
  message: Schema.String
})
export type StatusAnnotation = typeof StatusAnnotation.Type

/** Details of a verdict, for hosts that show more than one line: the coverage as Markdown, and remarks on lines. */
export const StatusDetails = Schema.Struct({
  text: Schema.String,
  annotations: Schema.Array(StatusAnnotation)
})
export type StatusDetails = typeof StatusDetails.Type

const reviewParts = { event: ReviewEvent, body: Schema.String, comments: Schema.Array(InlineComment) }

export const Operation = Schema.Union([
  /** Managed issues of a scope after this review. Sending it reads the issues at the host and yields the missing `Issue` operations. */
  Schema.Struct({
    _tag: Schema.Literal("Issues"),
    head: Schema.String,
    scope: Schema.String,
    mode: Schema.Literals(["per_problem", "consolidated", "per_commit"]),
    /** Title of an issue that holds several problems. */
    title: Schema.String,
    /** Problems to display, in order. */
    problems: Schema.Array(IssueProblem),
    /** Fingerprints of all findings, displayed or not. */
    present: Schema.Array(Schema.String),
    /** Code of open issues that is gone or moved; nothing else is resolved. Absent if there is none. */
    checked: Schema.optional(Schema.Array(CheckedCode))
  }),
  /** One write to a managed issue: the first one without `number` creates it. */
  Schema.Struct({
    _tag: Schema.Literal("Issue"),
    action: Schema.Literals(["create", "edit", "delete"]),
    number: Schema.optional(Schema.Int),
    title: Schema.optional(Schema.String),
    body: Schema.optional(Schema.String),
    state: Schema.optional(Schema.Literals(["open", "closed"])),
    /** Severity of its label. An edit without it changes no label. */
    severity: Schema.optional(Severity),
    /** Severities whose labels an edit removes. */
    oldSeverities: Schema.optional(Schema.Array(Severity)),
    /** Paths of the issue's problems, for finding owners. */
    files: Schema.Array(Schema.String)
  }),
  /** One review with all its inline comments, on the exact head. */
  Schema.Struct({
    _tag: Schema.Literal("Review"),
    head: Schema.String,
    ...reviewParts
  }),
  /** Withdraws our earlier request for changes on a clean head. */
  Schema.Struct({
    _tag: Schema.Literal("Verdict"),
    head: Schema.String,
    /** True: approves; false: dismisses the request. */
    approves: Schema.Boolean,
    body: Schema.String
  }),
  /** The managed summary comment of the target: created once, then updated in place. */
  Schema.Struct({
    _tag: Schema.Literal("Summary"),
    head: Schema.String,
    body: Schema.String,
    problems: Schema.optional(SummaryProblems),
    /** True: updates an existing summary only. */
    onlyUpdate: Schema.optional(Schema.Boolean),
    /** The review whose text the summary becomes, so that both are one write. Where that is not possible it is an operation of its own. */
    review: Schema.optional(Schema.Struct({ operationId: OperationId, ...reviewParts }))
  }),
  /** Threads of earlier reviews; sending it yields a `Thread` for each that is resolved. */
  Schema.Struct({
    _tag: Schema.Literal("Threads"),
    head: Schema.String,
    present: Schema.Array(Schema.String),
    analysed: Schema.Array(Schema.String),
    changed: Schema.Array(Schema.String)
  }),
  /** Resolves a comment of ours whose problem no longer exists. */
  Schema.Struct({ _tag: Schema.Literal("Thread"), hostId: Schema.String, body: Schema.String }),
  /** The whole review as a comment on a commit, for reviews of pushes. */
  Schema.Struct({ _tag: Schema.Literal("CommitComment"), head: Schema.String, body: Schema.String }),
  /** A message to a chat group, in the platform's markdown. The platform offers no lookup of messages. */
  Schema.Struct({
    _tag: Schema.Literal("Chat"),
    head: Schema.String,
    title: Schema.String,
    body: Schema.String,
    severity: Schema.optional(Severity),
    /** First message of a review, which mentions people. */
    first: Schema.optional(Schema.Boolean),
    /** The review as data, in its first message to a receiver that reads it. */
    review: Schema.optional(ReviewData),
    /** A message that only mentions people. */
    people: Schema.optional(Schema.Struct({ everyone: Schema.Boolean, mobiles: Schema.Array(Schema.String) }))
  }),
  /** A message to the author of the change alone, in the platform's markdown. Who that is, is found when it is sent. */
  Schema.Struct({
    _tag: Schema.Literal("DirectMessage"),
    head: Schema.String,
    title: Schema.String,
    body: Schema.String,
    severity: Schema.optional(Severity)
  }),
  /** The comment of triage on an issue whose text has the digest `head`. */
  Schema.Struct({ _tag: Schema.Literal("IssueComment"), head: Schema.String, body: Schema.String }),
  /** Closes the issue, if its text still has the digest `head`. */
  Schema.Struct({ _tag: Schema.Literal("CloseIssue"), head: Schema.String }),
  /** The reply to a comment, in its conversation. */
  Schema.Struct({ _tag: Schema.Literal("Reply"), head: Schema.String, comment: CommentPlace, body: Schema.String }),
  /** A reaction to a comment that gets a reply. */
  Schema.Struct({
    _tag: Schema.Literal("Reaction"),
    comment: CommentPlace,
    reaction: Schema.Literals(["eyes", "thumbs_up", "confused"])
  }),
  /** Marks a finding as withdrawn at its comments and issues: an objection to it was right. */
  Schema.Struct({ _tag: Schema.Literal("Withdraw"), head: Schema.String, fp: Schema.String }),
  /** The statement of a verdict of this time, which is signed and stored. */
  Schema.Struct({
    _tag: Schema.Literal("Statement"),
    head: Schema.String,
    /** Milliseconds since the epoch. */
    time: Schema.Int,
    /** Text that is signed: JSON (VerdictStatement.ts). */
    statement: Schema.String
  }),
  /** A label on the pull request or issue. */
  Schema.Struct({ _tag: Schema.Literal("Label"), name: Schema.String }),
  Schema.Struct({
    _tag: Schema.Literal("Status"),
    head: Schema.String,
    state: StatusState,
    description: Reason,
    url: Schema.optional(Schema.String),
    /** Absent where the host has no place for them. */
    details: Schema.optional(StatusDetails)
  })
])
export type Operation = typeof Operation.Type

/** Returns the comments at lines that an operation writes. `posted` of its row names those that the host has. */
export const commentsIn = (operation: Operation): ReadonlyArray<InlineComment> => {
  if (operation._tag === "Review") return operation.comments
  return operation._tag === "Summary" ? (operation.review?.comments ?? []) : []
}

/**
 * A problem of ours that people without permission dismissed (`review.dismissal`). It stays open; the summary and the record of the run
 * name them.
 */
export const IgnoredDismissal = Schema.Struct({
  fp: Schema.String,
  file: Schema.String,
  /** User names at the host. */
  by: Schema.Array(Schema.String)
})
export type IgnoredDismissal = typeof IgnoredDismissal.Type

/** Reaction of people to a comment of ours on a line. A comment without a reaction is listed too: it was read. */
export const Reaction = Schema.Struct({
  fp: Schema.String,
  /** True if a person with the permission dismissed it (`review.dismissal`). */
  dismissed: Schema.Boolean,
  /** Absent unless a person dismissed it. */
  by: Schema.optional(DecidedBy),
  /** An objection withdrew it, which counts as a dismissal too. */
  withdrawn: Schema.optional(Schema.Literal(true)),
  replied: Schema.Boolean
})
export type Reaction = typeof Reaction.Type

export const Publication = record({
  id: Field.text,
  /** Deterministic: the same operation planned twice is one row. Part of the marker of what is posted. */
  operationId: Field.stored(OperationId),
  runId: Field.text,
  targetKey: Field.stored(TargetKey),
  channel: Field.text,
  operation: Field.json(Operation),
  status: Field.stored(PublicationStatus),
  /** Order within the run. */
  position: Field.integer,
  /** Failed writes, without those during an outage of the whole host. */
  attempts: Field.integer,
  notBefore: Field.optional(Field.time),
  hostId: Field.optional(Field.text),
  url: Field.optional(Field.text),
  error: Field.optional(Field.reason),
  /** Fingerprints of the comments of a review that the host took at their lines. Absent for a summary without such comments. */
  posted: Field.optional(Field.json(Schema.Array(Schema.String))),
  /** Findings as a sent summary lists them, with those of earlier reviews. */
  listed: Field.optional(Field.json(Schema.Array(ListedFinding))),
  /** Dismissals at the time of sending, for rows that read comments of earlier reviews. */
  ignoredDismissals: Field.optional(Field.json(Schema.Array(IgnoredDismissal))),
  /** Reactions at the time of sending, for rows that read comments of earlier reviews. */
  reactions: Field.optional(Field.json(Schema.Array(Reaction)))
})
export type Publication = RecordValues<typeof Publication>

/** A publication with the times of its creation and of its latest change. */
export const DatedPublication = record({ ...Publication.fields, createdAt: Field.time, updatedAt: Field.time })
export type DatedPublication = RecordValues<typeof DatedPublication>
