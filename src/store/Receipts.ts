/**
 * Event records: one per verified delivery, with its decision. For accepted deliveries the record is the receipt: it is durable (synced to
 * disk) before the host gets its 202, and work without an `outcome` is requeued at start.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { Change } from "../domain/Change.ts"
import type { EventDecision, EventOutcome } from "../domain/Decision.ts"
import type { DepotChange } from "../domain/DepotChange.ts"
import type { StoreError } from "../database/StoreError.ts"
import type { DeliveryKey, TargetKey } from "../domain/Keys.ts"
import type { Reason } from "../domain/Reason.ts"
import type { IdRange } from "../database/sql/ListOrder.ts"

/** Facts that place a delivery, from its payload. They do not depend on the decision. */
export interface DeliveryFacts {
  /** Number of the pull request or issue. */
  readonly number?: number | undefined
  readonly head?: string | undefined
  /** Target branch of a pull request, or the branch of a push or call. */
  readonly branch?: string | undefined
  /** Author of the pull request, issue or change. */
  readonly author?: string | undefined
  /** Person whose action caused the delivery: of a command, its writer. */
  readonly sender?: string | undefined
  /** Person who pushed the head of a pull request, or opened it with that head. */
  readonly pusher?: string | undefined
  readonly command?: "review" | "help" | "cancel" | undefined
}

export interface EventRecord {
  readonly id: string
  /** Unique key `<provider>:<delivery id>`. A second delivery with the same key is a duplicate. */
  readonly deliveryKey: DeliveryKey
  readonly provider: string
  readonly event: string
  readonly action: string | undefined
  readonly trigger: string | undefined
  readonly workspace: string | undefined
  readonly targetKind: string | undefined
  readonly targetKey: TargetKey | undefined
  readonly repo: string | undefined
  readonly facts: DeliveryFacts
  readonly decision: EventDecision
  readonly reason: string | undefined
  /** Part of the configuration or of the delivery that decided. */
  readonly rule?: Reason | undefined
  /** Set if accepted: the work, sufficient to queue it again. */
  readonly work:
    | {
        readonly change: Change
        readonly configHash: string
        readonly priority: number
        readonly dueAt: number
        /** A comment command other than `review`, which is executed and never queued. */
        readonly command?: "help" | "cancel" | undefined
      }
    | undefined
  /** A routing receipt: its workspace is determined in the background (actors/depots/DepotRouting.ts). */
  readonly routing?: DepotChange | undefined
  readonly receivedAt: number
}

export interface StoredEvent extends EventRecord {
  readonly outcome: EventOutcome | undefined
  readonly outcomeReason: Reason | undefined
  readonly outcomeAt: number | undefined
  readonly runId: string | undefined
  /** Further deliveries with the same key, and the time of the latest. */
  readonly duplicates: number
  readonly duplicatedAt: number | undefined
}

/** Changes of records after their deliveries got a response. */
export interface EventNotes {
  /** Decisions of the queue that differ from those that the records were stored with. */
  readonly decided: ReadonlyArray<{ readonly id: string; readonly decision: EventDecision }>
  /** One item per further delivery of a record. */
  readonly duplicates: ReadonlyArray<{ readonly id: string; readonly at: number }>
}

/** Values that a record must have; undefined ones select nothing. */
export interface EventFilter extends IdRange {
  readonly workspace?: string | undefined
  readonly decision?: EventDecision | undefined
  readonly reason?: string | undefined
  /** Full name of the repository, compared case-insensitively. */
  readonly repo?: string | undefined
  /** Number of the pull request or issue. */
  readonly number?: number | undefined
  readonly targetKey?: TargetKey | undefined
  readonly outcome?: EventOutcome | undefined
  readonly trigger?: string | undefined
  readonly provider?: string | undefined
  /** Earliest time of receipt, in milliseconds since the epoch. */
  readonly since?: number | undefined
  /** Time before which it was received, in milliseconds since the epoch. */
  readonly until?: number | undefined
  readonly limit: number
}

/** Number of records with a decision and a reason, and the time of the latest. */
export interface DecisionCount {
  readonly decision: EventDecision
  /** Only of a decision that starts no work. */
  readonly reason: string | undefined
  readonly count: number
  readonly lastAt: number
}

/** Deliveries of a trigger within a period. Times are milliseconds since the epoch. */
export interface TriggerActivity {
  readonly trigger: string
  readonly lastAt: number | undefined
  readonly lastAcceptedAt: number | undefined
  /** Numbers of its newest part. */
  readonly recent: number
  readonly recentIgnored: number
}

/** Accounts that pushed to the head of a pull request, according to its deliveries. */
export interface Pushers {
  readonly usernames: ReadonlyArray<string>
  /** Whether one of them pushed this head. */
  readonly pushedHead: boolean
  /** Whether there are more than were read. */
  readonly isPart: boolean
}

/** An account that deleted or edited comments of the service on a pull request, and when it did so last, in milliseconds since the epoch. */
export interface Touch {
  readonly sender: string
  readonly action: string
  readonly lastAt: number
}

export type Receipt =
  | { readonly _tag: "Stored" }
  /** The delivery was stored before; `first` is its record. */
  | { readonly _tag: "Duplicate"; readonly first: StoredEvent }

export interface UnroutedCount {
  readonly workspaces: ReadonlyArray<string> | undefined
  readonly count: number
}

export class Receipts extends Context.Service<
  Receipts,
  {
    /** Stores one record durably. Concurrent calls share one transaction and one sync (group commit). */
    readonly store: (record: EventRecord) => Effect.Effect<Receipt, StoreError>
    /** Stores several records, all or nothing; returns one receipt per record, in order. */
    readonly storeAll: (records: ReadonlyArray<EventRecord>) => Effect.Effect<ReadonlyArray<Receipt>, StoreError>
    /** Records the outcome of accepted events; an existing outcome does not change. */
    readonly settle: (
      eventIds: ReadonlyArray<string>,
      outcome: {
        readonly outcome: EventOutcome
        readonly reason?: Reason | undefined
        readonly runId?: string | undefined
      },
      now: number
    ) => Effect.Effect<void, StoreError>
    /** Replaces the outcome `executed` after the review could not be published. */
    readonly revise: (
      eventIds: ReadonlyArray<string>,
      outcome: { readonly outcome: "failed"; readonly reason: Reason; readonly runId: string },
      now: number
    ) => Effect.Effect<void, StoreError>
    /** Adds notes to records. Decisions may be noted repeatedly; duplicates are added up. */
    readonly note: (notes: EventNotes) => Effect.Effect<void, StoreError>
    /** Removes the outcome of these events when an operator retries their work. */
    readonly reopen: (eventIds: ReadonlyArray<string>) => Effect.Effect<void, StoreError>
    readonly pushers: (
      pull: { readonly trigger: string; readonly repo: string; readonly number: number; readonly head: string },
      limit: number
    ) => Effect.Effect<Pushers, StoreError>
    /** Returns one item per account and action, of all deliveries with these actions about comments of the service. */
    readonly touches: (
      pull: { readonly trigger: string; readonly repo: string; readonly number: number },
      actions: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<Touch>, StoreError>
    /** Returns accepted records without an outcome, oldest first, after the given id; at most `limit`. */
    readonly unsettled: (
      after: string | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<StoredEvent>, StoreError>
    /** Returns routing receipts without an outcome, oldest first, after the given id; at most `limit`. */
    readonly unrouted: (
      after: string | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<StoredEvent>, StoreError>
    /** Records why routing receipts have no outcome yet. It is replaced by the outcome. */
    readonly postpone: (eventIds: ReadonlyArray<string>, reason: Reason) => Effect.Effect<void, StoreError>
    /** Counts routing receipts without an outcome by the workspaces that their API keys open; undefined: all workspaces. */
    readonly countUnrouted: Effect.Effect<ReadonlyArray<UnroutedCount>, StoreError>
    /** Writes the newest record again, unchanged: fails if the store takes no writes. */
    readonly probe: Effect.Effect<void, StoreError>
    readonly get: (id: string) => Effect.Effect<StoredEvent | undefined, StoreError>
    /** Records that a delivery with this id is going to repeat another one. */
    readonly addReplay: (id: string, replayOf: string) => Effect.Effect<void, StoreError>
    /** Returns the delivery that this one repeats, and those that repeat it, the newest first; at most `limit`. */
    readonly replays: (
      id: string,
      limit: number
    ) => Effect.Effect<
      { readonly replayOf: string | undefined; readonly replays: ReadonlyArray<StoredEvent> },
      StoreError
    >
    /** Lists records, by id. */
    readonly list: (filter: EventFilter) => Effect.Effect<ReadonlyArray<StoredEvent>, StoreError>
    /** Counts records by decision and reason, the most frequent first. */
    readonly countDecisions: (
      filter: Pick<EventFilter, "since" | "trigger" | "workspace">
    ) => Effect.Effect<ReadonlyArray<DecisionCount>, StoreError>
    /** Returns the deliveries of each trigger since then, and the numbers of those since `recentSince`. */
    readonly activity: (period: {
      readonly since: number
      readonly recentSince: number
    }) => Effect.Effect<ReadonlyArray<TriggerActivity>, StoreError>
    /** Removes settled and ignored records beyond `maxCount` or received before `before`. Returns how many. */
    readonly prune: (keep: { readonly maxCount: number; readonly before: number }) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Receipts") {}
