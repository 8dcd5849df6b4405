/**
 * Cache of the fetched catalog document with one record per model, so that a look-up reads one record. `replace` is called once
 * per refresh; a reader in the middle of it gets old or new records, each whole.
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"

export interface CatalogState {
  readonly etag: string | undefined
  /** Time of the last successful request to the source, in milliseconds since the epoch. */
  readonly checkedAt: number
}

export interface CatalogEntry {
  /** `<provider>/<model>`. */
  readonly id: string
  /** The record as JSON. */
  readonly record: string
}

export class CatalogCacheError extends Schema.TaggedError<CatalogCacheError>()("CatalogCacheError", {
  message: Schema.String
}) {}

export class CatalogCache extends Context.Service<
  CatalogCache,
  {
    /** Returns the JSON of the first of these models in the cache. */
    readonly find: (ids: ReadonlyArray<string>) => Effect.Effect<string | undefined, CatalogCacheError>
    /** Undefined: this source was never fetched. */
    readonly state: (source: string) => Effect.Effect<CatalogState | undefined, CatalogCacheError>
    /** Records that the source has not changed. */
    readonly touch: (source: string, state: CatalogState) => Effect.Effect<void, CatalogCacheError>
    /** Replaces all records: models that are not among the entries are removed. */
    readonly replace: (
      source: string,
      state: CatalogState,
      entries: Iterable<CatalogEntry>
    ) => Effect.Effect<void, CatalogCacheError>
  }
>()("aicr/llm/CatalogCache") {}
