/** Lists the nodes for `GET /api/admin/nodes`. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { abbreviateHash } from "../../domain/NodeWarnings.ts"
import { Reason } from "../../domain/Reason.ts"
import { NodeIdentity } from "../../domain/NodeIdentity.ts"
import { refusedTemplates } from "../../outputs/SampleRender.ts"
import { inEnglish } from "../../text/en.ts"
import { neededRoles } from "./NeededRoles.ts"
import type { NodeInfo } from "../api/NodeRecords.ts"
import { listRefused } from "./RefusedConfigurations.ts"

/** Describes the work of this node and what it refuses of its configuration. */
export const describeWork = (
  config: Pick<ConfigStore["Service"], "current" | "refused" | "refusedRevision">,
  roles: ReadonlyArray<string>
) => {
  const snapshot = config.current()
  return {
    slots: roles.includes("executor") ? snapshot.document.queue.workers.concurrency : 0,
    configuration: abbreviateHash(snapshot.hash),
    needs: neededRoles(snapshot),
    refused: listRefused(config),
    refusedTemplates: refusedTemplates(snapshot)
  }
}

export class NodesError extends Schema.TaggedError<NodesError>()("NodesError", { why: Reason }) {
  override get message(): string {
    return inEnglish(this.why)
  }
}

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
          list: Effect.map(actors, (awake) => [
            { name, roles, version, startedAt, actors: awake, ...describeWork(config, roles) }
          ])
        })
      })
    )
}
