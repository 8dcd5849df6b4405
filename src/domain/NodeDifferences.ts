/** Compares what should be the same on every node of a cluster. */

export interface NodeVersion {
  readonly name: string
  /** Version of the program. */
  readonly version: string
  /** Beginning of the hash of its configuration. */
  readonly configuration: string
}

/** Returns the part of the hash of a configuration that identifies it among the nodes of a cluster. */
export const abbreviateHash = (hash: string): string => hash.slice(0, 12)

const isMixed = (values: ReadonlyArray<string>): boolean => new Set(values).size > 1

/** Returns a warning for each property in which nodes differ that should be the same everywhere. */
export const findDifferences = (
  nodes: ReadonlyArray<Pick<NodeVersion, "configuration" | "version">>
): ReadonlyArray<string> => [
  ...(isMixed(nodes.map(({ version }) => version))
    ? ["nodes run different versions of aicr; finish the upgrade or roll it back"]
    : []),
  ...(isMixed(nodes.map(({ configuration }) => configuration))
    ? ["nodes have different configurations; give each node the same config.yaml"]
    : [])
]
