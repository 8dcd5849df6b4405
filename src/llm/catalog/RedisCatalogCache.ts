/**
 * The catalog in Redis, shared by all nodes: one hash per document and a key that names the current hash. The client is loaded
 * only if this backend is configured.
 */
import { Effect, Layer, Option, Schema } from "effect"
import type { Redacted } from "effect"
import { readMessage, open } from "../../database/RedisClient.ts"
import { CatalogCache, CatalogCacheError } from "./CatalogCache.ts"
import type { CatalogEntry, CatalogState } from "./CatalogCache.ts"

const pointer = "aicr:catalog"
const toHash = (generation: number): string => `${pointer}:${generation}`
const stepSize = 200

const Pointer = Schema.Struct({
  source: Schema.String,
  etag: Schema.optional(Schema.String),
  checkedAt: Schema.Number,
  generation: Schema.Number
})
const decodePointer = Schema.decodeUnknownOption(Schema.fromJsonString(Pointer))

export const layerRedis = (url: Redacted.Redacted): Layer.Layer<CatalogCache> =>
  Layer.effect(
    CatalogCache,
    Effect.gen(function* () {
      const { redis } = yield* Effect.orDie(open(url, { maxRetriesPerRequest: 1, commandTimeout: 5000 }))
      const ask = <A>(command: () => Promise<A>) =>
        Effect.tryPromise({
          try: command,
          catch: (cause) =>
            new CatalogCacheError({ message: `Redis unavailable (storage.cache.redis): ${readMessage(cause)}` })
        })
      const inForce = Effect.map(
        ask(() => redis.get(pointer)),
        (text) => Option.getOrUndefined(decodePointer(text))
      )
      const point = (source: string, { etag, checkedAt }: CatalogState, generation: number) =>
        ask(() =>
          redis.set(pointer, JSON.stringify({ source, ...(etag === undefined ? {} : { etag }), checkedAt, generation }))
        )

      return CatalogCache.of({
        find: Effect.fnUntraced(function* (ids) {
          const current = yield* inForce
          if (current === undefined || ids.length === 0) return undefined
          const found = yield* ask(() => redis.hmget(toHash(current.generation), ...ids))
          return found.find((record) => record !== null) ?? undefined
        }),
        state: (source) =>
          Effect.map(inForce, (current) =>
            current?.source === source ? { etag: current.etag, checkedAt: current.checkedAt } : undefined
          ),
        touch: Effect.fnUntraced(function* (source, state) {
          const current = yield* inForce
          if (current !== undefined) yield* point(source, state, current.generation)
        }),
        replace: Effect.fnUntraced(function* (source, state, entries) {
          const before = yield* inForce
          const hash = toHash(state.checkedAt)
          let step: Array<CatalogEntry> = []
          const write = Effect.suspend(() => {
            const fields = step.flatMap(({ id, record }) => [id, record])
            step = []
            return fields.length === 0 ? Effect.void : ask(() => redis.hset(hash, ...fields))
          })
          for (const entry of entries) {
            step.push(entry)
            if (step.length === stepSize) yield* write
          }
          yield* write
          yield* point(source, state, state.checkedAt)
          if (before !== undefined && before.generation !== state.checkedAt) {
            yield* ask(() => redis.del(toHash(before.generation)))
          }
        })
      })
    })
  )
