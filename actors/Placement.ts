/**
 * Places actors on nodes. Each kind belongs to a shard group with the name of a role, and the nodes with that role share its shards. When a
 * node leaves, the remaining nodes take over its actors.
 */

/** Roles that host actors. */
export const shardGroups = ["actors", "publisher", "chat"] as const
export type ShardGroup = (typeof shardGroups)[number]

/** Returns the shard group function for `Entity.annotate(ClusterSchema.ShardGroup, …)`: all actors of a kind are in one group. */
export const everyOne =
  (group: ShardGroup) =>
  (_entityId: string): string =>
    group
