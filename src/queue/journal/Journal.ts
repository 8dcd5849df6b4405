/**
 * The log of changes that makes one queue of the tables that several nodes hold in memory. A message is appended behind the last one if its
 * writer has seen everything that its decision depends on: the writer names the last message that it has seen and the scope of its
 * decision, and the messages behind that one may be about anything else. What decisions do not need (details of entries) is stored next to
 * the log, written together with a message or not at all.
 *
 * ```
 * load snapshot ──▶ follow what comes behind it ──▶ append ──appended──▶ apply what was missed: the table is as far as the log
 *                        ▲                            ├──conflict──▶ apply what was missed, decide again
 *                        └────────── trimmed ◀────────┘
 * ```
 */
import { Schema } from "effect"
import type { Effect, Option } from "effect"
import { newId } from "../../domain/Ids.ts"
import { Reason } from "../../domain/Reason.ts"
import { inEnglish } from "../../text/en.ts"
import { QueueError } from "../Queue.ts"

/** A position in the log: the sequence of a message, and its id, which differs in a log that lost its end and grew again. */
export interface JournalPosition {
  readonly sequence: number
  readonly id: string
}

/** The position before the first message. */
export const journalStart: JournalPosition = { sequence: 0, id: "0" }

export interface JournalRecord extends JournalPosition {
  /** Id of the message before it; undefined in a message that is too damaged to have one. */
  readonly after: string | undefined
  /** Rows as text (core/RowText.ts), or what a damaged message has in their position. */
  readonly rows: string
}

/** Returns a new id of a message: a number of 64 bits, so that a store may sort by position. */
export const newMessageId = (): string => BigInt(`0x${newId().replaceAll("-", "").slice(16)}`).toString()

/** The changes that are written with a message. Undefined values are removed. */
export interface JournalChanges {
  /** The changed rows, for the tables of all nodes. */
  readonly rows: string
  readonly details: ReadonlyMap<string, string | undefined>
  /** The words for everything that the decision depends on and changes, without spaces. */
  readonly scope: ReadonlyArray<string>
  /** The decision depends on something that has no word. */
  readonly isStrict: boolean
}

export type AppendResult =
  /** `missed` has the messages between the last one that the writer knew and its own. */
  | {
      readonly _tag: "Appended"
      readonly position: JournalPosition
      readonly missed: ReadonlyArray<JournalRecord>
    }
  /** The decision depends on a message that the writer had not seen. `missed` has the first of these, as far as they still exist. */
  | { readonly _tag: "Conflict"; readonly missed: ReadonlyArray<JournalRecord> }

export class JournalError extends Schema.TaggedError<JournalError>()("JournalError", {
  /**
   * `unavailable`: the call failed, and may have been executed. `refused`: it failed, and wrote nothing. `too_large`: the same for changes
   * that are larger than one message may be. `lost`: the journal lacks what it should have. `newer`: upgrade the node.
   */
  reason: Schema.Literals(["unavailable", "refused", "too_large", "lost", "newer"]),
  /** The server that is disconnected, if that is the cause. */
  disconnected: Schema.optionalKey(Schema.Literals(["redis", "nats"])),
  why: Reason
}) {
  override get message(): string {
    return inEnglish(this.why)
  }
}

/** Returns the error of a queue whose journal fails. */
export const toQueueError = ({ disconnected, why }: JournalError): QueueError =>
  new QueueError({ reason: "unavailable", why, ...(disconnected === undefined ? {} : { disconnected }) })

export interface Journal {
  /** Appends what was decided knowing all up to `known`. `id` is unique: its writer looks for it when the response was lost. */
  readonly append: (
    id: string,
    changes: JournalChanges,
    known: JournalPosition
  ) => Effect.Effect<AppendResult, JournalError>
  /** Returns the position of the last message. */
  readonly last: Effect.Effect<JournalPosition, JournalError>
  /** The next messages after `sequence`, some hundred at a time, oldest first. The first one has another sequence when the log was trimmed. */
  readonly follow: (sequence: number) => Effect.Effect<ReadonlyArray<JournalRecord>, JournalError>
  /** Hands each page of the newest snapshot to `take`. Returns its position; undefined when there is none. Fails as `lost` without its pages. */
  readonly load: (take: (page: string) => void) => Effect.Effect<JournalPosition | undefined, JournalError>
  /**
   * Stores a snapshot of a table, to which every message after `position` can be applied once more, and removes the messages up to the
   * position of the snapshot before it, so that nodes that are a little behind go on. `nextPage` has its pages one after another. Returns false when another node writes one.
   */
  readonly trim: (
    position: JournalPosition,
    nextPage: Effect.Effect<Option.Option<string>, JournalError>
  ) => Effect.Effect<boolean, JournalError>
  /** Returns the details of these entries, in order. */
  readonly details: (entryIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string | undefined>, JournalError>
}
