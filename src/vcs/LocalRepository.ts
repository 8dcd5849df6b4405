/** Local repository for the command line: resolves its revisions, before it is checked out like any other. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { CheckoutError } from "./Checkout.ts"

/** Changes that have no commit: those in the index, or all in the work tree that are not ignored. */
export type UncommittedChanges = "staged" | "uncommitted"

export interface LocalRange {
  /** Top folder of the work tree, or of the bare repository. */
  readonly root: string
  /** Full commit ids. */
  readonly base: string
  readonly head: string
  /** The base as given or determined, such as `origin/main`. */
  readonly baseName: string
  /** True for a shallow history, which may not contain the merge base. */
  readonly shallow: boolean
}

export class LocalRepository extends Context.Service<
  LocalRepository,
  {
    /**
     * Resolves revisions in the repository that holds `path`. Head defaults to HEAD; base to the default branch of origin, the
     * upstream of the current branch, main or master: the first one that is not the head itself. With `changes` the head is a commit of
     * these on HEAD, and base defaults to HEAD.
     */
    readonly range: (request: {
      readonly path: string
      readonly base: string | undefined
      readonly head: string | undefined
      readonly changes?: UncommittedChanges | undefined
    }) => Effect.Effect<LocalRange, CheckoutError>
    /** Returns a text file in the work tree, committed or not; undefined where there is none, or it is larger. */
    readonly file: (root: string, path: string, maxBytes: number) => Effect.Effect<string | undefined, CheckoutError>
    /** Fetches the history that a shallow clone lacks, with the user's own remote and credentials. */
    readonly deepen: (root: string) => Effect.Effect<void, CheckoutError>
  }
>()("aicr/vcs/LocalRepository") {}
