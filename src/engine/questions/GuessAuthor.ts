/**
 * `AuthorGuess` by a model of the group `author_resolution_model_chain`, or of `llm.default_model_chain` where no layer
 * names a group. The result for a person is cached (storage.cache) while the candidates are the same. Every failure
 * counts as not found.
 */
import { randomBytes } from "node:crypto"
import { Effect, Layer, Option, Schema } from "effect"
import { Gateway } from "../../llm/Gateway.ts"
import { AuthorGuess } from "../../outputs/AuthorGuess.ts"
import { authorPrompt, authorSystem, authorTool, readAuthor } from "../../review/AuthorPrompt.ts"
import { Cache } from "../../store/Cache.ts"
import type { Lookup } from "../../store/Cache.ts"
import { queryStrictly } from "./StrictQuery.ts"

/** Duration of one call, and of the wait for a provider that refuses it, because a publication waits for the result. */
const maxMillis = 60_000

const Guess = Schema.Struct({ account: Schema.optionalKey(Schema.String) })
/** Cache entries, keyed by the input of the model. A failed call is not cached. */
const authorGuess: Lookup<typeof Guess.Type> = { name: "author-guess", schema: Guess }

export const layer: Layer.Layer<AuthorGuess, never, Gateway | Cache> = Layer.effect(
  AuthorGuess,
  Effect.gen(function* () {
    const gateway = yield* Gateway
    const cache = yield* Cache
    return {
      guess: Effect.fn("guessAuthor")(function* (author) {
        const snapshot = author.workspace.snapshot()
        const group = author.workspace.authorResolutionModelChain
        if (group === undefined || author.candidates.length === 0) return undefined
        const { name, email, candidates } = author
        const about = [author.workspace.id, group, name, email?.split("@")[0], JSON.stringify(candidates)]
        const known = yield* cache.get(authorGuess, about)
        if (Option.isSome(known)) return known.value.account
        const { outcome } = yield* queryStrictly({
          snapshot,
          group,
          role: "any",
          system: authorSystem,
          prompt: authorPrompt(author, randomBytes(12).toString("hex")),
          tool: authorTool(author),
          read: readAuthor(author),
          deadlineMillis: maxMillis,
          maxThrottledMillis: maxMillis
        }).pipe(Effect.provideService(Gateway, gateway))
        if (outcome._tag === "Failed") {
          yield* Effect.logInfo("author of a commit not resolved by a model", {
            commit: author.commit,
            reason: outcome.error.why
          })
          return undefined
        }
        const found = outcome.value
        yield* cache.set(authorGuess, about, found === undefined ? {} : { account: found })
        return found
      })
    }
  })
)
