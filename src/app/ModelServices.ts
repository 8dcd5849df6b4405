/** The model gateway of the service; catalog, budget and permits are stored where all nodes see them. Wiring only. */
import { Effect, Layer } from "effect"
import * as BudgetLedger from "../../actors/limits/BudgetLedger.ts"
import * as ProviderLimiter from "../../actors/limits/ProviderLimiter.ts"
import { ConfigStore } from "../config/ConfigStore.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import * as GuessAuthor from "../engine/questions/GuessAuthor.ts"
import { Catalog } from "../llm/Catalog.ts"
import { layerMemory } from "../llm/catalog/MemoryCatalogCache.ts"
import { layerRedis } from "../llm/catalog/RedisCatalogCache.ts"
import { layerSql } from "../llm/catalog/SqlCatalogCache.ts"
import { Evidence } from "../llm/Evidence.ts"
import * as GatewayLayer from "../llm/GatewayLayer.ts"

const cacheOf = ({ credential, document: { llm, storage } }: Snapshot) => {
  switch (llm.model_catalog.cache.backend) {
    case "memory":
      return layerMemory
    case "sqlite":
      return layerSql
    case "redis": {
      // That it is configured is checked with the document.
      const url = credential(storage.cache.redis, "url")
      return url === undefined ? layerMemory : layerRedis(url)
    }
  }
}

const catalogCache = Layer.unwrap(Effect.map(ConfigStore, (config) => cacheOf(config.current())))

/** Fetches the first document concurrently with the start, which does not wait for it. */
const prefetch = Layer.effectDiscard(
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const config = yield* ConfigStore
    yield* Effect.forkScoped(catalog.refresh(config.current().document.llm.model_catalog))
  })
)

/** The catalog, cached in the configured store. */
export const catalog = prefetch.pipe(Layer.provideMerge(Catalog.layer.pipe(Layer.provide(catalogCache))))

/** The gateway, and the guess of authors that publishing uses. */
export const gateway = GuessAuthor.layer.pipe(
  Layer.provideMerge(GatewayLayer.layer),
  Layer.provide([BudgetLedger.layer, ProviderLimiter.limiterLayer, Evidence.layer]),
  Layer.provideMerge(catalog)
)
