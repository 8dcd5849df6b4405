/**
 * What is kept under `workspaces.root` between reviews, and what of it goes when it is too much or too old. The cache belongs to a
 * node: each looks after its own. What a running review uses is never evicted, whatever the limits say.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { CheckoutError } from "./Checkout.ts"

export interface CachePolicy {
  readonly maxBytes: number
  /**
   * `lru`: over `maxBytes`, those go first whose last use is longest ago; `mru`: the last used go first; `ttl`: what was not used
   * for `ttlMillis` goes, and over `maxBytes` the oldest as well.
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

export interface CacheTurn {
  /** Bytes that are left, checkouts of running reviews included. */
  readonly bytes: number
  readonly evicted: ReadonlyArray<KeptMirror>
  /** Checkouts that processes left that no longer run. */
  readonly orphans: number
}

export class WorkspaceCache extends Context.Service<
  WorkspaceCache,
  { readonly tidy: (policy: CachePolicy, now: number) => Effect.Effect<CacheTurn, CheckoutError> }
>()("aicr/vcs/WorkspaceCache") {}
