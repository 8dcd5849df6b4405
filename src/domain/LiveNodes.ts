/** Determines which processes no longer exist, so that others take over what they held. Never reports a live one. */
import { Context, Effect, Layer } from "effect"
import { NodeIdentity } from "./NodeIdentity.ts"

export class LiveNodes extends Context.Service<
  LiveNodes,
  {
    /** Returns a predicate over owners (NodeIdentity.owner). It stays valid, because a lost owner never returns. */
    readonly lost: Effect.Effect<(owner: string) => boolean>
    /** Owners that are known to have ended, found within seconds of their end. `lost` includes them. */
    readonly gone: Effect.Effect<ReadonlySet<string>>
    /** Waits until more than this number of owners are known to have ended. */
    readonly goneBeyond: (count: number) => Effect.Effect<void>
  }
>()("aicr/domain/LiveNodes") {
  /** A process without a cluster: another owner of the same name is an earlier incarnation of it. */
  static readonly layerAlone = Layer.effect(
    LiveNodes,
    Effect.map(NodeIdentity, ({ name, owner }) =>
      LiveNodes.of({
        lost: Effect.succeed((other) => other !== owner && other.startsWith(`${name}/`)),
        gone: Effect.succeed(new Set()),
        goneBeyond: () => Effect.never
      })
    )
  )
}
