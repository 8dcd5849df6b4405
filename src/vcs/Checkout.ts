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
  /** The last commit of the head alone, unless history was rewritten between base and head. */
  readonly headOnly?: boolean | undefined
  /** PEM file to trust beside the system's, and a proxy: the trigger's `tls_ca_path` and `http_proxy`. */
  readonly tlsCaPath?: string | undefined
  readonly proxy?: Redacted.Redacted | undefined
}

export class CheckoutError extends Schema.TaggedError<CheckoutError>()("CheckoutError", {
  /** `unreachable` may pass; `unauthorized`, `missing` (no such commit or repository) and `failed` (git said no) do not. */
  reason: Schema.Literals(["unreachable", "unauthorized", "missing", "failed"]),
  message: Schema.String
}) {}

export interface BlameLine {
  readonly line: number
  readonly commit: string
  readonly author: string
  /** Seconds since the epoch. */
  readonly time: number
}

/** One commit of the range under review. */
export interface RangeCommit {
  readonly id: string
  /** First line of its message. */
  readonly title: string
  /** What it changed, in the format of `Checkout.diff`. */
  readonly diff: Stream.Stream<Uint8Array, CheckoutError>
}

export interface Checkout {
  /** Worktree at the head, made on first use: reviews that only read files by `file` never pay for it. */
  readonly directory: Effect.Effect<string, CheckoutError>
  readonly head: string
  /** What the diff starts from: the merge base, or the base itself. */
  readonly from: string
  /**
   * Unified diff as git prints it: a/ b/ prefixes, full index lines, renames found, three lines of context, binary files
   * named only. Streamed, so that its reader bounds it: leaving the stream early ends git.
   */
  readonly diff: Stream.Stream<Uint8Array, CheckoutError>
  /**
   * Commits between `from` and the head, oldest first, without merges; undefined where history was rewritten or they are too
   * many. Absent where the system has no commits within a change.
   */
  readonly commits?: Effect.Effect<ReadonlyArray<RangeCommit> | undefined, CheckoutError>
  /** Content at the head or at `from`; undefined when there is no such file, it is binary, or larger than `maxBytes`. */
  readonly file: (
    path: string,
    at: "head" | "from",
    maxBytes: number
  ) => Effect.Effect<string | undefined, CheckoutError>
  /** Names of the files directly in a directory (`""` is the root), at most `limit`; empty when there is no such directory. */
  readonly list: (
    directory: string,
    at: "head" | "from",
    limit: number
  ) => Effect.Effect<ReadonlyArray<string>, CheckoutError>
  /** Who last changed lines `start` to `end` of a file at the head; empty when there are no such lines. */
  readonly blame: (path: string, start: number, end: number) => Effect.Effect<ReadonlyArray<BlameLine>, CheckoutError>
}

export class Vcs extends Context.Service<
  Vcs,
  {
    readonly checkout: (request: CheckoutRequest) => Effect.Effect<Checkout, CheckoutError, Scope.Scope>
  }
>()("aicr/vcs/Vcs") {}
