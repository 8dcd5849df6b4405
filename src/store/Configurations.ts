/** Stores configuration documents by hash for as long as unfinished work is pinned to them. */
import { Context } from "effect"
import type { SnapshotArchive } from "../config/ConfigStore.ts"
import type { StoreError } from "../database/StoreError.ts"

export class Configurations extends Context.Service<Configurations, SnapshotArchive<StoreError>>()(
  "aicr/store/Configurations"
) {}
