/** The administration over the parts of a node. Wiring only. */
import { Effect, Layer } from "effect"
import { Sharding } from "effect/cluster"
import * as ProviderLimiter from "../../actors/limits/ProviderLimiter.ts"
import { WorkspaceScheduler } from "../../actors/scheduling/WorkspaceScheduler.ts"
import * as Handle from "../admin/handlers/Handle.ts"
import { Nodes } from "../admin/nodes/Nodes.ts"
import { Forges } from "../forge/Forges.ts"
import { ProviderStates } from "../llm/ProviderStates.ts"
import type { Role } from "../domain/Role.ts"
import { Cancellations } from "../queue/dispatch/Cancellations.ts"
import { Operations } from "../queue/operator/Operations.ts"
import packageJson from "../../package.json" with { type: "json" }

/** Sends operations of operators to the actors. A lost message only delays its effect. */
const notifyingActors = Layer.unwrap(
  Effect.gen(function* () {
    const schedulerOf = yield* WorkspaceScheduler.client
    const cancellations = yield* Cancellations
    return Operations.layerWith({
      changed: (workspace) =>
        Effect.ignore(schedulerOf(workspace).Wake(undefined, { discard: true }), { log: "Debug" }),
      stopping: cancellations.notify
    })
  })
)

/** Administration with actors, on this node or on others. */
export const administration = Handle.layer.pipe(
  Layer.provide([notifyingActors, ProviderLimiter.statesLayer, Forges.layer])
)

/** Administration on a node that only receives. The next node that starts reads the state from the store. */
export const readOnlyAdministration = Handle.layer.pipe(
  Layer.provide([Operations.layer, ProviderStates.layerNone, Forges.layer])
)

/** The cluster view of a single node; `actors` returns the number of active actors, where the node has some. */
export const thisNode = (roles: ReadonlySet<Role>, actors?: Effect.Effect<number>) =>
  Nodes.layerAlone({ roles: [...roles], version: packageJson.version, ...(actors === undefined ? {} : { actors }) })

export const withActors = (roles: ReadonlySet<Role>) =>
  Layer.unwrap(Effect.map(Sharding.Sharding, ({ activeEntityCount }) => thisNode(roles, activeEntityCount)))
