/**
 * A read-only view of the revision under review: the contract of every version control system. Git: one bare mirror per repository, only
 * the needed commits fetched, a detached worktree per checkout, removed with the scope. Systems whose repository is on their server:
 * only the changed files are fetched. Nothing of the checked-out tree is ever executed.
 */
import { Context, Schema } from "effect"
import type { Effect, Redacted, Scope, Stream } from "effect"
import { Reason } from "../domain/Reason.ts"
import { inEnglish } from "../text/en.ts"
import type { VcsServer } from "./server/VcsServer.ts"

export type CheckoutRequest = GitCheckoutRequest | ServerCheckoutRequest

/** A change of a system whose repository is on its server. */
export interface ServerCheckoutRequest {
  readonly vcs: VcsServer["vcs"]
  readonly server: VcsServer
  /** Subversion: branch below the URL of the server, `""` for the URL itself. Perforce: depot path, `//depot/main`. */
  readonly branch: string
  /** Number of the revision or changelist to review. */
  readonly head: string
  /** Number of the one to compare with; `"0"`: there is none, everything is new. */
  readonly base: string
  /** Reviews the last revision of the head only. */
  readonly headOnly?: boolean | undefined
}

export interface GitCheckoutRequest {
  readonly vcs?: "git" | undefined
  /** Clone URL or local path of the repository. */
  readonly url: string
  /** Name for the mirror's folder, unique per repository, e.g. `gitea-main/owner/name`. */
  readonly mirror: string
  /** Additional HTTP header with the credential; passed to git through its environment only. */
  readonly authorization: Redacted.Redacted | undefined
  /** Commit to review: full id. */
  readonly head: string
  /** Commit to compare with: full id (the tip of the base branch; the merge base is determined by the checkout). */
  readonly base: string
  /** Refs to try where the server does not serve commits by id, e.g. `refs/pull/7/head`, `refs/heads/main`. */
  readonly headRef: string | undefined
  readonly baseRef: string | undefined
  /** `merge-base`: three-dot, what the head adds. `endpoints`: two-dot, for pushes. */
  readonly compare: "merge-base" | "endpoints"
  /**
   * Commit that `rules` of the checkout reads; undefined: there are no rules. The author of the change must not be able to choose
   * it.
   */
  readonly rules: { readonly commit: string; readonly ref: string | undefined } | undefined
  /** Reviews the last commit of the head only, unless history was rewritten between base and head. */
  readonly headOnly?: boolean | undefined
  /** Fails with `absent` instead of fetching commits that the mirror does not have. */
  readonly isOffline?: boolean | undefined
  /** Additional trusted PEM file, and a proxy: the trigger's `tls_ca_path` and `http_proxy`. */
  readonly tlsCaPath?: string | undefined
  readonly proxy?: Redacted.Redacted | undefined
}

export class CheckoutError extends Schema.TaggedError<CheckoutError>()("CheckoutError", {
  /**
   * `unreachable` and `disk` (the disk of this node takes no writes) are transient. `absent`: the repository does not have the commit,
   * which a host may add to it later than its API names it. `unauthorized`, `missing` (no such repository, revision or file), `failed`
   * (git refused) and `limit` (the repository or the change exceeds a limit) are permanent.
   */
  reason: Schema.Literals(["unreachable", "unauthorized", "absent", "missing", "failed", "limit", "disk"]),
  /** Operators read it. */
  why: Reason
}) {
  override get message(): string {
    return inEnglish(this.why)
  }
}

/** `from` is the start of the diff, `rules` the commit from which the project's own rules for reviews are read. */
export type Revision = "head" | "from" | "rules"

export const BlameLine = Schema.Struct({
  line: Schema.Int,
  commit: Schema.String,
  author: Schema.String,
  /** Seconds since the epoch. */
  time: Schema.Int
})
export type BlameLine = typeof BlameLine.Type

/** A path that differs between two revisions. A renamed file is a deleted and an added one. */
export interface ChangedPath {
  readonly path: string
  readonly status: "added" | "deleted" | "modified"
  /** Mode in git's notation; undefined on the side without the path. */
  readonly oldMode: string | undefined
  readonly newMode: string | undefined
}

/** Comparison of two revisions in steps: the changed paths, their sizes, and the text of selected paths. */
export interface Comparison {
  /** Lists the changed paths in the order of a diff, without reading files. Fails with `limit` if there are more. */
  readonly changes: (maxPaths: number) => Effect.Effect<ReadonlyArray<ChangedPath>, CheckoutError>
  /** Returns the bytes of each path of `changes` on its larger side, in the same order, without reading files. */
  readonly sizes: (paths: ReadonlyArray<ChangedPath>) => Effect.Effect<ReadonlyArray<number>, CheckoutError>
  /**
   * Streams git's unified diff of only these paths of `changes`: a/ b/ prefixes, full index lines, three lines of context, binary
   * files by name only. Detects renames among the paths; with `exactRenames` only those without another change. The reader bounds
   * the stream: ending it early ends git.
   */
  readonly diff: (paths: ReadonlyArray<ChangedPath>, exactRenames: boolean) => Stream.Stream<Uint8Array, CheckoutError>
}

/** One commit of the range under review, compared with the one before it. */
export interface RangeCommit extends Comparison {
  readonly id: string
  /** First line of its message. */
  readonly title: string
}

/** Paths of files of one revision. Links and submodules are not among them. */
export interface FoundPaths {
  /** Sorted as git does. */
  readonly paths: ReadonlyArray<string>
  /** Whether there are more than the limit. */
  readonly more: boolean
}

export interface TextSearch {
  /** Texts within one line, not patterns, so that no expression of outsiders reaches git. */
  readonly texts: ReadonlyArray<string>
  readonly ignoreCase: boolean
  /** Whether a text has to be a whole word. */
  readonly words: boolean
  /** Folder or file to search; `""` is the root. */
  readonly under: string
}

export interface RevisionSearch {
  /** Returns the text files that contain at least one of the texts. */
  readonly filesWith: (search: TextSearch, limit: number) => Effect.Effect<FoundPaths, CheckoutError>
  /** Returns all files in a folder and its folders; `""` is the root. */
  readonly filesUnder: (folder: string, limit: number) => Effect.Effect<FoundPaths, CheckoutError>
}

/** A file at a revision. */
interface Blob {
  /** The same for the same content in this repository. */
  readonly id: string
  readonly bytes: number
}

/** Files by the ids of their contents, so that what is derived from a content can be kept. */
interface Blobs {
  /** Path for a file with what is derived from contents. It is removed with the repository, may be lost at any time, and must be bounded. */
  readonly index: string
  /** Returns the files at these paths in one request; undefined for other paths. */
  readonly find: (
    paths: ReadonlyArray<string>,
    at: Revision
  ) => Effect.Effect<ReadonlyArray<Blob | undefined>, CheckoutError>
  /** Returns the text; undefined if the file is binary or larger than `maxBytes`. */
  readonly read: (id: string, maxBytes: number) => Effect.Effect<string | undefined, CheckoutError>
}

/** Compares `from` with the head. */
export interface Checkout extends Comparison {
  /** Worktree at the head, created on first use, because most reviews read files only through `file`. */
  readonly directory: Effect.Effect<string, CheckoutError>
  readonly head: string
  /** Start of the diff: the merge base, or the base itself. */
  readonly from: string
  /**
   * Commits between `from` and the head, oldest first, without merges; undefined if history was rewritten or there are too many.
   * Absent for systems without commits within a change.
   */
  readonly commits?: Effect.Effect<ReadonlyArray<RangeCommit> | undefined, CheckoutError>
  /**
   * Messages of the last commits between `from` and the head, oldest first, of which long ones are cut or absent; empty if history
   * was rewritten. Absent as above.
   */
  readonly messages?: Effect.Effect<ReadonlyArray<string>, CheckoutError>
  /** Content at a revision; undefined if the file does not exist, is binary, or is larger than `maxBytes`. */
  readonly file: (path: string, at: Revision, maxBytes: number) => Effect.Effect<string | undefined, CheckoutError>
  /** Absent for systems without ids of contents. */
  readonly blobs?: Blobs | undefined
  /** Names of the files directly in a directory (`""` is the root), at most `limit`; empty if it does not exist. */
  readonly list: (directory: string, at: Revision, limit: number) => Effect.Effect<ReadonlyArray<string>, CheckoutError>
  /** Names of the folders directly in a directory, as above. Absent for systems whose lists have no folders. */
  readonly folders?:
    | ((directory: string, at: Revision, limit: number) => Effect.Effect<ReadonlyArray<string>, CheckoutError>)
    | undefined
  /** Returns who last changed lines `start` to `end` of a file at the head; empty if the lines do not exist. */
  readonly blame: (path: string, start: number, end: number) => Effect.Effect<ReadonlyArray<BlameLine>, CheckoutError>
  /** Searches the head. */
  readonly search: RevisionSearch
}

/** Checks changes out. */
export interface Checkouts<Request> {
  /** The checkout fetches nothing before its first use, except for git, which fetches the commits. */
  readonly checkout: (request: Request) => Effect.Effect<Checkout, CheckoutError, Scope.Scope>
  /** Returns whether the base is part of the history of the head. Git fetches missing commits first. */
  readonly isAncestor: (request: Request) => Effect.Effect<boolean, CheckoutError>
}

export class Vcs extends Context.Service<Vcs, Checkouts<CheckoutRequest>>()("aicr/vcs/Vcs") {}
