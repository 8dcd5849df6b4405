/** The catalog in this process only: fetched again after each start. */
import { Effect, Layer } from "effect"
import { CatalogCache } from "./CatalogCache.ts"
import type { CatalogState } from "./CatalogCache.ts"

export const layerMemory: Layer.Layer<CatalogCache> = Layer.sync(CatalogCache, () => {
  let models = new Map<string, string>()
  let kept: { readonly source: string; readonly state: CatalogState } | undefined
  return CatalogCache.of({
    find: (ids) => Effect.sync(() => ids.map((id) => models.get(id)).find((record) => record !== undefined)),
    state: (source) => Effect.sync(() => (kept?.source === source ? kept.state : undefined)),
    touch: (source, state) =>
      Effect.sync(() => {
        kept = { source, state }
      }),
    replace: (source, state, entries) =>
      Effect.sync(() => {
        models = new Map(Array.from(entries, ({ id, record }) => [id, record]))
        kept = { source, state }
      })
  })
})
