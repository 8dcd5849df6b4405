/**
 * Profile of a node in a cluster: actors on Effect's cluster over NATS, each role on the nodes that have it. The
 * ingress, the executor and the actors send their messages through one client that outlives them, so that a stopping
 * node hands its actors over immediately while its last reviews still reserve budget and request permits. Wiring only.
 *
 * Order of the stop: deliveries, reviews and actors end concurrently; then the client, the stores, and at last the node
 * itself.
 */
import { Effect, Layer } from "effect"
import * as Actors from "../../actors/Actors.ts"
import * as RefusedConfiguration from "../../actors/notices/RefusedConfiguration.ts"
import { shardGroups } from "../../actors/Placement.ts"
import * as WritePacer from "../../actors/limits/WritePacer.ts"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { NatsEvents } from "../../nats/NatsEvents.ts"
import { NatsLockHealth, observeRunner } from "../../nats/NatsLockHealth.ts"
import { NatsNodes } from "../../nats/NatsNodes.ts"
import * as NatsRunner from "../../nats/NatsRunner.ts"
import type { NatsSettings } from "../../nats/NatsSettings.ts"
import { publishToActors } from "./ActorMessages.ts"
import * as NatsNodeList from "../admin/nodes/NatsNodeList.ts"
import { administration } from "./Administration.ts"
import { adminSocket } from "./AdminSocket.ts"
import { clusterProblems } from "../config/checks/Cluster.ts"
import { ConfigStore } from "../config/ConfigStore.ts"
import { layerClient, locateDatabase } from "./Database.ts"
import * as StoreClock from "../database/sql/StoreClock.ts"
import { ConfigInvalid } from "../config/LoadConfig.ts"
import * as NatsConfigHead from "../config/snapshots/NatsConfigHead.ts"
import { NodeIdentity } from "../domain/NodeIdentity.ts"
import { AwaitedServers } from "../ingress/AwaitedServers.ts"
import * as ReceiveFound from "../ingress/ReceiveFound.ts"
import * as ReplayDeliveries from "../ingress/ReplayDeliveries.ts"
import { IngressServer } from "../ingress/Server.ts"
import * as NodeWatch from "../admin/nodes/NodeWatch.ts"
import * as NatsMetrics from "../observability/cluster/NatsMetrics.ts"
import * as NatsProgress from "../observability/cluster/NatsProgress.ts"
import * as OutputsLayer from "../outputs/OutputsLayer.ts"
import { agentOver, identity, missing, records, threads, vcs, withPorts } from "./Parts.ts"
import { actorCount, presence, toVersion, withoutActors } from "../admin/nodes/NatsPresence.ts"
import * as NatsCancellations from "../queue/dispatch/NatsCancellations.ts"
import * as NatsEvictions from "../queue/dispatch/NatsEvictions.ts"
import * as NatsLiveNodes from "../queue/dispatch/NatsLiveNodes.ts"
import * as NatsNewerHeads from "../queue/dispatch/NatsNewerHeads.ts"
import * as NatsTickets from "../queue/dispatch/NatsTickets.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"

/** Stores that only this node would see are refused before any is opened. */
const refuseOwnStores = Layer.effectDiscard(
  Effect.gen(function* () {
    const problems = clusterProblems((yield* ConfigStore).current())
    if (problems.some(({ severity }) => severity === "error")) return yield* ConfigInvalid.of(problems)
  })
)

/** The time of the records, on every node. */
const clock = Layer.unwrap(
  Effect.map(Effect.all([ConfigStore, AwaitedServers]), ([config, awaited]) =>
    StoreClock.layer(awaited.of("postgres")).pipe(Layer.provide(layerClient(locateDatabase(config.current()))))
  )
)

const bus = (settings: NatsSettings) =>
  Layer.merge(NatsEvents.layer, NatsLockHealth.layer).pipe(
    Layer.provideMerge(
      Layer.unwrap(
        Effect.map(Effect.all([NodeIdentity, AwaitedServers]), ([{ name }, awaited]) =>
          NatsConnection.layer({ settings, name: `aicr ${name}`, wait: awaited.of("nats") })
        )
      )
    )
  )

const client = NatsRunner.layerClientOnly({ shardGroups })

/** Runs the actors of these groups. The layer is fresh, because it is a second engine in addition to that of the client. */
const runner = (assigned: ReadonlyArray<string>) =>
  Layer.fresh(
    Layer.unwrap(
      Effect.map(NodeIdentity, ({ name, owner }) => {
        const incarnation = owner.slice(owner.lastIndexOf("/") + 1)
        return Layer.provideMerge(
          NatsEvictions.layer,
          NatsRunner.layer({ node: name, incarnation, shardGroups, assigned })
        )
      })
    )
  )

const agent = agentOver(client)
const outputs = OutputsLayer.layer.pipe(Layer.provide(agent))
const notifications = Layer.mergeAll(NatsTickets.layer, NatsCancellations.layer, NatsNewerHeads.layer)

export const layer = (settings: NatsSettings, options: ServiceOptions) => {
  const { roles, ingress = {} } = options
  const server = Layer.unwrap(
    Effect.map(Effect.all([NatsConnection, NatsLockHealth, NatsNodes]), ([{ roundTrip }, locks, nodes]) =>
      IngressServer.layerOnPorts({
        ...ingress,
        ready: [
          { name: "nats", check: roundTrip },
          { name: "locks", check: locks.isHeld }
        ],
        nodes: Effect.map(nodes.list, (listed) => listed.map(toVersion)),
        alive: [{ name: "locks", check: locks.isAlive }]
      })
    )
  )
  const facts = publishToActors.pipe(Layer.provide(NatsNewerHeads.layer))
  // A node is ready once commands reach it on its socket.
  const http = server.pipe(
    Layer.provide(adminSocket),
    Layer.provide([
      facts,
      administration.pipe(
        Layer.provide([NatsNodeList.layer, NatsCancellations.layer, ReplayDeliveries.layer.pipe(Layer.provide(facts))])
      )
    ]),
    Layer.provide(client)
  )

  const executor = roles.has("executor")
    ? Actors.executing.pipe(
        Layer.merge(missing),
        Layer.provide([outputs, vcs, threads, agent, notifications]),
        Layer.provide(client)
      )
    : Layer.empty

  const groups = shardGroups.filter((group) => roles.has(group))
  const permits = WritePacer.permitsLayer.pipe(Layer.provide(client))
  const actors =
    groups.length === 0
      ? withoutActors(roles)
      : Layer.mergeAll(
          roles.has("actors") ? Actors.deciding.pipe(Layer.provide([notifications, vcs])) : Layer.empty,
          roles.has("publisher")
            ? Actors.publishing.pipe(
                Layer.provide([outputs, permits, ReceiveFound.layer.pipe(Layer.provide([facts, NatsNewerHeads.layer]))])
              )
            : Layer.empty,
          roles.has("chat") ? Actors.chatting.pipe(Layer.provide(agent)) : Layer.empty,
          actorCount(roles),
          observeRunner
        ).pipe(Layer.provide(runner(groups)))

  return Layer.mergeAll(
    http,
    executor,
    actors,
    RefusedConfiguration.layer,
    NatsConfigHead.layer,
    NatsMetrics.layer,
    NodeWatch.layer.pipe(Layer.provide(NatsNodeList.layer))
  ).pipe(
    Layer.provide(NatsProgress.layer),
    Layer.provide(NatsLiveNodes.layer),
    Layer.provide(records),
    Layer.provide(presence(roles)),
    Layer.provide(bus(settings)),
    Layer.provide(identity),
    Layer.provide(clock),
    withPorts(options),
    Layer.provide(refuseOwnStores)
  )
}
