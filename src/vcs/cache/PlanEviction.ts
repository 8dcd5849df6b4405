/** Selects the repositories to evict from the cache, in order. Pure. */
import type { CachePolicy, KeptMirror } from "./WorkspaceCache.ts"

/** Returns the mirrors to evict. `fixed`: bytes in addition to the mirrors that cannot be freed. */
export const planEviction = (
  mirrors: ReadonlyArray<KeptMirror>,
  policy: CachePolicy,
  now: number,
  fixed = 0
): ReadonlyArray<KeptMirror> => {
  const idle = mirrors
    .filter(({ inUse }) => !inUse)
    .toSorted((a, b) => (policy.eviction === "mru" ? b.usedAt - a.usedAt : a.usedAt - b.usedAt))
  let bytes = mirrors.reduce((sum, mirror) => sum + mirror.bytes, fixed)
  return idle.filter((mirror) => {
    const expired = policy.eviction === "ttl" && now - mirror.usedAt > policy.ttlMillis
    if (!expired && bytes <= policy.maxBytes) return false
    bytes -= mirror.bytes
    return true
  })
}
