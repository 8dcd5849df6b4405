/**
 * Catalog of models: window, maximum output, price, efforts. Sources are the provider's settings, `llm.model_catalog.overrides`
 * and, if the catalog is enabled, the fetched document or the bundled snapshot.
 *
 * A look-up reads one record. If the document is older than `refresh_interval_hours`, a look-up starts a refresh in the
 * background and returns the current record: it never waits for the network or fails because of it.
 */
import { Clock, Context, Deferred, Duration, Effect, Layer, Option, Schema } from "effect"
import type { LlmConfig, LlmProvider, ModelCatalogConfig } from "../config/schema/Llm.ts"
import { findBundled } from "./catalog/Bundled.ts"
import { CatalogCache } from "./catalog/CatalogCache.ts"
import { layerMemory } from "./catalog/MemoryCatalogCache.ts"
import type { CatalogCacheError } from "./catalog/CatalogCache.ts"
import { catalogNames, overrideNames } from "./catalog/CatalogNames.ts"
import { fetchCatalog } from "./catalog/CatalogSource.ts"
import { toSpec } from "./catalog/ModelRecord.ts"
import type { ModelSpec, RawRecord } from "./catalog/ModelRecord.ts"

export class Catalog extends Context.Service<
  Catalog,
  {
    readonly spec: (llm: LlmConfig, provider: LlmProvider, model: string) => Effect.Effect<ModelSpec>
    /** Fetches the document when it is due. Never fails: errors are logged and the fetch is retried later. */
    readonly refresh: (config: ModelCatalogConfig) => Effect.Effect<void>
  }
>()("aicr/llm/Catalog") {
  /** `waits`: look-ups wait for a running refresh, for commands with a single look-up. */
  static readonly layerWith = ({ waits }: { readonly waits: boolean }): Layer.Layer<Catalog, never, CatalogCache> =>
    Layer.effect(
      Catalog,
      Effect.suspend(() => make(waits))
    )
  static readonly layer = Catalog.layerWith({ waits: false })

  /** Catalog without network and cache: settings, overrides and the bundled snapshot. */
  static readonly layerOffline: Layer.Layer<Catalog> = Layer.effect(
    Catalog,
    Effect.suspend(() =>
      Effect.map(make(false), ({ spec }) =>
        Catalog.of({
          refresh: () => Effect.void,
          spec: (llm, provider, model) =>
            spec({ ...llm, model_catalog: { ...llm.model_catalog, offline: true } }, provider, model)
        })
      )
    )
  ).pipe(Layer.provide(layerMemory))
}

/** Delay after a failed fetch. */
const retryAfterMillis = Duration.toMillis("10 minutes")

const RecordJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

const make = (waits: boolean) =>
  Effect.gen(function* () {
    const cache = yield* CatalogCache
    const scope = yield* Effect.scope
    /** Earliest time of the next fetch per source. */
    const quietUntil = new Map<string, number>()
    const underWay = new Map<string, Deferred.Deferred<void>>()

    const orUndefined = <A>(effect: Effect.Effect<A, CatalogCacheError>): Effect.Effect<A | undefined> =>
      Effect.catch(effect, ({ message }) =>
        Effect.as(Effect.logWarning("model catalog cache failed", { error: message }), undefined)
      )

    const fetchDue = Effect.fnUntraced(function* (config: ModelCatalogConfig) {
      const { source_url: source, fetch_timeout_ms: timeout } = config
      const interval = Duration.toMillis(Duration.hours(config.refresh_interval_hours))
      const now = yield* Clock.currentTimeMillis
      quietUntil.set(source, now + Math.min(interval, retryAfterMillis))
      const state = yield* orUndefined(cache.state(source))
      if (state !== undefined && now < state.checkedAt + interval) {
        quietUntil.set(source, state.checkedAt + interval)
        return
      }
      yield* fetchCatalog(source, state?.etag, timeout).pipe(
        Effect.flatMap((fetched) =>
          fetched._tag === "Unchanged"
            ? cache.touch(source, { etag: state?.etag, checkedAt: now })
            : cache.replace(source, { etag: fetched.etag, checkedAt: now }, fetched.entries)
        ),
        Effect.andThen(Effect.sync(() => quietUntil.set(source, now + interval))),
        Effect.catch(({ message }) =>
          Effect.logWarning("model catalog not refreshed, the previous one stays in use", { error: message })
        )
      )
    })

    /** Serialises refreshes of a source; concurrent callers wait for the running one. */
    const refresh = Effect.fnUntraced(function* (config: ModelCatalogConfig) {
      if (!config.enabled || config.offline) return
      const { source_url: source } = config
      const running = underWay.get(source)
      if (running !== undefined) return yield* Deferred.await(running)
      if ((yield* Clock.currentTimeMillis) < (quietUntil.get(source) ?? 0)) return
      const done = Deferred.makeUnsafe<void>()
      underWay.set(source, done)
      yield* fetchDue(config).pipe(
        Effect.ensuring(
          Effect.suspend(() => {
            underWay.delete(source)
            return Deferred.succeed(done, undefined)
          })
        ),
        Effect.forkIn(scope, { startImmediately: true })
      )
      yield* Deferred.await(done)
    })

    const catalogRecord = Effect.fnUntraced(function* (config: ModelCatalogConfig, names: ReadonlyArray<string>) {
      if (!config.enabled) return {}
      yield* waits ? refresh(config) : Effect.forkIn(refresh(config), scope, { startImmediately: true })
      const found = (yield* orUndefined(cache.find(names))) ?? (yield* Effect.promise(() => findBundled(names)))
      return Option.getOrElse(RecordJson(found), (): RawRecord => ({}))
    })

    return Catalog.of({
      refresh,
      spec: Effect.fnUntraced(function* (llm, provider, model) {
        const { overrides } = llm.model_catalog
        const override = overrideNames(provider, model)
          .map((name): RawRecord | undefined => (Object.hasOwn(overrides, name) ? overrides[name] : undefined))
          .find((found) => found !== undefined)
        const record = yield* catalogRecord(llm.model_catalog, catalogNames(provider, model))
        return toSpec(llm, provider, record, override ?? {})
      })
    })
  })
