/**
 * Contract of a channel, a destination for reviews. Kinds are rows of one table (Channels.ts). `plan` is pure and deterministic,
 * so that planning twice yields the same operation ids; `send` and `find` execute one operation at the host.
 */
import { Schema } from "effect"
import type { Effect, Redacted } from "effect"
import type { MemberFiles } from "../../chat/members/MemberFiles.ts"
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import type { Workspace } from "../../config/Snapshot.ts"
import type { Change } from "../../domain/Change.ts"
import type { OperationId, TargetKey } from "../../domain/Keys.ts"
import type { IgnoredDismissal, ListedFinding, Operation, Publication, Reaction } from "../../domain/Publication.ts"
import type { IssueCode } from "../../domain/IssueCode.ts"
import { Reason } from "../../domain/Reason.ts"
import type { ForgeClient } from "../../forge/Forge.ts"
import type { HostWrite } from "../../forge/HostWrite.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import type { HostTraffic } from "../../forge/HostTraffic.ts"
import type { Writing } from "../../forge/WriteOwner.ts"
import type { ModelRun } from "../../llm/ModelRun.ts"
import type { Cache } from "../../store/Cache.ts"
import type { ChatSends } from "../../store/ChatSends.ts"
import type { DirectOptOuts } from "../../store/DirectOptOuts.ts"
import type { Analysis } from "../../domain/Analysis.ts"
import { inEnglish } from "../../text/en.ts"
import type { AuthorGuess } from "../AuthorGuess.ts"
import type { LinkTemplates } from "../text/Links.ts"
import type { OwnTemplates } from "../text/WorkspaceTemplates.ts"

export interface PublishInput {
  readonly runId: string
  readonly targetKey: TargetKey
  readonly change: Change
  readonly head: string
  readonly analysis: Analysis
  readonly workspace: Workspace
  /** True when an earlier run reviewed the same head and used the operation ids that this run would use. */
  readonly isRepeated?: boolean | undefined
  /** Id of a later decision about one of its findings, after which the review is published again. */
  readonly ruling?: string | undefined
  /** Link to the run in the dashboard, if server.base_url is set. */
  readonly runUrl: string | undefined
  /** Signed link to the review, which summaries show in place of the page of the run. Absent unless it is configured. */
  readonly sharedUrl?: string | undefined
  /** Seconds from the start of the run to its analysis. */
  readonly seconds?: number | undefined
  /** Link templates of the channel, else of the trigger; set by the planner. */
  readonly linkTemplates?: LinkTemplates | undefined
  /** Link to the page for developers, if server.base_url is set; set by the planner. */
  readonly guideUrl?: string | undefined
  /** The workspace's own templates for the channel; set by the planner. */
  readonly ownTemplates?: OwnTemplates | undefined
}

export interface ChannelPlan {
  readonly lineComments: boolean
  readonly summary: boolean
  /** True when the same route also maintains managed issues; a chat message may then be shorter. */
  readonly recorded?: boolean
}

/** An operation with its id, ready for the outbox. */
export interface Planned {
  readonly operationId: OperationId
  readonly operation: Operation
}

/** Context of an operation: the change's host with the channel's credentials, and the configuration with which it was planned. */
export interface ChannelContext {
  /** Fails if the channel's trigger was removed or is not a git host. */
  readonly client: Effect.Effect<ForgeClient, ForgeError | ChannelMissing>
  /** The change, with the repository that the channel names. */
  readonly change: Change
  /** The change with its own repository, which identifies managed issues. */
  readonly reviewed: Change
  readonly workspace: Workspace
  readonly channel: ChannelConfig
  /** Returns a credential of the channel, or of a part of it. */
  readonly credential: (holder: object, name: string) => Redacted.Redacted | undefined
  /** Cache for responses of hosts and models. */
  readonly cache: Cache["Service"]
  readonly members: MemberFiles["Service"]
}

/** Context of a message to a chat platform. */
export type ChatContext = Pick<ChannelContext, "channel" | "credential"> & {
  readonly workspace: Pick<Workspace, "snapshot">
}

/**
 * Result of a write and the operations that follow from it. They are stored in the outbox before this operation counts as sent.
 */
export interface Sent extends HostWrite {
  readonly next?: ReadonlyArray<Planned> | undefined
  /** Dismissals found in comments of earlier reviews, where the operation read them. */
  readonly ignoredDismissals?: ReadonlyArray<IgnoredDismissal> | undefined
  /** Reactions to comments of earlier reviews, where the operation read them. */
  readonly reactions?: ReadonlyArray<Reaction> | undefined
  /** Fingerprints of the comments of a review that are at their lines. */
  readonly posted?: ReadonlyArray<string> | undefined
  /** Findings as the summary lists them. */
  readonly listed?: ReadonlyArray<ListedFinding> | undefined
  /** Reason for which nothing was written, because the host has no place for it; the row is then dropped with it. */
  readonly skipped?: Reason | undefined
  /** Reason for which nothing had to be written. */
  readonly nothingToDo?: Reason | undefined
}

/** Result of an operation that had nothing to write, with the operation id in place of an id at the host. */
export const unwritten = (operationId: string, reason: Reason): Sent => ({
  hostId: operationId,
  url: undefined,
  nothingToDo: reason
})

/**
 * The configuration of a publication no longer exists: its workspace, trigger or channel has been removed since it was planned.
 */
export class ChannelMissing extends Schema.TaggedError<ChannelMissing>()("ChannelMissing", { why: Reason }) {
  override get message(): string {
    return inEnglish(this.why)
  }
}

/** A finding of a published review that a person dismisses or reopens, with the permission for it, or that is withdrawn. */
export interface RuledFinding {
  readonly fp: string
  readonly head: string
  readonly state: "dismissed" | "open" | "withdrawn"
  /** Account at the host, or the id of a person where every person may dismiss (`review.dismissal`). Undefined: an objection was right. */
  readonly by: string | undefined
}

export interface ChannelKind {
  /** Returns whether the kind can publish reviews of this change. */
  readonly serves: (change: Change) => boolean
  /** Returns the operations that publish this analysis on the channel, in order, rendered and with their markers. */
  readonly plan: (input: PublishInput, channel: ChannelConfig, parts: ChannelPlan) => ReadonlyArray<Planned>
  /** Returns the code of open problems that a review searches for at the head; undefined for kinds that resolve nothing by it. */
  readonly issueCode?: (context: ChannelContext) => Effect.Effect<ReadonlyArray<IssueCode>, ForgeError | ChannelMissing>
  /** Executes one operation. `previous` is the last sent publication of this kind for this target (the summary to update). */
  readonly send: (
    context: ChannelContext,
    publication: Publication,
    previous: Publication | undefined
  ) => Effect.Effect<
    Sent,
    ForgeError | ChannelMissing,
    Writing | AuthorGuess | ChatSends | DirectOptOuts | HostTraffic | ModelRun
  >
  /** Searches the host for the result of an operation whose response is missing. */
  readonly find: (
    context: ChannelContext,
    publication: Publication,
    previous?: Publication
  ) => Effect.Effect<Sent | undefined, ForgeError | ChannelMissing, AuthorGuess | HostTraffic | ModelRun>
  /**
   * Reads the reactions of people to the comments of earlier reviews, before a review is planned; undefined for kinds whose comments have no
   * state. The first publication of the review uses the same result.
   */
  readonly reactions?: (
    context: ChannelContext,
    review: Pick<Publication, "runId" | "targetKey" | "channel"> & { readonly present: ReadonlyArray<string> }
  ) => Effect.Effect<ReadonlyArray<Reaction>, ForgeError | ChannelMissing>
  /**
   * Marks the comments or issues of a finding at the host with its state; undefined for kinds whose messages have no state. Returns the
   * number of those that have it. May be repeated.
   */
  readonly mark?: (
    context: ChannelContext,
    finding: RuledFinding
  ) => Effect.Effect<number, ForgeError | ChannelMissing, HostTraffic | Writing>
}
