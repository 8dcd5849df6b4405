/**
 * Reads the files of a change from the server that holds its repository: what an adapter of such a system provides. `SourceCheckout`
 * makes a checkout of it, so that all systems have the same diffs.
 */
import type { Effect } from "effect"
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
  /** Writes the files of the head into an empty folder; fails with `limit` when they are larger than `maxBytes`. */
  readonly exportTo: (folder: string, maxBytes: number) => Effect.Effect<void, CheckoutError>
}
