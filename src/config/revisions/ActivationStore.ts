/** Stores what each node has made of the newest revision: active, or refused with the reasons. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { SourceUnavailable } from "./RevisionStore.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface NodeActivation {
  readonly node: string
  /** Newest revision that the node has read. */
  readonly revision: number
  readonly state: "active" | "refused"
  /** Revision that the node works with; older than `revision` if that was refused. */
  readonly active: number
  /** Hash of the snapshot that the node works with. */
  readonly snapshot: string
  /** Problems of a refused revision; at most 20. */
  readonly problems: ReadonlyArray<Reason>
  /** Time of the last report; nodes repeat it every minute. */
  readonly at: number
}

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
