/**
 * Whose account a commit's author may have, where nothing exact says it: asked of a model when the configuration names a group for it
 * (`author_resolution_model_chain`). Nobody guesses unless a layer says who.
 */
import { Context, Effect } from "effect"
import type { Workspace } from "../config/Snapshot.ts"

export interface UnknownAuthor {
  readonly workspace: Workspace
  /** Repository and commit, for logs: the same author is asked about once. */
  readonly commit: string
  readonly name: string | undefined
  readonly email: string | undefined
  /** The only possible answers. */
  readonly candidates: ReadonlyArray<AuthorCandidate>
}

export interface AuthorCandidate {
  readonly account: string
  /** Names and the like that are known of it; no e-mail address. */
  readonly known: ReadonlyArray<string>
}

export interface AuthorGuess {
  /** One of the candidates' accounts, or undefined: nobody, in doubt, no model configured, none answered. */
  readonly guess: (author: UnknownAuthor) => Effect.Effect<string | undefined>
}

export const AuthorGuess = Context.Reference<AuthorGuess>("aicr/outputs/AuthorGuess", {
  defaultValue: () => ({ guess: () => Effect.undefined })
})
