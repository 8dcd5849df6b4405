/** Stores the job that seals credentials with the current key: one per namespace, the latest. Shared by all nodes. */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import { ResealState } from "./Revision.ts"
import type { SourceUnavailable } from "./RevisionStore.ts"
import { Reason } from "../../domain/Reason.ts"

export const ResealJob = Schema.Struct({
  id: Schema.String,
  /** Id of the key that credentials are sealed with. Only processes whose current key it is work on the job. */
  kid: Schema.String,
  actor: Schema.String,
  /** Process that works on it. */
  owner: Schema.String,
  state: ResealState,
  /** Number of records that were read, and of those that were replaced. */
  checked: Schema.Int,
  resealed: Schema.Int,
  /** Records that could not be opened, with the reason; at most 100. */
  failed: Schema.Array(Reason),
  /** Newest revision of the pass in progress, and the lowest one that it has checked. */
  newest: Schema.Int,
  below: Schema.Int,
  /** Revisions up to this one were checked by earlier passes. */
  covered: Schema.Int,
  startedAt: Schema.Int,
  updatedAt: Schema.Int,
  finishedAt: Schema.optional(Schema.Int),
  /** One more for each save. */
  version: Schema.Int
})
export type ResealJob = typeof ResealJob.Type

export class ResealStore extends Context.Service<
  ResealStore,
  {
    readonly get: Effect.Effect<ResealJob | undefined, SourceUnavailable>
    /** Replaces the job if the stored one has the version before it; version 1 is the first job. Returns whether it did. */
    readonly save: (job: ResealJob) => Effect.Effect<boolean, SourceUnavailable>
  }
>()("aicr/config/ResealStore") {}
