/**
 * The current configuration. Reading is synchronous and cheap: a validated newer snapshot replaces the current one as a whole; an invalid
 * document replaces nothing.
 */
import { Context } from "effect"
import type { Effect, Stream } from "effect"
import type { Path } from "./document/Path.ts"
import type { DatabaseDocument } from "./revisions/DatabaseDocument.ts"
import type { FileBaseline } from "./revisions/FileBaseline.ts"
import type { RevisionHead } from "./revisions/Revision.ts"
import type { SealingKeys } from "./credentials/Sealing.ts"
import type { Snapshot } from "./Snapshot.ts"
import type { Reason } from "../domain/Reason.ts"

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
  /** Replaces the document of a hash if it is still the given one; returns whether it was. */
  readonly replace: (hash: string, before: string, after: string) => Effect.Effect<boolean, E>
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
  /** SHA-256 of the file, or of the reasons if it cannot be read. */
  readonly digest: string
}

/** A revision of the database that this node has refused. */
export interface RefusedRevision {
  readonly head: RevisionHead
  readonly errors: number
}

/** The file, to which revisions of the database are added (config_sources.database.enabled). */
export interface LayeredFile extends ConfigFileLines {
  /** Revision that is part of the current snapshot. */
  readonly active: RevisionHead
}

export interface ConfigFileLines {
  readonly file: string
  readonly baseline: FileBaseline
  /** Returns the line of a value of the file, by its path in the normalised document. */
  readonly line: (path: Path) => number | undefined
}

/** A revision of the database in its stored form. */
export type StoredRevision = RevisionHead & { readonly document: string }

/** A revision that this node has just published, with the snapshot that it makes. */
export interface PreparedRevision {
  readonly revision: RevisionHead
  readonly document: DatabaseDocument
  readonly snapshot: Snapshot
  /** The file and environment that the document was combined with. */
  readonly baseline: FileBaseline
}

export type Activation =
  | { readonly _tag: "Active" }
  | { readonly _tag: "Refused"; readonly problems: ReadonlyArray<Reason> }

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
    /** Undefined if the last revision that was read is current, or there is none. */
    readonly refusedRevision: () => RefusedRevision | undefined
    /** Undefined if configuration comes from the file only. */
    readonly layered: () => LayeredFile | undefined
    /** Returns the file with the lines of its values, of which a refused file has none; undefined if there is no file. */
    readonly lines: Effect.Effect<ConfigFileLines | undefined>
    /** Adds a revision to the file, in place of the one before. One that is invalid together with the file changes nothing. */
    readonly activate: (revision: StoredRevision) => Effect.Effect<Activation>
    /** Saves the next activation from reading this revision again. */
    readonly prepare: (prepared: PreparedRevision) => void
    /** Runs `adopt` for each call of `adoptHead`, which by default does nothing. */
    readonly adoptWith: (adopt: Effect.Effect<void>) => void
    /**
     * Activates the newest revision of the database if this node does not work with it yet. Called before each admission. Undefined if
     * configuration comes from the file only.
     */
    readonly adoptHead: () => Effect.Effect<void> | undefined
    /** Hashes of snapshots that unfinished work is pinned to. */
    readonly pinnedHashes: Effect.Effect<ReadonlySet<string>>
    /** Seals the credentials of pinned configurations with the current key. */
    readonly resealPinned: (
      keys: SealingKeys
    ) => Effect.Effect<{ readonly resealed: number; readonly failed: ReadonlyArray<Reason> }>
    /** Revisions that are part of those snapshots. */
    readonly pinnedRevisions: Effect.Effect<ReadonlySet<number>>
    /** Emits each snapshot that replaces another. */
    readonly changes: Stream.Stream<Snapshot>
  }
>()("aicr/config/ConfigStore") {}
