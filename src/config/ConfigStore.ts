/**
 * The current configuration. Reading is synchronous and cheap: a validated newer snapshot replaces the current one as a whole; an invalid
 * document replaces nothing.
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
  /** Stores a document before it becomes current. Idempotent. */
  readonly keep: (archived: ArchivedDocument) => Effect.Effect<void, E>
  readonly find: (hash: string) => Effect.Effect<ArchivedDocument | undefined, E>
  /** Hashes that unfinished work is pinned to. */
  readonly pinned: Effect.Effect<ReadonlySet<string>, E>
}

export type RefusalReason = "empty" | "invalid" | "no_triggers" | "unreadable"

/** The last document that was read, if it was refused. */
export interface RefusedDocument {
  readonly file: string
  readonly reason: RefusalReason
  readonly errors: number
  /** Line of the first error. */
  readonly line: number | undefined
  readonly since: number
}

export class ConfigStore extends Context.Service<
  ConfigStore,
  {
    readonly current: () => Snapshot
    /**
     * Returns the snapshot with this hash, under which work was admitted: from memory, otherwise from the archive, across restarts and
     * nodes. Returns the current one, and logs it, only if the hash is unknown.
     */
    readonly pinned: (hash: string) => Effect.Effect<Snapshot>
    /** Archives each later document before it becomes current. */
    readonly keepIn: <E extends { readonly message: string }>(archive: SnapshotArchive<E>) => Effect.Effect<void, E>
    /** Reads the sources again; an invalid document is reported and does not replace the current snapshot. */
    readonly reload: Effect.Effect<"unchanged" | "replaced" | "refused">
    /** Undefined if the last document that was read is current. */
    readonly refused: () => RefusedDocument | undefined
    /** Emits each snapshot that replaces another. */
    readonly changes: Stream.Stream<Snapshot>
  }
>()("aicr/config/ConfigStore") {}
