/** Publishing for the rest of the service: selects the channels of a change, plans the publications and sends them. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { Reason } from "../domain/Reason.ts"
import type { Workspace } from "../config/Snapshot.ts"
import type { Analysis } from "../domain/Analysis.ts"
import type { Change } from "../domain/Change.ts"
import type { Publication, Reaction, StatusState } from "../domain/Publication.ts"
import type { IssueCode } from "../domain/IssueCode.ts"
import type { ForgeError } from "../forge/ForgeError.ts"
import type { Writing } from "../forge/WriteOwner.ts"
import { ChannelMissing } from "./channels/Channel.ts"
import type { PublishInput, RuledFinding, Sent } from "./channels/Channel.ts"
import type { ChatDismissal, DismissOutcome } from "./review/ChatDismissal.ts"

export { ChannelMissing }

/**
 * Result of a publication and the publications that follow from it. They are stored in the outbox before this one counts as sent.
 */
export interface SentRow extends Omit<Sent, "next"> {
  readonly next: ReadonlyArray<Publication>
}

/** The result of a review with the publications that show it. */
export interface PlannedReview {
  readonly analysis: Analysis
  readonly plan: ReadonlyArray<Publication>
}

export class Outputs extends Context.Service<
  Outputs,
  {
    /** Returns false when no channel would publish anything about this change; no model is called then. */
    readonly anyFor: (workspace: Workspace, change: Change) => boolean
    /** Returns the publications of an analysis in sending order, with deterministic operation ids. */
    readonly plan: (input: PublishInput) => ReadonlyArray<Publication>
    /**
     * Returns the commit status publications; empty where the host or the configuration has none. `review`: the result that it is about, and the
     * other publications of it.
     */
    readonly status: (
      input: Omit<PublishInput, "analysis">,
      state: StatusState,
      description: Reason,
      review?: PlannedReview
    ) => ReadonlyArray<Publication>
    /** Returns the code of open managed issues of the change's channels, which the review searches for at the head. */
    readonly issueCode: (
      workspace: Workspace,
      change: Change
    ) => Effect.Effect<ReadonlyArray<IssueCode>, ForgeError | ChannelMissing>
    /** Returns the reactions of people to comments of earlier reviews at the host, before a review is planned. */
    readonly reactions: (
      workspace: Workspace,
      change: Change,
      review: Pick<PublishInput, "runId" | "targetKey"> & {
        /** Fingerprints of its problems. */
        readonly present: ReadonlyArray<string>
      }
    ) => Effect.Effect<ReadonlyArray<Reaction>, ForgeError | ChannelMissing>
    readonly send: (
      workspace: Workspace,
      change: Change,
      publication: Publication,
      previous: Publication | undefined
    ) => Effect.Effect<SentRow, ForgeError | ChannelMissing, Writing>
    /** Searches the host for the result of an operation whose response is missing. */
    readonly find: (
      workspace: Workspace,
      change: Change,
      publication: Publication,
      previous?: Publication
    ) => Effect.Effect<SentRow | undefined, ForgeError | ChannelMissing>
    /** Returns whether the account may dismiss findings of a pull request (`review.dismissal`). Its author may not. */
    readonly mayDismiss: (
      workspace: Workspace,
      change: Change,
      username: string
    ) => Effect.Effect<boolean, ForgeError | ChannelMissing>
    /** Dismisses a finding at the host for a person of a chat platform. May be repeated. */
    readonly dismiss: (
      workspace: Workspace,
      change: Change,
      dismissal: ChatDismissal
    ) => Effect.Effect<DismissOutcome, ForgeError | ChannelMissing, Writing>
    /**
     * Marks a finding at the host with its state. Returns the number of comments and issues that have it. May be repeated. `isPrivate`: only
     * maintainers get it, and only their channel has it.
     */
    readonly mark: (
      workspace: Workspace,
      change: Change,
      finding: RuledFinding,
      isPrivate?: boolean
    ) => Effect.Effect<number, ForgeError | ChannelMissing, Writing>
  }
>()("aicr/outputs/Outputs") {}
