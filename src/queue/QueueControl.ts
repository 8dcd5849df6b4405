/**
 * What operators do with the queue, besides cancelling by target (Queue.cancel): look, cancel one entry, try a dead one again,
 * hold back a workspace or a node. Every store of the queue gives this too. A pause is kept by the store like the entries are.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { Entry, EntryStatus } from "../domain/Entry.ts"
import type { Cancelled, QueueError } from "./Queue.ts"

/** A paused workspace starts nothing; a paused (drained) node takes no more work. What runs is finished, what comes is accepted. */
export interface Pause {
  readonly scope: "workspace" | "node"
  /** Workspace id, or name of the node (NodeIdentity). */
  readonly name: string
  /** By whom and why, in words. */
  readonly reason: string
  readonly since: number
}

export interface ListFilter {
  readonly workspace?: string | undefined
  /** Left out: all. */
  readonly statuses?: ReadonlyArray<EntryStatus> | undefined
  readonly targetKey?: string | undefined
  /** Entries after this one, in the order of their ids, which is that of their creation. */
  readonly after?: string | undefined
  readonly limit: number
}

export interface ListPage {
  readonly entries: ReadonlyArray<Entry>
  /** `after` of the next page; undefined when there is none. A page may be short, or even empty, and still have a next one. */
  readonly next: string | undefined
}

/** `newer`: a newer review of the target waits already and stands for it. */
export type Retried = "retried" | "unknown" | "not_dead" | "newer"

export class QueueControl extends Context.Service<
  QueueControl,
  {
    readonly list: (filter: ListFilter) => Effect.Effect<ListPage, QueueError>
    /** Ends a waiting or ready entry, asks the worker of a running one to end it, leaves an ended one as it is. */
    readonly cancelEntry: (entryId: string, reason: string) => Effect.Effect<Cancelled, QueueError>
    /** dead -> waiting, due now, with all its attempts before it. The limits on waiting entries do not hold for it. */
    readonly retry: (entryId: string, now: number) => Effect.Effect<Retried, QueueError>
    /** Repeating it replaces the reason. */
    readonly pause: (pause: Pause) => Effect.Effect<void, QueueError>
    readonly resume: (scope: Pause["scope"], name: string) => Effect.Effect<void, QueueError>
    readonly pauses: Effect.Effect<ReadonlyArray<Pause>, QueueError>
  }
>()("aicr/queue/QueueControl") {}

/** As stores name a pause. */
export const pauseKey = (scope: Pause["scope"], name: string): string => `${scope}:${name}`

export const pauseOf = (pauses: ReadonlyArray<Pause>, scope: Pause["scope"], name: string): Pause | undefined =>
  pauses.find((pause) => pause.scope === scope && pause.name === name)
