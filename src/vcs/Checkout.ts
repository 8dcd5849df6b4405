/**
 * A read-only view of the revision under review. Git: one bare mirror per repository, only the needed commits fetched, a
 * detached worktree per checkout, removed with the scope. Nothing of the checked-out tree is ever executed.
 */
import { Context, Schema } from "effect"
import type { Effect, Redacted, Scope, Stream } from "effect"

export interface CheckoutRequest {
  /** Clone URL or local path of the repository. */
  readonly url: string
  /** Name for the mirror's folder, unique per repository, e.g. `gitea-main/owner/name`. */
  readonly mirror: string
  /** Extra HTTP header with the credential; handed to git through its environment only. */
  readonly authorization: Redacted.Redacted | undefined
  /** Commit to review: full id. */
  readonly head: string
  /** Commit it is compared with: full id (the tip of the base branch; the merge base is found here). */
  readonly base: string
  /** Refs to try where the server does not serve commits by id, e.g. `refs/pull/7/head`, `refs/heads/main`. */
  readonly headRef: string | undefined
  readonly baseRef: string | undefined
  /** `merge-base`: three-dot, what the head adds. `endpoints`: two-dot, for pushes. */
  readonly compare: "merge-base" | "endpoints"
  /** What `rules` of the checkout reads; undefined: there are no rules. Never a commit that the author of the change chose. */
  readonly rules: { readonly commit: string; readonly ref: string | undefined } | undefined
  /** The last commit of the head alone, unless history was rewritten between base and head. */
  readonly headOnly?: boolean | undefined
  /** PEM file to trust beside the system's, and a proxy: the trigger's `tls_ca_path` and `http_proxy`. */
  readonly tlsCaPath?: string | undefined
  readonly proxy?: Redacted.Redacted | undefined
}

export class CheckoutError extends Schema.TaggedError<CheckoutError>()("CheckoutError", {
  /**
   * `unreachable` may pass; `unauthorized`, `missing` (no such commit or repository), `failed` (git said no) and `limit` (the repository
   * or the change needs more than it may) do not.
   */
  reason: Schema.Literals(["unreachable", "unauthorized", "missing", "failed", "limit"]),
  message: Schema.String
}) {}

/** `from` is what the diff starts from, `rules` the commit that the project's own rules for reviews are read from. */
export type Revision = "head" | "from" | "rules"

export interface BlameLine {
  readonly line: number
  readonly commit: string
  readonly author: string
  /** Seconds since the epoch. */
  readonly time: number
}

/** A path that differs between two revisions. A renamed file is one that was deleted and one that was added. */
export interface ChangedPath {
  readonly path: string
  readonly status: "added" | "deleted" | "modified"
  /** As git writes it; undefined on the side where the path is not. */
  readonly oldMode: string | undefined
  readonly newMode: string | undefined
}

/** What differs between two revisions: first which paths, then how large they are, then the text of those that are chosen. */
export interface Comparison {
  /** In the order of a diff. Nothing of a file is read. Fails with `limit` where there are more. */
  readonly changes: (maxPaths: number) => Effect.Effect<ReadonlyArray<ChangedPath>, CheckoutError>
  /** Bytes of each path of `changes` on its larger side, in the same order. Nothing of a file is read. */
  readonly sizes: (paths: ReadonlyArray<ChangedPath>) => Effect.Effect<ReadonlyArray<number>, CheckoutError>
  /**
   * Unified diff as git prints it, of these paths of `changes` and no other: a/ b/ prefixes, full index lines, three lines of context,
   * binary files named only. Renames among the paths are found; with `exactRenames` only those without another change. Streamed, so
   * that its reader bounds it: leaving the stream early ends git.
   */
  readonly diff: (paths: ReadonlyArray<ChangedPath>, exactRenames: boolean) => Stream.Stream<Uint8Array, CheckoutError>
}

/** One commit of the range under review, compared with the one before it. */
export interface RangeCommit extends Comparison {
  readonly id: string
  /** First line of its message. */
  readonly title: string
}

/** Compares `from` with the head. */
export interface Checkout extends Comparison {
  /** Worktree at the head, made on first use: reviews that only read files by `file` never pay for it. */
  readonly directory: Effect.Effect<string, CheckoutError>
  readonly head: string
  /** What the diff starts from: the merge base, or the base itself. */
  readonly from: string
  /**
   * Commits between `from` and the head, oldest first, without merges; undefined where history was rewritten or they are too
   * many. Absent where the system has no commits within a change.
   */
  readonly commits?: Effect.Effect<ReadonlyArray<RangeCommit> | undefined, CheckoutError>
  /** Content at a revision; undefined when there is no such file, it is binary, or larger than `maxBytes`. */
  readonly file: (path: string, at: Revision, maxBytes: number) => Effect.Effect<string | undefined, CheckoutError>
  /** Names of the files directly in a directory (`""` is the root), at most `limit`; empty when there is no such directory. */
  readonly list: (directory: string, at: Revision, limit: number) => Effect.Effect<ReadonlyArray<string>, CheckoutError>
  /** Who last changed lines `start` to `end` of a file at the head; empty when there are no such lines. */
  readonly blame: (path: string, start: number, end: number) => Effect.Effect<ReadonlyArray<BlameLine>, CheckoutError>
}

export class Vcs extends Context.Service<
  Vcs,
  {
    readonly checkout: (request: CheckoutRequest) => Effect.Effect<Checkout, CheckoutError, Scope.Scope>
    /** Whether the base is part of the history of the head. Both are fetched first, unless they are here. */
    readonly isAncestor: (request: CheckoutRequest) => Effect.Effect<boolean, CheckoutError>
  }
>()("aicr/vcs/Vcs") {}
