/** Owners of model calls and of writes to hosts, for tests of other subjects. */
import { Effect, Layer } from "effect"
import { HostTraffic } from "../../src/forge/HostTraffic.ts"
import { anyWriter, WriteOwner } from "../../src/forge/WriteOwner.ts"
import type { Writing } from "../../src/forge/WriteOwner.ts"
import { WritePermits } from "../../src/forge/WritePermits.ts"
import { ModelRun } from "../../src/llm/ModelRun.ts"
import { AuthorGuess } from "../../src/outputs/AuthorGuess.ts"
import { ChatSends } from "../../src/store/ChatSends.ts"
import { DirectOptOuts } from "../../src/store/DirectOptOuts.ts"

export type Owners = AuthorGuess | ChatSends | DirectOptOuts | HostTraffic | ModelRun | Writing

/** Counts nothing. All people get direct messages. */
export const uncounted: Layer.Layer<ChatSends | DirectOptOuts> = Layer.merge(
  Layer.succeed(ChatSends, { take: () => Effect.succeed(true), refund: () => Effect.void }),
  Layer.succeed(DirectOptOuts, {
    add: () => Effect.void,
    remove: () => Effect.void,
    has: () => Effect.succeed(false)
  })
)

/** Traffic to hosts that nothing has slowed down. */
export const newTraffic = (): HostTraffic["Service"] => ({ paces: new Map(), states: new Map() })

export const testOwners: Layer.Layer<Owners> = Layer.mergeAll(
  AuthorGuess.layerNone,
  uncounted,
  Layer.succeed(ModelRun, { id: "test", repository: "test" }),
  Layer.fresh(HostTraffic.layer),
  Layer.succeed(WriteOwner, anyWriter),
  WritePermits.layerAlone
)

export const owned = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Owners>> =>
  Effect.provide(effect, testOwners)
