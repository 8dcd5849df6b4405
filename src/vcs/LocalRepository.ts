/** Local repository for the command line: resolves its revisions, before it is checked out like any other. */
import { Context } from "effect"
import type { Effect, Scope } from "effect"
import type { VcsKind } from "../domain/Kinds.ts"
import type { Checkout, CheckoutError } from "./Checkout.ts"

/** Changes that have no commit: those in the index, or all in the work tree that are not ignored. */
export type UncommittedChanges = "staged" | "uncommitted"

export interface LocalRange {
  readonly vcs: VcsKind
  /** Top folder of the work tree, of the bare repository or of the working copy. */
  readonly root: string
  /** Full commit ids, or numbers of revisions or changelists. */
  readonly base: string
  readonly head: string
  /** The base as given or determined, such as `origin/main`. */
  readonly baseName: string
  /** The head for people. */
  readonly headName: string
  /** True for a shallow history, which may not contain the merge base. */
  readonly shallow: boolean
  /** Messages about the selection of the change. */
  readonly notices: ReadonlyArray<string>
  /** Checks the change out. Absent for git, whose objects the mirror of `Vcs` uses. */
  readonly checkout?: (headOnly: boolean) => Effect.Effect<Checkout, CheckoutError, Scope.Scope>
}

export interface LocalRequest {
  readonly path: string
  readonly base: string | undefined
  readonly head: string | undefined
  readonly changes?: UncommittedChanges | undefined
  /** Changelist of Perforce whose shelved files are reviewed. */
  readonly shelved?: string | undefined
  /** Reads this kind of working copy; undefined: git first, then the kind that the folder has. */
  readonly vcs?: VcsKind | undefined
  /** Program name or path of p4. */
  readonly perforceClient?: string | undefined
}

export class LocalRepository extends Context.Service<
  LocalRepository,
  {
    /**
     * Resolves revisions in the repository or working copy that holds `path`.
     *
     * Git: head defaults to HEAD; base to the default branch of origin, the upstream of the current branch, main or master: the first one
     * that is not the head itself. With `changes` the head is a commit of these on HEAD, and base defaults to HEAD.
     *
     * Subversion and Perforce: head defaults to the newest revision of the branch, base to the one before the head. With `changes` the
     * head are the files of the working copy, with `shelved` those of the changelist.
     */
    readonly range: (request: LocalRequest) => Effect.Effect<LocalRange, CheckoutError>
    /** Returns a text file in the work tree, committed or not; undefined where there is none, or it is larger. */
    readonly file: (root: string, path: string, maxBytes: number) => Effect.Effect<string | undefined, CheckoutError>
    /** Fetches the history that a shallow clone lacks, with the user's own remote and credentials. */
    readonly deepen: (root: string) => Effect.Effect<void, CheckoutError>
  }
>()("aicr/vcs/LocalRepository") {}
