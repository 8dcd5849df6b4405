/**
 * The configuration in force. Reading is synchronous and cheap: the current snapshot is replaced whole when a newer one has
 * been validated; a document that does not validate replaces nothing.
 */
import { Context } from "effect"
import type { Effect, Stream } from "effect"
import type { Snapshot } from "./Snapshot.ts"

export interface ArchivedDocument {
  readonly hash: string
  /** JSON without any secret in clear. */
  readonly document: string
}

export interface SnapshotArchive<E> {
  /** Stores a document before it comes into force; storing it again is harmless. */
  readonly keep: (archived: ArchivedDocument) => Effect.Effect<void, E>
  readonly find: (hash: string) => Effect.Effect<ArchivedDocument | undefined, E>
  /** Hashes that unfinished work is pinned to. */
  readonly pinned: Effect.Effect<ReadonlySet<string>, E>
}

export type RefusalReason = "empty" | "invalid" | "no_triggers" | "unreadable"

/** A document that was read last and is not in force. */
export interface RefusedDocument {
  readonly file: string
  readonly reason: RefusalReason
  readonly errors: number
  /** Of the first error. */
  readonly line: number | undefined
  readonly since: number
}

export class ConfigStore extends Context.Service<
  ConfigStore,
  {
    readonly current: () => Snapshot
    /**
     * The snapshot with this hash, which work was admitted under: from memory, else from the archive, across restarts and nodes.
     * The current one only where nothing knows it any more, which is logged.
     */
    readonly pinned: (hash: string) => Effect.Effect<Snapshot>
    /** From now on each document is in this archive before it comes into force. */
    readonly keepIn: <E extends { readonly message: string }>(archive: SnapshotArchive<E>) => Effect.Effect<void, E>
    /** Reads the sources again; a bad document leaves the current snapshot in place and is reported. */
    readonly reload: Effect.Effect<"unchanged" | "replaced" | "refused">
    /** Undefined while what was read last is in force. */
    readonly refused: () => RefusedDocument | undefined
    /** Each snapshot that replaces another. */
    readonly changes: Stream.Stream<Snapshot>
  }
>()("aicr/config/ConfigStore") {}
