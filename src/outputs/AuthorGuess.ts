/**
 * Guesses the account of a commit's author where no exact source determines it, with a model if the configuration names a chain
 * for it (`author_resolution_model_chain`).
 */
import { Context, Effect, Layer } from "effect"
import type { Workspace } from "../config/Snapshot.ts"
import type { ModelRun } from "../llm/ModelRun.ts"

interface UnknownAuthor {
  readonly workspace: Workspace
  /** Repository and commit, for logs. */
  readonly commit: string
  readonly name: string | undefined
  readonly email: string | undefined
  /** The only possible results. */
  readonly candidates: ReadonlyArray<AuthorCandidate>
}

export interface AuthorCandidate {
  readonly account: string
  /** Known names of the person; no e-mail addresses. */
  readonly known: ReadonlyArray<string>
}

export class AuthorGuess extends Context.Service<
  AuthorGuess,
  {
    /**
     * Returns the account of a candidate. Undefined when none matches, the model is uncertain, none is configured, or all calls
     * failed.
     */
    readonly guess: (author: UnknownAuthor) => Effect.Effect<string | undefined, never, ModelRun>
  }
>()("aicr/outputs/AuthorGuess") {
  /** Never guesses; for programs without models. */
  static readonly layerNone: Layer.Layer<AuthorGuess> = Layer.succeed(
    AuthorGuess,
    AuthorGuess.of({ guess: () => Effect.undefined })
  )
}
