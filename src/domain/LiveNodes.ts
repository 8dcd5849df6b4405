/** Which processes are gone for good, so that what they held is taken up by others. Never says it of one that lives. */
import { Context, Effect, Layer } from "effect"
import { NodeIdentity } from "./NodeIdentity.ts"

export class LiveNodes extends Context.Service<
  LiveNodes,
  {
    /** A predicate over owners (NodeIdentity.owner), as of now. It stays right for later: an owner that is gone never comes back. */
    readonly lost: Effect.Effect<(owner: string) => boolean>
  }
>()("aicr/domain/LiveNodes") {
  /** For a process that works alone: an owner of its name that is not itself is an earlier incarnation of it. */
  static readonly layerAlone = Layer.effect(
    LiveNodes,
    Effect.map(NodeIdentity, ({ name, owner }) =>
      LiveNodes.of({ lost: Effect.succeed((other) => other !== owner && other.startsWith(`${name}/`)) })
    )
  )
}
