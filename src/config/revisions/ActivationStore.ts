/** Stores what each node has made of the newest revision: active, or refused with the reasons. */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import type { SourceUnavailable } from "./RevisionStore.ts"
import { Reason } from "../../domain/Reason.ts"

export const NodeActivation = Schema.Struct({
  node: Schema.String,
  /** Newest revision that the node has read. */
  revision: Schema.Int,
  state: Schema.Literals(["active", "refused"]),
  /** Revision that the node works with; older than `revision` if that was refused. */
  active: Schema.Int,
  /** Hash of the snapshot that the node works with. */
  snapshot: Schema.String,
  /** Problems of a refused revision; at most 20. */
  problems: Schema.Array(Reason),
  /** Time of the last report; nodes repeat it every minute. */
  at: Schema.Int
})
export type NodeActivation = typeof NodeActivation.Type

/** Milliseconds after which a node that reports nothing is no longer listed. */
export const activationExpiry = 5 * 60_000

export class ActivationStore extends Context.Service<
  ActivationStore,
  {
    readonly report: (activation: NodeActivation) => Effect.Effect<void, SourceUnavailable>
    /** Reports at or after `since`, by node. */
    readonly list: (since: number) => Effect.Effect<ReadonlyArray<NodeActivation>, SourceUnavailable>
    /** Removes the reports from before `since`. */
    readonly prune: (since: number) => Effect.Effect<void, SourceUnavailable>
  }
>()("aicr/config/ActivationStore") {}
