/** Warnings about the nodes of an installation: properties that should be the same on all of them, and roles that none of them has. */
import type { Reason } from "./Reason.ts"
import { roles as allRoles } from "./Role.ts"
import type { Role } from "./Role.ts"

export interface NodeVersion {
  readonly name: string
  /** Version of the program. */
  readonly version: string
  /** Beginning of the hash of its configuration. */
  readonly configuration: string
  readonly roles: ReadonlyArray<string>
  /** Roles that its configuration needs on some node. */
  readonly needs: ReadonlyArray<string>
  /** Names of the templates of its configuration that are invalid. */
  readonly refusedTemplates: ReadonlyArray<string>
}

/** Returns the part of the hash of a configuration that identifies it among the nodes of a cluster. */
export const abbreviateHash = (hash: string): string => hash.slice(0, 12)

const isMixed = (values: ReadonlyArray<string>): boolean => new Set(values).size > 1

/** Returns the roles that the configuration of a node needs and that no node has. */
export const findUnservedRoles = (nodes: ReadonlyArray<Pick<NodeVersion, "needs" | "roles">>): ReadonlyArray<Role> => {
  const served = new Set(nodes.flatMap(({ roles }) => roles))
  const needed = new Set(nodes.flatMap(({ needs }) => needs))
  return allRoles.filter((role) => needed.has(role) && !served.has(role))
}

const describeTemplates = (names: ReadonlyArray<string>): ReadonlyArray<Reason> =>
  names.length === 0 ? [] : [{ _tag: "TemplatesRefused", names }]

export const findNodeWarnings = (
  nodes: ReadonlyArray<Pick<NodeVersion, "configuration" | "needs" | "refusedTemplates" | "roles" | "version">>
): ReadonlyArray<Reason> => [
  ...findUnservedRoles(nodes).map((role): Reason => ({ _tag: "RoleUnserved", role })),
  ...describeTemplates([...new Set(nodes.flatMap(({ refusedTemplates }) => refusedTemplates))]),
  ...(isMixed(nodes.map(({ version }) => version)) ? [{ _tag: "VersionsDiffer" } as const] : []),
  ...(isMixed(nodes.map(({ configuration }) => configuration)) ? [{ _tag: "ConfigurationsDiffer" } as const] : [])
]
