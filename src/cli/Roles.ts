/** Reads `--roles`, and refuses sets of roles that one process cannot have. */
import { Result } from "effect"
import { isRole, roles, workingRoles } from "../domain/Role.ts"
import type { Role } from "../domain/Role.ts"

/** Parses `all` or a comma-separated list. The failure names the roles that are unknown and those that exist. */
export const parseRoles = (text: string): Result.Result<ReadonlySet<Role>, string> => {
  const named = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
  if (named.length === 0 || (named.length === 1 && named[0] === "all")) return Result.succeed(new Set(roles))
  const unknown = named.filter((name) => !isRole(name))
  return unknown.length > 0
    ? Result.fail(`--roles: unknown role ${unknown.join(", ")}; use all or some of ${roles.join(", ")}`)
    : Result.succeed(new Set(named.filter(isRole)))
}

/** Returns why a node cannot have these roles, or undefined. `bus`: a NATS connection is configured. */
export const rolesProblem = (held: ReadonlySet<Role>, bus: boolean): string | undefined => {
  const working = workingRoles.filter((role) => held.has(role))
  if (!bus && working.length !== 0 && working.length !== workingRoles.length) {
    return `--roles: without NATS (SVC_NATS_URL) ${workingRoles.join(", ")} work in one process: name all three or none`
  }
  if (held.size === 1 && held.has("chat"))
    return "--roles: this build has no work for the role chat alone; chat commands are not taken. Add ingress, actors, executor or publisher"
  return working.length === 0 && !held.has("ingress") ? "--roles: nothing to do for this node" : undefined
}
