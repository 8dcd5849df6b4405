/**
 * Operations of operators on the queue, in addition to cancelling by target (Queue.cancel): list, cancel one entry, retry a dead one, pause
 * a workspace or a node. Every store of the queue implements this. The store keeps pauses like entries.
 */
import { Context, Schema } from "effect"
import type { Effect, Stream } from "effect"
import type { Change } from "../../domain/Change.ts"
import type { Entry, EntryStatus } from "../../domain/Entry.ts"
import type { TargetKey } from "../../domain/Keys.ts"
import * as Field from "../../domain/Field.ts"
import { Reason } from "../../domain/Reason.ts"
import type { Cancelled, QueueError } from "../Queue.ts"

/** A paused workspace starts nothing; a paused (drained) node takes no more work. Running reviews finish, and deliveries are accepted. */
export const pauseFields = {
  scope: Field.stored(Schema.Literals(["workspace", "node"])),
  /** Workspace id, or name of the node (NodeIdentity). */
  name: Field.text,
  reason: Field.reason,
  since: Field.time
}
export type Pause = Field.Values<typeof pauseFields>

/** The reason why an entry is in its state, and the end of that. */
export const waitingFields = {
  why: Field.reason,
  until: Field.optional(Field.time),
  /** Position among the entries of its workspace that may start now, from 1; undefined for others and beyond those that were read. */
  position: Field.optional(Field.integer),
  /** Time before which it cannot start; undefined if it may start now, or if only an event can change that. */
  startsAfter: Field.optional(Field.time),
  /** Entry that must end before it starts. */
  behind: Field.optional(Field.text)
}
export type WaitingPosition = Field.Values<typeof waitingFields>

/** Part of a change that the queue has in memory. */
export interface ListedChange extends Pick<Change, "head" | "provider">, Pick<Change["target"], "kind"> {
  /** Number or branch of the target. */
  readonly name: string
}

export interface ListFilter {
  readonly workspace?: string | undefined
  /** Default: all. */
  readonly statuses?: ReadonlyArray<EntryStatus> | undefined
  readonly targetKey?: TargetKey | undefined
  /** Lists only entries whose change it accepts. */
  readonly accepts?: ((change: ListedChange) => boolean) | undefined
  /** Earliest time of admission, and the time before which it was, in milliseconds since the epoch. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Lists entries that follow this one. */
  readonly after?: string | undefined
  /** Lists the entries that were created last first. Default: in the order of their ids, which is that of their creation. */
  readonly newestFirst?: boolean | undefined
  readonly limit: number
}

export interface ListPage {
  readonly entries: ReadonlyArray<Entry>
  /** `after` of the next page; undefined if there is none. A page may be short, or even empty, and still have a next one. */
  readonly next: string | undefined
}

/** `newer`: a newer review of the target waits already and replaces it. */
export type Retried = "retried" | "unknown" | "not_dead" | "newer"

export class QueueControl extends Context.Service<
  QueueControl,
  {
    readonly list: (filter: ListFilter) => Effect.Effect<ListPage, QueueError>
    /** Ends a waiting or ready entry, requests the worker of a running one to end it, leaves an ended one unchanged. */
    readonly cancelEntry: (entryId: string, reason: Reason) => Effect.Effect<Cancelled, QueueError>
    /** Moves dead -> waiting, due now, with a full number of attempts. The limits on waiting entries do not apply. */
    readonly retry: (entryId: string, now: number) => Effect.Effect<Retried, QueueError>
    /** Pauses. Repeating it replaces the reason. */
    readonly pause: (pause: Pause) => Effect.Effect<void, QueueError>
    readonly resume: (scope: Pause["scope"], name: string) => Effect.Effect<void, QueueError>
    readonly pauses: Effect.Effect<ReadonlyArray<Pause>, QueueError>
    /** Replaces the changes and reasons of ended entries, which texts were erased from. Returns how many still exist and are ended. */
    readonly replaceEnded: (
      entries: ReadonlyArray<Pick<Entry, "id" | "change" | "reason">>
    ) => Effect.Effect<number, QueueError>
    /** Removes what stores keep of earlier changes of entries, as far as no node needs it any more. */
    readonly compact: Effect.Effect<void, QueueError>
    /** Emits the pauses, and again when they may have changed: those of other nodes some seconds later. */
    readonly watchPauses: Stream.Stream<ReadonlyArray<Pause>>
  }
>()("aicr/queue/QueueControl") {}

/** Returns the key of a pause in stores. */
export const pauseKey = (scope: Pause["scope"], name: string): string => `${scope}:${name}`

export const findPause = (pauses: ReadonlyArray<Pause>, scope: Pause["scope"], name: string): Pause | undefined =>
  pauses.find((pause) => pause.scope === scope && pause.name === name)
