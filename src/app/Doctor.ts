/** Checks of `aicr doctor` in addition to those of the configuration: this build, the real hosts and the models. Wiring only. */
import { Effect } from "effect"
import { callsModels, usesHosts } from "../config/credentials/RoleCredentials.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import type { Role } from "../domain/Role.ts"
import { listWithoutCredential, reportAccess } from "../forge/Access.ts"
import type { AccessReport } from "../forge/Access.ts"
import { Forges } from "../forge/Forges.ts"
import { reportModels } from "../llm/providers/CheckModels.ts"
import { gatewayLayer } from "../llm/GatewayLayer.ts"
import * as Logging from "../observability/logs/Logging.ts"
import { reportSwarm } from "../outputs/swarm/SwarmAccess.ts"

export { agentAccess } from "./AgentSetup.ts"
export { gitAccess } from "./GitAccess.ts"
export { buildProblems } from "./BuildProblems.ts"

export const hostAccess = (snapshot: Snapshot) =>
  Effect.zipWith(Effect.provide(reportAccess(snapshot), Forges.layer), reportSwarm(snapshot), (hosts, swarm) => [
    ...hosts,
    ...swarm
  ])

export const missingCredentials = (snapshot: Snapshot, roles: ReadonlySet<Role>): ReadonlyArray<AccessReport> =>
  usesHosts(roles) ? listWithoutCredential(snapshot).map((reason) => ({ level: "error", reason })) : []

/** Failures are part of the report, so the log is silent. */
export const modelAccess = (snapshot: Snapshot, roles: ReadonlySet<Role>) =>
  callsModels(snapshot.document, roles)
    ? Effect.provide(reportModels(snapshot), [gatewayLayer, Logging.layerAt("error")])
    : Effect.succeed([])
