/**
 * Event records: one per verified delivery, with its decision. For accepted deliveries the record is the receipt: it is durable (synced to
 * disk) before the host gets its 202, and work without an `outcome` is requeued at start.
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import { Change } from "../domain/Change.ts"
import { CommandName, CommandRequest, ExecutedName } from "../domain/CommentCommand.ts"
import { EventDecision, EventOutcome } from "../domain/Decision.ts"
import { DepotChange } from "../domain/DepotChange.ts"
import type { StoreError } from "../database/StoreError.ts"
import * as Field from "../domain/Field.ts"
import { DeliveryKey, TargetKey } from "../domain/Keys.ts"
import { Reason } from "../domain/Reason.ts"
import { record } from "../domain/Record.ts"
import type { RecordValues } from "../domain/Record.ts"
import type { IdRange } from "../database/sql/ListOrder.ts"

const Work = Schema.Struct({
  change: Change,
  configHash: Schema.String,
  priority: Schema.Int,
  dueAt: Schema.Int,
  /** A comment command other than `review`, which is executed and never queued. */
  command: Schema.optional(ExecutedName),
  /** The command with its arguments and its comment, also of a requested review. */
  request: Schema.optional(CommandRequest)
})
/** Fields of accepted work. */
export const acceptedWork = { ...Field.structFields(Work).fields, dueAt: Field.time }

/** Facts that place a delivery, from its payload. They do not depend on the decision. */
export const deliveryFacts = {
  /** Number of the pull request or issue. */
  number: Field.optional(Field.integer),
  head: Field.optional(Field.text),
  /** Target branch of a pull request, or the branch of a push or call. */
  branch: Field.optional(Field.text),
  /** Author of the pull request, issue or change. */
  author: Field.optional(Field.text),
  /** Person whose action caused the delivery: of a command, its writer. */
  sender: Field.optional(Field.text),
  /** Person who pushed the head of a pull request, or opened it with that head. */
  pusher: Field.optional(Field.text),
  /** Title of the pull request or issue. */
  title: Field.optional(Field.text),
  command: Field.optional(Field.stored(CommandName))
}
export type DeliveryFacts = Field.Values<typeof deliveryFacts>

/** The record of a delivery before its response is sent. */
export const EventRecord = record({
  id: Field.text,
  /** Unique key `<provider>:<delivery id>`. A second delivery with the same key is a duplicate. */
  deliveryKey: Field.stored(DeliveryKey),
  provider: Field.text,
  event: Field.text,
  action: Field.optional(Field.text),
  trigger: Field.optional(Field.named("trigger_name", Field.text)),
  workspace: Field.optional(Field.text),
  targetKind: Field.optional(Field.text),
  targetKey: Field.optional(Field.stored(TargetKey)),
  repo: Field.optional(Field.text),
  facts: Field.group(deliveryFacts),
  decision: Field.stored(EventDecision),
  reason: Field.optional(Field.text),
  /** Part of the configuration or of the delivery that decided. */
  rule: Field.optional(Field.reason),
  /** Set if accepted: the work, sufficient to queue it again. */
  work: Field.optional(Field.json(Work)),
  /** A routing receipt: its workspace is determined in the background (actors/depots/DepotRouting.ts). */
  routing: Field.optional(Field.json(DepotChange)),
  receivedAt: Field.time
})
export type EventRecord = RecordValues<typeof EventRecord>

export const StoredEvent = record({
  ...EventRecord.fields,
  outcome: Field.optional(Field.stored(EventOutcome)),
  outcomeReason: Field.optional(Field.reason),
  outcomeAt: Field.optional(Field.time),
  runId: Field.optional(Field.text),
  /** Further deliveries with the same key, and the time of the latest. */
  duplicates: Field.counter,
  duplicatedAt: Field.optional(Field.time)
})
export type StoredEvent = RecordValues<typeof StoredEvent>

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

/** Selects deliveries whose text has all of these terms (domain/SearchText.ts), in addition to the filter. */
export interface EventSearch extends EventFilter {
  readonly terms: ReadonlyArray<string>
}

interface FoundEvents {
  readonly events: ReadonlyArray<StoredEvent>
  /** Id of the last record of the part that was searched to its end; undefined if the list ends there, or the limit was reached before. */
  readonly searchedTo: string | undefined
}

/** Number of records with a decision and a reason, and the time of the latest. */
export const DecisionCount = record({
  decision: Field.stored(EventDecision),
  /** Only of a decision that starts no work. */
  reason: Field.optional(Field.text),
  count: Field.integer,
  lastAt: Field.time
})
export type DecisionCount = RecordValues<typeof DecisionCount>

/** Deliveries of a trigger within a period. Times are milliseconds since the epoch. */
export interface TriggerActivity {
  readonly trigger: string
  readonly lastAt: number | undefined
  readonly lastAcceptedAt: number | undefined
  /** Numbers of its newest part. */
  readonly recent: number
  readonly recentIgnored: number
}

/** A repository that deliveries were about, and a branch of which a push was accepted; undefined: of other deliveries. */
export const DeliverySource = record({ repo: Field.text, branch: Field.optional(Field.text) })
export type DeliverySource = RecordValues<typeof DeliverySource>

/** Accounts that pushed to the head of a pull request, according to its deliveries. */
export interface Pushers {
  readonly usernames: ReadonlyArray<string>
  /** Whether one of them pushed this head. */
  readonly pushedHead: boolean
  /** Whether there are more than were read. */
  readonly isPart: boolean
}

/** An account that deleted or edited comments of the service on a pull request, and when it did so last, in milliseconds since the epoch. */
interface Touch {
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
    /** Returns the routing receipts of these revisions, of any server of the provider. */
    readonly reported: (
      provider: string,
      revisions: ReadonlyArray<string>
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
    /** Searches a part of the list, and returns where the next part begins. */
    readonly search: (search: EventSearch) => Effect.Effect<FoundEvents, StoreError>
    /** Returns the repositories of all readable deliveries of a trigger, each with the branches whose pushes were accepted. */
    readonly sources: (trigger: string) => Effect.Effect<ReadonlyArray<DeliverySource>, StoreError>
    /** Counts records by decision and reason, the most frequent first. */
    readonly countDecisions: (
      filter: Pick<EventFilter, "since" | "trigger" | "workspace">
    ) => Effect.Effect<ReadonlyArray<DecisionCount>, StoreError>
    /** Returns the deliveries of each trigger since then, without changes that a search found, and the numbers of those since `recentSince`. */
    readonly activity: (period: {
      readonly since: number
      readonly recentSince: number
    }) => Effect.Effect<ReadonlyArray<TriggerActivity>, StoreError>
    /** Removes settled and ignored records beyond `maxCount` or received before `before`. Returns how many. */
    readonly prune: (keep: { readonly maxCount: number; readonly before: number }) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Receipts") {}
