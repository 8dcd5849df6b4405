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
import { signingKey, signsVerdicts } from "../outputs/SigningKeys.ts"
import { reportSwarm } from "../outputs/swarm/SwarmAccess.ts"

export { agentAccess } from "./AgentSetup.ts"
export { gitAccess } from "./GitAccess.ts"
export { buildProblems } from "./BuildProblems.ts"

export const hostAccess = (snapshot: Snapshot) =>
  Effect.zipWith(reportAccess(snapshot), reportSwarm(snapshot), (hosts, swarm) => [...hosts, ...swarm]).pipe(
    Effect.provide(Forges.layer)
  )

/** Returns the credentials that nodes of these roles need and do not have, and a key of statements that cannot sign. */
export const missingCredentials = (snapshot: Snapshot, roles: ReadonlySet<Role>): ReadonlyArray<AccessReport> => {
  const key = roles.has("publisher") && signsVerdicts(snapshot) ? signingKey(snapshot) : undefined
  const missing = [
    ...(usesHosts(roles) ? listWithoutCredential(snapshot) : []),
    ...(key !== undefined && "_tag" in key ? [key] : [])
  ]
  return missing.map((reason) => ({ level: "error", reason }))
}

/** Failures are part of the report, so the log is silent. */
export const modelAccess = (snapshot: Snapshot, roles: ReadonlySet<Role>) =>
  callsModels(snapshot.document, roles)
    ? Effect.provide(reportModels(snapshot), [gatewayLayer, Logging.layerAt("error")])
    : Effect.succeed([])
