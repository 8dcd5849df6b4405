/**
 * A channel: a place where reviews are published. Kinds are rows of one table (Channels.ts). `plan` is pure and deterministic,
 * so that planning twice yields the same operation ids; `send` and `find` do one operation against the host.
 */
import { Schema } from "effect"
import type { Effect, Redacted } from "effect"
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { Workspace } from "../config/Snapshot.ts"
import type { Change } from "../domain/Change.ts"
import type { OperationId, TargetKey } from "../domain/Keys.ts"
import type { IgnoredDismissal, Operation, Publication } from "../domain/Publication.ts"
import type { ForgeClient, ForgeError, HostWrite } from "../forge/Forge.ts"
import type { Writing } from "../forge/WriteOwner.ts"
import type { ModelRun } from "../llm/ModelRun.ts"
import type { Cache } from "../store/Cache.ts"
import type { Analysis } from "../domain/Analysis.ts"
import type { AuthorGuess } from "./AuthorGuess.ts"
import type { LinkTemplates } from "./Links.ts"
import type { OwnTemplates } from "./WorkspaceTemplates.ts"

export interface PublishInput {
  readonly runId: string
  readonly targetKey: TargetKey
  readonly change: Change
  readonly head: string
  readonly analysis: Analysis
  readonly workspace: Workspace
  /** An earlier run reviewed the same head, and published under the names that this one would have. */
  readonly isRepeated?: boolean | undefined
  /** Link to the run in the dashboard, when server.base_url is known. */
  readonly runUrl: string | undefined
  /** From the start of the run to its analysis. */
  readonly seconds?: number | undefined
  /** The channel's link templates, else the trigger's; filled in where plans are made. */
  readonly linkTemplates?: LinkTemplates | undefined
  /** The workspace's own templates for the channel; filled in where plans are made. */
  readonly ownTemplates?: OwnTemplates | undefined
}

export interface ChannelPlan {
  readonly lineComments: boolean
  readonly summary: boolean
  /** The same route also records managed issues: a chat message may then say less. */
  readonly recorded?: boolean
}

/** An operation with its name, ready for a row of the outbox. */
export interface Planned {
  readonly operationId: OperationId
  readonly operation: Operation
}

/** What an operation works with: the change's host with the channel's credentials, and the configuration it was planned under. */
export interface Reach {
  /** Fails where the channel's trigger is gone or is no git host. */
  readonly client: Effect.Effect<ForgeClient, ForgeError | ChannelMissing>
  /** In the repository that the channel names. */
  readonly change: Change
  readonly workspace: Workspace
  readonly channel: ChannelConfig
  /** A credential of the channel, or of a part of it. */
  readonly credential: (holder: object, name: string) => Redacted.Redacted | undefined
  /** Where answers of hosts and models are kept. */
  readonly cache: Cache["Service"]
}

/** What was written, and the operations that follow from it. They are in the outbox before this one counts as sent. */
export interface Sent extends HostWrite {
  readonly next?: ReadonlyArray<Planned> | undefined
  /** Seen in comments of earlier reviews, where the operation read them. */
  readonly ignoredDismissals?: ReadonlyArray<IgnoredDismissal> | undefined
}

/** The configuration that a publication needs is gone: the workspace, the trigger or the channel was removed meanwhile. */
export class ChannelMissing extends Schema.TaggedError<ChannelMissing>()("ChannelMissing", {
  message: Schema.String
}) {}

export interface ChannelKind {
  /** Whether it can publish a review of this change at all. */
  readonly serves: (change: Change) => boolean
  /** The operations that publish this analysis here, in order, rendered and with their markers. */
  readonly plan: (input: PublishInput, channel: ChannelConfig, parts: ChannelPlan) => ReadonlyArray<Planned>
  /** Does one operation. `previous` is the last sent row of this kind on this target (the summary to update). */
  readonly send: (
    reach: Reach,
    publication: Publication,
    previous: Publication | undefined
  ) => Effect.Effect<Sent, ForgeError | ChannelMissing, Writing | AuthorGuess | ModelRun>
  /** Looks whether an operation whose answer was lost is there. */
  readonly find: (
    reach: Reach,
    publication: Publication
  ) => Effect.Effect<Sent | undefined, ForgeError | ChannelMissing, AuthorGuess | ModelRun>
}
