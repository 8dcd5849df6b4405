/** Stores configuration documents by hash for as long as unfinished work is pinned to them. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { SnapshotArchive } from "../config/ConfigStore.ts"
import type { StoreError } from "../database/StoreError.ts"

/** A delivery whose review has not ended. */
export interface UnfinishedDelivery {
  readonly id: string
  readonly workspace: string
  readonly targetKey: string
}

export interface UnfinishedWork {
  /** Oldest first. */
  readonly items: ReadonlyArray<UnfinishedDelivery>
  /** More exist than are listed. */
  readonly more: boolean
}

export interface StoredConfigurations extends SnapshotArchive<StoreError> {
  /** Hashes of all stored documents. */
  readonly hashes: Effect.Effect<ReadonlyArray<string>, StoreError>
  /** Lists the accepted deliveries whose reviews have not ended and keep another configuration than this one. */
  readonly unfinished: (hash: string, limit: number) => Effect.Effect<UnfinishedWork, StoreError>
  /** Replaces the text of a document that is still `before`; returns false if it is not. */
  readonly replace: (hash: string, before: string, after: string) => Effect.Effect<boolean, StoreError>
}

export class Configurations extends Context.Service<Configurations, StoredConfigurations>()(
  "aicr/store/Configurations"
) {}
