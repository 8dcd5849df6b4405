/** Erases one person from the records and from the objects of reviews. The queue does the same for its entries (QueueControl.replaceEnded). */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import type { ErasedPerson } from "../domain/PersonErasure.ts"
import type { Objects } from "./Objects.ts"

/** Kinds of records that can hold a person, in the order in which they are erased: what names the person for others comes last. */
export const personFamilies = [
  "prompts",
  "agent_passes",
  "log_lines",
  "payloads",
  "publications",
  "findings",
  "lessons",
  "pauses",
  "batches",
  "chat_requests",
  "opt_outs",
  "notices",
  "sessions",
  "views",
  "tokens",
  "projects",
  "audit",
  "budgets",
  "reviews",
  "deliveries"
] as const
export type PersonFamily = (typeof personFamilies)[number]

/** Maximum number of addresses of comments that a result lists. */
export const maxListedComments = 50

export interface PersonFound {
  /** Number of records by kind: those that are, or would be, changed or removed. */
  readonly counts: Readonly<Record<PersonFamily, number>>
  /** Number of records of work that has not ended. They are not changed. */
  readonly unfinished: number
  /** Comments of the service about changes of the person, which stay at the host. */
  readonly comments: { readonly count: number; readonly urls: ReadonlyArray<string> }
}

export class PersonRecords extends Context.Service<
  PersonRecords,
  {
    /**
     * Finds the records of a person; `erases`: also changes or removes them, some hundred at a time, each set in one transaction. May be
     * repeated: after an interruption, a repetition does the rest.
     */
    readonly scan: (person: ErasedPerson, erases: boolean) => Effect.Effect<PersonFound, StoreError, Objects>
  }
>()("aicr/store/PersonRecords") {}
