/**
 * The actors' engine within one test: memory, no network, every shard group. Few shards, which it polls rarely, because tests let days pass
 * on their clock.
 */
import { Layer } from "effect"
import { MessageStorage, RunnerHealth, Runners, RunnerStorage, Sharding, ShardingConfig } from "effect/cluster"
import { shardGroups } from "../../actors/Placement.ts"
import { WritePermits } from "../../src/forge/WritePermits.ts"

export const testCluster = Sharding.layer.pipe(
  Layer.provideMerge(Runners.layerNoop),
  Layer.provideMerge(MessageStorage.layerMemory),
  Layer.provide([RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
  Layer.provide(
    ShardingConfig.layer({
      availableShardGroups: shardGroups,
      assignedShardGroups: shardGroups,
      shardsPerGroup: 4,
      entityMessagePollInterval: "1 hour",
      refreshAssignmentsInterval: "1 hour",
      shardLockRefreshInterval: "1 hour",
      shardLockExpiration: "4 hours"
    })
  ),
  Layer.merge(WritePermits.layerAlone)
)
