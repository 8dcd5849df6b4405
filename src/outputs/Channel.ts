/**
 * A channel: a place where reviews are published. Kinds are rows of one table (Channels.ts). `plan` is pure and deterministic,
 * so that planning twice yields the same operation ids; `send` and `find` do one operation against the host.
 */
import type { Effect } from "effect"
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { Workspace } from "../config/Snapshot.ts"
import type { Change } from "../domain/Change.ts"
import type { Operation, Publication } from "../domain/Publication.ts"
import type { ForgeClient, ForgeError, HostWrite } from "../forge/Forge.ts"
import type { Analysis } from "../domain/Analysis.ts"

export interface PublishInput {
  readonly runId: string
  readonly targetKey: string
  readonly change: Change
  readonly head: string
  readonly analysis: Analysis
  readonly workspace: Workspace
  /** Link to the run in the dashboard, when server.base_url is known. */
  readonly runUrl: string | undefined
}

export interface ChannelPlan {
  readonly lineComments: boolean
  readonly summary: boolean
}

export interface ChannelKind {
  /** The operations that publish this analysis here, in order, rendered and with their markers. */
  readonly plan: (
    input: PublishInput,
    channel: ChannelConfig,
    parts: ChannelPlan
  ) => ReadonlyArray<{ readonly operationId: string; readonly operation: Operation }>
  /** Does one operation. `previous` is the last sent row of this kind on this target (the summary to update). */
  readonly send: (
    client: ForgeClient,
    change: Change,
    publication: Publication,
    previous: Publication | undefined
  ) => Effect.Effect<HostWrite, ForgeError>
  /** Looks whether an operation whose answer was lost is there. */
  readonly find: (
    client: ForgeClient,
    change: Change,
    publication: Publication
  ) => Effect.Effect<HostWrite | undefined, ForgeError>
}
