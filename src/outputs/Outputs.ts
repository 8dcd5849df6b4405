/** How the rest of the service publishes: which channels a change goes to, what is to be written there, and writing it. */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import type { Workspace } from "../config/Snapshot.ts"
import type { Change } from "../domain/Change.ts"
import type { Publication } from "../domain/Publication.ts"
import type { ForgeError, HostWrite } from "../forge/Forge.ts"
import type { PublishInput } from "./Channel.ts"

/** The configuration that a publication needs is gone: the workspace, the trigger or the channel was removed meanwhile. */
export class ChannelMissing extends Schema.TaggedError<ChannelMissing>()("ChannelMissing", {
  message: Schema.String
}) {}

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
      state: "pending" | "success" | "failure",
      description: string
    ) => ReadonlyArray<Publication>
    readonly send: (
      workspace: Workspace,
      change: Change,
      publication: Publication,
      previous: Publication | undefined
    ) => Effect.Effect<HostWrite, ForgeError | ChannelMissing>
    /** Looks at the host whether an operation whose answer was lost is there. */
    readonly find: (
      workspace: Workspace,
      change: Change,
      publication: Publication
    ) => Effect.Effect<HostWrite | undefined, ForgeError | ChannelMissing>
  }
>()("aicr/outputs/Outputs") {}
