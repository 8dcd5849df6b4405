/** Lists the nodes for `GET /api/admin/nodes`. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { NodeIdentity } from "../domain/NodeIdentity.ts"

export interface NodeInfo {
  readonly name: string
  readonly roles: ReadonlyArray<string>
  readonly version: string
  readonly startedAt: number
  /** Number of active actors on the node, if available. */
  readonly actors?: number | undefined
}

export class NodesError extends Schema.TaggedError<NodesError>()("NodesError", { message: Schema.String }) {}

export class Nodes extends Context.Service<
  Nodes,
  { readonly list: Effect.Effect<ReadonlyArray<NodeInfo>, NodesError> }
>()("aicr/admin/Nodes") {
  /** Lists only this process. */
  static readonly layerAlone = (self: {
    readonly roles: ReadonlyArray<string>
    readonly version: string
    readonly actors?: Effect.Effect<number>
  }) =>
    Layer.effect(
      Nodes,
      Effect.gen(function* () {
        const { name } = yield* NodeIdentity
        const { actors = Effect.undefined, roles, version } = self
        const startedAt = yield* Clock.currentTimeMillis
        return Nodes.of({
          list: Effect.map(actors, (awake) => [{ name, roles, version, startedAt, actors: awake }])
        })
      })
    )
}
