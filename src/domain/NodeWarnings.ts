/** Warnings about the nodes of an installation: properties that should be the same on all of them, and roles that none of them has. */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import type { Reason } from "./Reason.ts"
import { roles as allRoles } from "./Role.ts"
import type { Role } from "./Role.ts"

/** Properties of a node that should be the same on all nodes, or that the others need. */
export const nodeVersionFields = {
  name: Field.text,
  roles: Field.json(Schema.Array(Schema.String)),
  /** Version of the program. */
  version: Field.text,
  /** Beginning of the hash of its configuration. */
  configuration: Field.text,
  /** Roles that its configuration needs on some node. */
  needs: Field.json(Schema.Array(Schema.String)),
  /** Names of the templates of its configuration that are invalid. */
  refusedTemplates: Field.json(Schema.Array(Schema.String))
}
export type NodeVersion = Field.Values<typeof nodeVersionFields>

/** Returns the part of the hash of a configuration that identifies it among the nodes of a cluster. */
export const abbreviateHash = (hash: string): string => hash.slice(0, 12)

const isMixed = (values: ReadonlyArray<string>): boolean => new Set(values).size > 1

/** Returns the roles that the configuration of a node needs and that no node has. */
export const findUnservedRoles = (nodes: ReadonlyArray<Pick<NodeVersion, "needs" | "roles">>): ReadonlyArray<Role> => {
  const served = new Set(nodes.flatMap(({ roles }) => roles))
  const needed = new Set(nodes.flatMap(({ needs }) => needs))
  return allRoles.filter((role) => needed.has(role) && !served.has(role))
}

/** Returns the value of more than half of the nodes, if there is one. */
const findMajority = (values: ReadonlyArray<string>): string | undefined =>
  [...Map.groupBy(values, (value) => value)].find(([, equal]) => equal.length * 2 > values.length)?.[0]

type Version = Pick<NodeVersion, "configuration" | "version">

/** Returns the function that lists in what a node differs from most of these nodes: in a tie, every one does. */
export const makeDiffers = (nodes: ReadonlyArray<Version>) => {
  const configuration = findMajority(nodes.map((node) => node.configuration))
  const version = findMajority(nodes.map((node) => node.version))
  return (node: Version) => [
    ...(node.configuration === configuration ? [] : (["configuration"] as const)),
    ...(node.version === version ? [] : (["version"] as const))
  ]
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
