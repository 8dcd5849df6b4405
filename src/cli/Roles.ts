/** What a node does (architecture, two profiles). A node without a role leaves that work to other nodes or to a later start. */
import { Result } from "effect"

export const roles = ["ingress", "actors", "executor", "publisher", "chat", "dashboard"] as const
export type Role = (typeof roles)[number]

const isRole = (name: string): name is Role => (roles as ReadonlyArray<string>).includes(name)

/** `all` or a comma-separated list. The failure says which name is unknown and which there are. */
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
