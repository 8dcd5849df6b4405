/** Which roles one process may have. */
import type { Role } from "./cli/Roles.ts"

const workers = ["actors", "executor", "publisher"] as const

/** Without a bus the working roles find each other in one process only. */
export const worksAlone = (roles: ReadonlySet<Role>): boolean => workers.every((role) => roles.has(role))

/** Why these roles cannot be played, or undefined. `bus`: a NATS connection is configured. */
export const rolesProblem = (roles: ReadonlySet<Role>, bus: boolean): string | undefined => {
  const played = workers.filter((role) => roles.has(role))
  if (!bus && played.length !== 0 && played.length !== workers.length) {
    return `--roles: without NATS (SVC_NATS_URL) ${workers.join(", ")} work in one process: name all three or none`
  }
  if (roles.size === 1 && roles.has("chat"))
    return "--roles: this build has no work for the role chat alone; chat commands are not taken. Add ingress, actors, executor or publisher"
  return played.length === 0 && !roles.has("ingress") ? "--roles: nothing to do for this node" : undefined
}
