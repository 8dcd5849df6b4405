/** How the rest of the service publishes: which channels a change goes to, what is to be written there, and writing it. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { Workspace } from "../config/Snapshot.ts"
import type { Change } from "../domain/Change.ts"
import type { IgnoredDismissal, Publication, StatusState } from "../domain/Publication.ts"
import type { ForgeError, HostWrite } from "../forge/Forge.ts"
import type { Writing } from "../forge/WriteOwner.ts"
import { ChannelMissing } from "./Channel.ts"
import type { PublishInput } from "./Channel.ts"

export { ChannelMissing }

/** What a row wrote, and the rows that follow from it: they go into the outbox before the row counts as sent. */
export interface SentRow extends HostWrite {
  readonly next: ReadonlyArray<Publication>
  /** Of people who may not dismiss; for the record of the run. */
  readonly ignoredDismissals?: ReadonlyArray<IgnoredDismissal> | undefined
}

export class Outputs extends Context.Service<
  Outputs,
  {
    /** False when no channel would show anything of this change: then no model is asked. */
    readonly anyFor: (workspace: Workspace, change: Change) => boolean
    /** The rows that publish an analysis, in order of sending. Deterministic operation ids. */
    readonly plan: (input: PublishInput) => ReadonlyArray<Publication>
    /** Commit status rows; empty where the host or the configuration has none. */
    readonly status: (
      input: Omit<PublishInput, "analysis">,
      state: StatusState,
      description: string
    ) => ReadonlyArray<Publication>
    readonly send: (
      workspace: Workspace,
      change: Change,
      publication: Publication,
      previous: Publication | undefined
    ) => Effect.Effect<SentRow, ForgeError | ChannelMissing, Writing>
    /** Looks at the host whether an operation whose answer was lost is there. */
    readonly find: (
      workspace: Workspace,
      change: Change,
      publication: Publication
    ) => Effect.Effect<SentRow | undefined, ForgeError | ChannelMissing>
  }
>()("aicr/outputs/Outputs") {}
