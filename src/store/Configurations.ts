/** Stores configuration documents by hash for as long as unfinished work is pinned to them. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { SnapshotArchive } from "../config/ConfigStore.ts"
import type { StoreError } from "../database/StoreError.ts"

export interface StoredConfigurations extends SnapshotArchive<StoreError> {
  /** Hashes of all stored documents. */
  readonly hashes: Effect.Effect<ReadonlyArray<string>, StoreError>
  /** Replaces the text of a document that is still `before`; returns false if it is not. */
  readonly replace: (hash: string, before: string, after: string) => Effect.Effect<boolean, StoreError>
}

export class Configurations extends Context.Service<Configurations, StoredConfigurations>()(
  "aicr/store/Configurations"
) {}
