/**
 * Where actors live. Each belongs to a shard group with the name of a role, and the nodes with that role share its shards; so
 * every role may be played by other nodes, and what a node played that leaves is played by those that remain.
 */

/** Roles that play actors. */
export const shardGroups = ["actors", "publisher"] as const
export type ShardGroup = (typeof shardGroups)[number]

/** For `Entity.annotate(ClusterSchema.ShardGroup, …)`: all actors of a kind in one group. */
export const everyOne =
  (group: ShardGroup) =>
  (_entityId: string): string =>
    group
