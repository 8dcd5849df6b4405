/** Stores the job that seals credentials with the current key: one per namespace, the latest. Shared by all nodes. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { SourceUnavailable } from "./RevisionStore.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface ResealJob {
  readonly id: string
  /** Id of the key that credentials are sealed with. Only processes whose current key it is work on the job. */
  readonly kid: string
  readonly actor: string
  /** Process that works on it. */
  readonly owner: string
  readonly state: "running" | "done" | "failed"
  /** Number of records that were read, and of those that were replaced. */
  readonly checked: number
  readonly resealed: number
  /** Records that could not be opened, with the reason; at most 100. */
  readonly failed: ReadonlyArray<Reason>
  /** Newest revision of the pass in progress, and the lowest one that it has checked. */
  readonly newest: number
  readonly below: number
  /** Revisions up to this one were checked by earlier passes. */
  readonly covered: number
  readonly startedAt: number
  readonly updatedAt: number
  readonly finishedAt: number | undefined
  /** One more for each save. */
  readonly version: number
}

export class ResealStore extends Context.Service<
  ResealStore,
  {
    readonly get: Effect.Effect<ResealJob | undefined, SourceUnavailable>
    /** Replaces the job if the stored one has the version before it; version 1 is the first job. Returns whether it did. */
    readonly save: (job: ResealJob) => Effect.Effect<boolean, SourceUnavailable>
  }
>()("aicr/config/ResealStore") {}
