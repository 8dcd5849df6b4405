/**
 * Cache of repositories under `workspaces.root`, and its eviction by size and age. Each node has its own cache. Entries in use by
 * a running review are never evicted, independent of the limits.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"

export interface CachePolicy {
  readonly maxBytes: number
  /**
   * `lru`: over `maxBytes` evicts the least recently used first. `mru`: evicts the most recently used first. `ttl`: evicts
   * entries that were not used for `ttlMillis`, and over `maxBytes` also the least recently used.
   */
  readonly eviction: "lru" | "mru" | "ttl"
  readonly ttlMillis: number
}

/** A repository in the cache. */
export interface KeptMirror {
  readonly folder: string
  readonly bytes: number
  /** Milliseconds since the epoch. */
  readonly usedAt: number
  readonly inUse: boolean
}

interface CacheTurn {
  /** Remaining bytes, including checkouts of running reviews. */
  readonly bytes: number
  readonly evicted: ReadonlyArray<KeptMirror>
  /** Number of removed checkouts of processes that no longer run. */
  readonly orphans: number
}

export class WorkspaceCache extends Context.Service<
  WorkspaceCache,
  { readonly tidy: (policy: CachePolicy, now: number) => Effect.Effect<CacheTurn, CheckoutError> }
>()("aicr/vcs/WorkspaceCache") {}
