/**
 * Where a fetched catalog document is kept, model by model, so that a look-up reads one record. `replace` is called once per
 * refresh; a reader in the middle of it gets old or new records, each whole.
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"

export interface CatalogState {
  readonly etag: string | undefined
  /** When the source was last asked, with success. Milliseconds since the epoch. */
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
    /** JSON of the first of these models that is there. */
    readonly find: (ids: ReadonlyArray<string>) => Effect.Effect<string | undefined, CatalogCacheError>
    /** undefined: nothing was ever fetched from this source. */
    readonly state: (source: string) => Effect.Effect<CatalogState | undefined, CatalogCacheError>
    /** The source said that nothing changed. */
    readonly touch: (source: string, state: CatalogState) => Effect.Effect<void, CatalogCacheError>
    /** Models that are not among the entries are gone afterwards. */
    readonly replace: (
      source: string,
      state: CatalogState,
      entries: Iterable<CatalogEntry>
    ) => Effect.Effect<void, CatalogCacheError>
  }
>()("aicr/llm/CatalogCache") {}
