/**
 * Reads the files of a change from the server that holds its repository: what an adapter of such a system provides. `SourceCheckout`
 * makes a checkout of it, so that all systems have the same diffs.
 */
import type { Effect, Scope } from "effect"
import type { BlameLine, ChangedPath, CheckoutError, Revision } from "../Checkout.ts"

/** One side of a changed path. */
export interface FileSide {
  readonly path: string
  readonly at: "from" | "head"
}

/** A file that was copied from one that still exists: the diff shows what differs from that. */
export interface CopiedPath {
  readonly path: string
  /** Exists at `from`. */
  readonly source: string
}

/** One change of a range, compared with the one before it. */
export interface SourceStep {
  readonly id: string
  /** First line of its message. */
  readonly title: string
  readonly open: Effect.Effect<FileSource, CheckoutError, Scope.Scope>
}

export interface FileSource {
  readonly head: string
  readonly from: string
  /** Lists the changed files. Fails with `limit` if there are more, before it has read all of them. */
  readonly changes: (maxPaths: number) => Effect.Effect<ReadonlyArray<ChangedPath>, CheckoutError>
  /** Returns the bytes of the larger side of each path, in order, without reading files. */
  readonly sizes: (paths: ReadonlyArray<ChangedPath>) => Effect.Effect<ReadonlyArray<number>, CheckoutError>
  /** Reads files as stored, without expanded keywords; `keep` gets each that exists, with its index. */
  readonly contents: (
    sides: ReadonlyArray<FileSide>,
    keep: (index: number, content: Uint8Array) => Effect.Effect<void, CheckoutError>
  ) => Effect.Effect<void, CheckoutError>
  /** Returns which of these added files are copies. */
  readonly copies: (added: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<CopiedPath>, CheckoutError>
  /** Undefined: it does not exist, or is larger than `maxBytes`. */
  readonly file: (path: string, at: Revision, maxBytes: number) => Effect.Effect<Uint8Array | undefined, CheckoutError>
  readonly list: (directory: string, at: Revision, limit: number) => Effect.Effect<ReadonlyArray<string>, CheckoutError>
  readonly blame: (path: string, start: number, end: number) => Effect.Effect<ReadonlyArray<BlameLine>, CheckoutError>
  /** Messages between `from` and the head, oldest first. */
  readonly messages: Effect.Effect<ReadonlyArray<string>, CheckoutError>
  /** Changes between `from` and the head, oldest first; undefined if there are too many or it has no start. */
  readonly steps: Effect.Effect<ReadonlyArray<SourceStep> | undefined, CheckoutError>
  /** Writes the files of the head into an empty folder; fails with `limit` when they are larger than `maxBytes`. */
  readonly exportTo: (folder: string, maxBytes: number) => Effect.Effect<void, CheckoutError>
}
