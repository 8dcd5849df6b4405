/**
 * Answers of hosts and models that are asked for again and again, kept for a while where the configuration says (storage.cache).
 * It holds nothing that is true nowhere else, no permission and no secret; what it lost is asked again. What a question is
 * about goes in as a digest, so no e-mail address and no name of a repository stands in a key.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { createHash } from "node:crypto"

/** A kind of question, and the form of its answer. */
export interface Lookup<A> {
  /** Letters and hyphens. It stands in the key. */
  readonly name: string
  /** Small: an answer of more than `maxAnswerLength` is not kept. Holds no e-mail address. */
  readonly answer: Schema.Codec<A, unknown>
}

/** Characters of JSON. */
export const maxAnswerLength = 4096

/** Everything that the answer depends on. */
export type About = ReadonlyArray<string | undefined>

export class Cache extends Context.Service<
  Cache,
  {
    /** None: never kept, too old, not readable, or the cache is away. */
    readonly get: <A>(lookup: Lookup<A>, about: About) => Effect.Effect<Option.Option<A>>
    /** A cache that is away keeps nothing and says nothing to the caller. */
    readonly set: <A>(lookup: Lookup<A>, about: About, answer: A) => Effect.Effect<void>
  }
>()("aicr/store/Cache") {
  /** storage.cache.kind none: everything is asked again. */
  static readonly layerNone = Layer.sync(this, () => noCache)
}

/** The kept answer, else a new one. What fails is not kept. */
export const remembering = Effect.fnUntraced(function* <A, E, R>(
  cache: Cache["Service"],
  lookup: Lookup<A>,
  about: About,
  ask: Effect.Effect<A, E, R>
): Effect.fn.Return<A, E, R> {
  const kept = yield* cache.get(lookup, about)
  if (Option.isSome(kept)) return kept.value
  const answer = yield* ask
  yield* cache.set(lookup, about, answer)
  return answer
})

/** Where texts are kept by key. Neither call fails. */
export interface Texts {
  readonly read: (key: string) => Effect.Effect<string | undefined>
  readonly write: (key: string, text: string) => Effect.Effect<void>
}

/** A cache over a place for texts. */
export function over({ read, write }: Texts): Cache["Service"] {
  return {
    get: (lookup, about) =>
      Effect.map(read(keyOf(lookup.name, about)), (text) =>
        text === undefined || text.length > maxAnswerLength
          ? Option.none()
          : Schema.decodeUnknownOption(Schema.fromJsonString(lookup.answer))(text)
      ),
    set: (lookup, about, answer) => {
      const text = Schema.encodeSync(Schema.fromJsonString(lookup.answer))(answer)
      return text.length > maxAnswerLength ? Effect.void : write(keyOf(lookup.name, about), text)
    }
  }
}

export const noCache = over({ read: () => Effect.undefined, write: () => Effect.void })

const keyOf = (name: string, about: About): string =>
  `${name}:${createHash("sha256")
    .update(JSON.stringify(about.map((part) => part ?? null)))
    .digest("hex")}`
