/**
 * Whose account a commit's author may have, where nothing exact says it: asked of a model when the configuration names a group for it
 * (`author_resolution_model_chain`).
 */
import { Context, Effect, Layer } from "effect"
import type { Workspace } from "../config/Snapshot.ts"
import type { ModelRun } from "../llm/ModelRun.ts"

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

export class AuthorGuess extends Context.Service<
  AuthorGuess,
  {
    /** One of the candidates' accounts, or undefined: nobody, in doubt, no model configured, no model replied. */
    readonly guess: (author: UnknownAuthor) => Effect.Effect<string | undefined, never, ModelRun>
  }
>()("aicr/outputs/AuthorGuess") {
  /** Guesses nothing: for a program without models. */
  static readonly layerNone: Layer.Layer<AuthorGuess> = Layer.succeed(
    AuthorGuess,
    AuthorGuess.of({ guess: () => Effect.undefined })
  )
}
