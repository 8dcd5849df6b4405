/** Owners of model calls and of writes to hosts, for tests of other subjects. */
import { Effect, Layer } from "effect"
import { anyWriter, WriteOwner } from "../../src/forge/WriteOwner.ts"
import type { Writing } from "../../src/forge/WriteOwner.ts"
import { WritePermits } from "../../src/forge/WritePermits.ts"
import { ModelRun } from "../../src/llm/ModelRun.ts"
import { AuthorGuess } from "../../src/outputs/AuthorGuess.ts"
import { ChatSends } from "../../src/store/ChatSends.ts"

export type Owners = AuthorGuess | ChatSends | ModelRun | Writing

/** Counts nothing. */
export const uncounted: Layer.Layer<ChatSends> = Layer.succeed(ChatSends, {
  take: () => Effect.succeed(true),
  refund: () => Effect.void
})

export const testOwners: Layer.Layer<Owners> = Layer.mergeAll(
  AuthorGuess.layerNone,
  uncounted,
  Layer.succeed(ModelRun, { id: "test", repository: "test" }),
  Layer.succeed(WriteOwner, anyWriter),
  WritePermits.layerAlone
)

export const owned = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Owners>> =>
  Effect.provide(effect, testOwners)
