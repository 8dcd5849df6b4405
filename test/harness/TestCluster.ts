/** The actors' engine within one test: memory, no network, every shard group. */
import { Layer } from "effect"
import { MessageStorage, RunnerHealth, Runners, RunnerStorage, Sharding, ShardingConfig } from "effect/cluster"
import { shardGroups } from "../../actors/Placement.ts"
import { WritePermits } from "../../src/forge/WritePermits.ts"

export const testCluster = Sharding.layer.pipe(
  Layer.provideMerge(Runners.layerNoop),
  Layer.provideMerge(MessageStorage.layerMemory),
  Layer.provide([RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
  Layer.provide(ShardingConfig.layer({ availableShardGroups: shardGroups, assignedShardGroups: shardGroups })),
  Layer.merge(WritePermits.layerAlone)
)
