/**
 * Effect's cluster over NATS. `layer` is a process that holds actors, `layerClientOnly` one that only calls them. Messages between nodes
 * are at least once while a node fails over: handlers are idempotent, callers have timeouts.
 *
 * The times are for a failover within 10.5 s of a node's sudden death: its lease must end (9 s; sooner would not be safe), the
 * others look every second. An actor is stopped on its node at the latest after 6 s without a refresh.
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

export interface RunnerOptions {
  /** Name of the node; a restarted process is another runner all the same. */
  readonly node: string
  /** All shard groups of the installation, the same on every node. */
  readonly shardGroups: ReadonlyArray<string>
  /** Those whose actors may live here. */
  readonly assigned: ReadonlyArray<string>
  readonly shardingConfig?: Partial<Config>
}

export type RunnerServices =
  | Sharding.Sharding
  | Runners.Runners
  | MessageStorage.MessageStorage
  | ShardingConfig.ShardingConfig
  | NatsRunnerLease

/** The same on every node, or the nodes would look for an actor in different places. */
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

/** Unique per process: no port is bound that would keep a second one from using the address. */
const addressOf = (node: string): RunnerAddress.RunnerAddress => RunnerAddress.make(`${token(node)}-${nuid.next()}`, 1)

const configOf = (options: Omit<RunnerOptions, "node">, address: Option.Option<RunnerAddress.RunnerAddress>) =>
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
      const address = addressOf(options.node)
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

/** Calls the actors of other nodes, holds none. */
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
