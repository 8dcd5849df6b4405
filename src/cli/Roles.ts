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

/** Roles that work in one process without a bus, which would carry the messages between them. */
const together = [...workingRoles, "chat"] as const

/** Returns why a node cannot have these roles, or undefined. `bus`: a NATS connection is configured. */
export const rolesProblem = (held: ReadonlySet<Role>, bus: boolean): string | undefined => {
  const count = together.filter((role) => held.has(role)).length
  return bus || count === 0 || count === together.length
    ? undefined
    : `--roles: without NATS (SVC_NATS_URL) ${together.join(", ")} work in one process: name all of them or none`
}
