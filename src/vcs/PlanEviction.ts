/** Which repositories leave the cache, in order. Pure. */
import type { CachePolicy, KeptMirror } from "./WorkspaceCache.ts"

/** `fixed`: bytes beside the mirrors that count as well and cannot go. */
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
