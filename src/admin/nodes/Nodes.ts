/** Lists the nodes for `GET /api/admin/nodes`. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { abbreviateHash } from "../../domain/NodeWarnings.ts"
import { Reason } from "../../domain/Reason.ts"
import { NodeIdentity } from "../../domain/NodeIdentity.ts"
import { refusedTemplates } from "../../outputs/SampleRender.ts"
import { inEnglish } from "../../text/en.ts"
import type { NodeInfo } from "../api/NodeRecords.ts"
import { LastError } from "../../observability/LastError.ts"
import { measureAfter } from "./NodeMeasures.ts"
import { listRefused } from "./RefusedConfigurations.ts"
import type { Snapshot } from "../../config/Snapshot.ts"
import { workingRoles } from "../../domain/Role.ts"
import type { Role } from "../../domain/Role.ts"
import { readAdminCredentials } from "../AdminCredentials.ts"

/** Decides which roles the configuration of a node needs on some node of the installation. */

/** Commands from chat need the role `chat` where a connection is enabled, the dashboard its role where an administrator can log in. */
const neededRoles = (snapshot: Snapshot): ReadonlyArray<Role> => [
  "ingress",
  ...workingRoles,
  ...(Object.values(snapshot.document.im.connections).some(({ enabled }) => enabled) ? (["chat"] as const) : []),
  ...(readAdminCredentials(snapshot) === undefined ? [] : (["dashboard"] as const))
]

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
        const errors = yield* LastError
        const { actors = Effect.undefined, roles, version } = self
        const startedAt = yield* Clock.currentTimeMillis
        return Nodes.of({
          list: Effect.map(Effect.all([actors, measureAfter(1)]), ([awake, measures]) => [
            {
              name,
              roles,
              version,
              startedAt,
              actors: awake,
              lastError: errors.get(),
              ...measures,
              ...describeWork(config, roles)
            }
          ])
        })
      })
    )
}
