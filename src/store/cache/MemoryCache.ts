/** Implements `Cache` in this process: empty after each start; the least recently used value is removed first. */
import { Clock, Effect, Layer } from "effect"
import { Cache, over } from "../Cache.ts"

interface MemoryCacheOptions {
  readonly ttlMillis: number
  /** Maximum number of cached values. */
  readonly entries?: number | undefined
}

const defaultEntries = 5000

export const layerMemory = ({ ttlMillis, entries = defaultEntries }: MemoryCacheOptions): Layer.Layer<Cache> =>
  Layer.sync(Cache, () => {
    /** Values in order of use. */
    const kept = new Map<string, { readonly text: string; readonly until: number }>()
    return Cache.of(
      over({
        read: (key) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            const found = kept.get(key)
            if (found === undefined) return undefined
            kept.delete(key)
            if (found.until <= now) return undefined
            kept.set(key, found)
            return found.text
          }),
        write: (key, text) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            kept.delete(key)
            kept.set(key, { text, until: now + ttlMillis })
            for (const oldest of kept.keys()) {
              if (kept.size <= entries) break
              kept.delete(oldest)
            }
          })
      })
    )
  })
