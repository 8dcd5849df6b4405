/** Lists the nodes for `GET /api/admin/nodes`. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import { abbreviateHash } from "../domain/NodeWarnings.ts"
import type { NodeVersion } from "../domain/NodeWarnings.ts"
import { NodeIdentity } from "../domain/NodeIdentity.ts"
import { refusedTemplates } from "../outputs/SampleRender.ts"
import { neededRoles } from "./NeededRoles.ts"
import { listRefused } from "./RefusedConfigurations.ts"
import type { RefusedConfiguration } from "./RefusedConfigurations.ts"

export interface NodeInfo extends NodeVersion {
  readonly startedAt: number
  /** Maximum number of concurrent reviews, if available. */
  readonly slots?: number | undefined
  /** Number of active actors on the node, if available. */
  readonly actors?: number | undefined
  readonly refused: ReadonlyArray<RefusedConfiguration>
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
        const config = yield* ConfigStore
        const { actors = Effect.undefined, roles, version } = self
        const startedAt = yield* Clock.currentTimeMillis
        return Nodes.of({
          list: Effect.map(actors, (awake) => {
            const snapshot = config.current()
            const { document, hash } = snapshot
            const needs = neededRoles(snapshot)
            const templates = refusedTemplates(snapshot)
            const slots = roles.includes("executor") ? document.queue.workers.concurrency : 0
            const configuration = abbreviateHash(hash)
            return [
              {
                name,
                roles,
                needs,
                refusedTemplates: templates,
                version,
                configuration,
                startedAt,
                slots,
                actors: awake,
                refused: listRefused(config)
              }
            ]
          })
        })
      })
    )
}
