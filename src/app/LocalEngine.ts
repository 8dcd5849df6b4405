/**
 * The engine of the actors within one process. Nothing leaves the process, and no message is stored: the stores have everything that a later
 * process needs. Wiring only.
 */
import { Layer } from "effect"
import { MessageStorage, RunnerHealth, Runners, RunnerStorage, Sharding, ShardingConfig } from "effect/cluster"
import { shardGroups } from "../../actors/Placement.ts"

/** This process has every shard from the start to the end, so that its locks in memory are rarely refreshed. */
export const localEngine = Sharding.layer.pipe(
  Layer.provideMerge(Runners.layerNoop),
  Layer.provideMerge(MessageStorage.layerNoop),
  Layer.provide([RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
  Layer.provide(
    ShardingConfig.layer({
      simulateRemoteSerialization: false,
      entityTerminationTimeout: "2 seconds",
      availableShardGroups: shardGroups,
      assignedShardGroups: shardGroups,
      refreshAssignmentsInterval: "5 minutes",
      entityMessagePollInterval: "5 minutes",
      shardLockRefreshInterval: "5 minutes",
      shardLockExpiration: "20 minutes"
    })
  )
)
