/**
 * Runs Effect's cluster over NATS. `layer` is a process that hosts actors, `layerClientOnly` one that only calls them. Messages between
 * nodes are delivered at least once during a failover: handlers are idempotent, callers have timeouts.
 *
 * A runner whose end is known is evicted (NatsRunnerLease), and its actors move within a second. Otherwise its lease must expire (9 s). A node
 * stops its actors after at most 6 s without a refresh.
 */
import { nuid } from "@nats-io/transport-node"
import { Duration, Effect, Layer, Option } from "effect"
import { MessageStorage, RunnerAddress, RunnerHealth, RunnerServer, Sharding, ShardingConfig } from "effect/cluster"
import type { Runners } from "effect/cluster"
import * as NatsAskServer from "./NatsAskServer.ts"
import * as NatsAsks from "./NatsAsks.ts"
import type { NatsConnection } from "./NatsConnection.ts"
import type { NatsError } from "./NatsError.ts"
import * as NatsRunnerClient from "./NatsRunnerClient.ts"
import * as NatsRunnerServer from "./NatsRunnerServer.ts"
import * as NatsRunnerStorage from "./NatsRunnerStorage.ts"
import type { NatsRunnerLease } from "./NatsRunnerStorage.ts"
import { leaseMillis } from "./NatsStreams.ts"
import { token } from "./NatsSubjects.ts"

type Config = ShardingConfig.ShardingConfig["Service"]

interface RunnerOptions {
  /** Name of the node. A restarted process is a new runner with the same name. */
  readonly node: string
  /** Id of the process, part of its address. */
  readonly incarnation?: string
  /** All shard groups of the installation, the same on every node. */
  readonly shardGroups: ReadonlyArray<string>
  /** Shard groups whose actors may run here. */
  readonly assigned: ReadonlyArray<string>
  readonly shardingConfig?: Partial<Config>
}

type RunnerServices =
  | Sharding.Sharding
  | Runners.Runners
  | MessageStorage.MessageStorage
  | ShardingConfig.ShardingConfig
  | NatsRunnerLease

/** Number of shards per group. All nodes must use the same number to find an actor in the same shard. */
export const shardsPerGroup = 64

const timings = {
  shardLockExpiration: Duration.millis(leaseMillis),
  shardLockRefreshInterval: Duration.millis(leaseMillis / 3),
  refreshAssignmentsInterval: Duration.seconds(1),
  runnerHealthCheckInterval: Duration.seconds(5),
  entityTerminationTimeout: Duration.seconds(5),
  entityMessagePollInterval: Duration.seconds(10),
  sendRetryInterval: Duration.millis(100)
} satisfies Partial<Config>

/** Returns an address that is unique per process, because no bound port prevents a second process from using the same one. */
const addressOf = (node: string, incarnation: string = nuid.next()): RunnerAddress.RunnerAddress =>
  RunnerAddress.make(`${token(node)}-${incarnation}`, 1)

const configOf = (
  options: Omit<RunnerOptions, "node" | "incarnation">,
  address: Option.Option<RunnerAddress.RunnerAddress>
) =>
  ShardingConfig.layer({
    ...timings,
    shardsPerGroup,
    simulateRemoteSerialization: false,
    ...options.shardingConfig,
    availableShardGroups: options.shardGroups,
    assignedShardGroups: options.assigned,
    runnerAddress: address
  })

export const layer = (options: RunnerOptions): Layer.Layer<RunnerServices, NatsError, NatsConnection> =>
  Layer.unwrap(
    Effect.sync(() => {
      const address = addressOf(options.node, options.incarnation)
      return Layer.mergeAll(RunnerServer.layer, NatsAskServer.layer).pipe(
        Layer.provideMerge(Sharding.layer),
        Layer.provide(RunnerHealth.layerPing),
        Layer.provideMerge(NatsAsks.layer),
        Layer.provide([NatsRunnerServer.layer(address), NatsRunnerClient.layer]),
        Layer.provide(NatsAskServer.AskServer.layer),
        Layer.provideMerge(MessageStorage.layerNoop),
        Layer.provideMerge(NatsRunnerStorage.layer),
        Layer.provideMerge(configOf(options, Option.some(address)))
      )
    })
  )

/** Calls the actors of other nodes and hosts none. */
export const layerClientOnly = (
  options: Pick<RunnerOptions, "shardGroups" | "shardingConfig">
): Layer.Layer<RunnerServices, NatsError, NatsConnection> =>
  Sharding.layer.pipe(
    Layer.provide(RunnerHealth.layerNoop),
    Layer.provideMerge(NatsAsks.layer),
    Layer.provide(NatsRunnerClient.layer),
    Layer.provideMerge(MessageStorage.layerNoop),
    Layer.provideMerge(NatsRunnerStorage.layer),
    Layer.provideMerge(configOf({ ...options, assigned: [] }, Option.none()))
  )
