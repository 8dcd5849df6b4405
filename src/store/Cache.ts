/**
 * Caches frequent responses of hosts and models for a while, as configured (storage.cache). Every value can be requested again from its
 * source, and none is a permission or a secret. The key of a lookup is a digest, so that it contains no e-mail address and no name of a
 * repository.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { createHash } from "node:crypto"

/** A kind of lookup and the format of its value. */
export interface Lookup<A> {
  /** Letters and hyphens. Part of the key. */
  readonly name: string
  /** Small: a value of more than `maxValueLength` is not cached. Contains no e-mail address. */
  readonly schema: Schema.Codec<A, unknown>
}

/** Maximum length of a value in characters of JSON. */
export const maxValueLength = 4096

/** Everything that the value depends on. */
export type About = ReadonlyArray<string | undefined>

export class Cache extends Context.Service<
  Cache,
  {
    /** Returns none if the value is missing, too old or unreadable, or the cache is unavailable. */
    readonly get: <A>(lookup: Lookup<A>, about: About) => Effect.Effect<Option.Option<A>>
    /** Stores a value. Failures of the cache are ignored. */
    readonly set: <A>(lookup: Lookup<A>, about: About, value: A) => Effect.Effect<void>
  }
>()("aicr/store/Cache") {
  /** Implements storage.cache.kind none: every lookup misses. */
  static readonly layerNone = Layer.sync(this, () => noCache)
}

/** Returns the cached value, otherwise a new one. Failures are not cached. */
export const remembering = Effect.fnUntraced(function* <A, E, R>(
  cache: Cache["Service"],
  lookup: Lookup<A>,
  about: About,
  load: Effect.Effect<A, E, R>
): Effect.fn.Return<A, E, R> {
  const kept = yield* cache.get(lookup, about)
  if (Option.isSome(kept)) return kept.value
  const value = yield* load
  yield* cache.set(lookup, about, value)
  return value
})

/** Storage of texts by key. Neither call fails. */
export interface Texts {
  readonly read: (key: string) => Effect.Effect<string | undefined>
  readonly write: (key: string, text: string) => Effect.Effect<void>
}

/** Builds a cache over a storage of texts. */
export function over({ read, write }: Texts): Cache["Service"] {
  return {
    get: (lookup, about) =>
      Effect.map(read(keyOf(lookup.name, about)), (text) =>
        text === undefined || text.length > maxValueLength
          ? Option.none()
          : Schema.decodeUnknownOption(Schema.fromJsonString(lookup.schema))(text)
      ),
    set: (lookup, about, value) => {
      const text = Schema.encodeSync(Schema.fromJsonString(lookup.schema))(value)
      return text.length > maxValueLength ? Effect.void : write(keyOf(lookup.name, about), text)
    }
  }
}

export const noCache = over({ read: () => Effect.undefined, write: () => Effect.void })

const keyOf = (name: string, about: About): string =>
  `${name}:${createHash("sha256")
    .update(JSON.stringify(about.map((part) => part ?? null)))
    .digest("hex")}`
