/**
 * Base branches of pull requests, from their latest deliveries. Some deliveries, such as comments on some hosts, do not name the branch;
 * the ingress selects their workspace by the stored one. Stored only where match rules depend on the branch. The host is queried for a
 * branch that is not stored.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"

export interface PullOfTriggers {
  /** Names of the triggers whose credential verified the delivery. Each trigger has branches of its own. */
  readonly triggers: ReadonlyArray<string>
  /** Full name of the repository, compared case-insensitively. */
  readonly repo: string
  readonly number: number
}

export interface PullBase extends PullOfTriggers {
  readonly baseRef: string
  readonly seenAt: number
}

export class PullBases extends Context.Service<
  PullBases,
  {
    /** Replaces what is stored, unless that is from a later delivery. */
    readonly store: (bases: ReadonlyArray<PullBase>) => Effect.Effect<void, StoreError>
    /** Returns the stored branch by trigger name. */
    readonly find: (pull: PullOfTriggers) => Effect.Effect<ReadonlyMap<string, string>, StoreError>
    /** Removes rows beyond `maxCount` and rows last seen before `before`. Returns the number of removed rows. */
    readonly prune: (keep: { readonly maxCount: number; readonly before: number }) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/PullBases") {}
