/**
 * A review from checkout to findings: diff, plan, analyse, anchor, identify. The one path for the service and for
 * `aicr review`; knows no queue, no host and no channel. Pure steps are in review/, effects come through the contracts of
 * vcs/ and agent/.
 */
import { Schema } from "effect"
import type { Effect } from "effect"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import type { Agent, AgentError } from "../agent/Agent.ts"
import type { Checkout, CheckoutError } from "../vcs/Checkout.ts"
import type { Analysis } from "../domain/Analysis.ts"

export interface ReviewInput {
  readonly snapshot: Snapshot
  readonly workspace: Workspace
  readonly checkout: Checkout
  readonly title: string | undefined
  readonly description: string | undefined
  /** Trigger-level filters: watch_path, include_cr_file, exclude_cr_file. */
  readonly filters: {
    readonly watchPath: ReadonlyArray<string>
    readonly include: ReadonlyArray<string>
    readonly exclude: ReadonlyArray<string>
  }
}

export type ReviewChange = (
  input: ReviewInput
) => Effect.Effect<Analysis, AgentError | CheckoutError | PatchTooLarge, Agent>

/** The filtered patch is over review.max_patch_bytes: refused before any model call; the run fails and says so. */
export class PatchTooLarge extends Schema.TaggedError<PatchTooLarge>()("PatchTooLarge", {
  bytes: Schema.Int,
  limit: Schema.Int,
  message: Schema.String
}) {}
