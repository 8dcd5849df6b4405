/**
 * Everything in one process: actors on one runner, tickets in memory, no server needed. A node without the working
 * roles only receives and stores; a later start with all of them does the work. Wiring only.
 *
 * Layers stop in the reverse order of their start: HTTP first (no new deliveries), then the executor (finishes or
 * releases its reviews), the other actors, the clients, the stores, and at last the lock of the data folder.
 */
import { Layer } from "effect"
import * as Actors from "../../actors/Actors.ts"
import * as RefusedConfiguration from "../../actors/notices/RefusedConfiguration.ts"
import { publishToActors } from "./ActorMessages.ts"
import { adminSocket } from "./AdminSocket.ts"
import { administration, readOnlyAdministration, thisNode, withActors } from "./Administration.ts"
import { LiveNodes } from "../domain/LiveNodes.ts"
import { localEngine } from "./LocalEngine.ts"
import * as ReceiveFound from "../ingress/ReceiveFound.ts"
import * as ReplayDeliveries from "../ingress/ReplayDeliveries.ts"
import { IngressServer } from "../ingress/Server.ts"
import { StoredFacts } from "../ingress/StoredFacts.ts"
import { isSingleNode } from "../domain/Role.ts"
import * as OutputsLayer from "../outputs/OutputsLayer.ts"
import { agentOver, identity, missing, records, threads, vcs, withPorts } from "./Parts.ts"
import { Cancellations } from "../queue/dispatch/Cancellations.ts"
import { NewerHeads } from "../queue/dispatch/NewerHeads.ts"
import { WritePermits } from "../forge/WritePermits.ts"
import { Tickets } from "../queue/dispatch/Tickets.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"

const agent = agentOver(localEngine).pipe(Layer.provide(identity))
const outputs = OutputsLayer.layer.pipe(Layer.provide(agent))

const facts = publishToActors.pipe(Layer.provide(NewerHeads.layerMemory))

const actors = Actors.layerAll.pipe(
  Layer.merge(missing),
  Layer.provide(ReceiveFound.layer.pipe(Layer.provide(facts))),
  Layer.provideMerge(localEngine),
  Layer.provide([
    WritePermits.layerAlone,
    outputs,
    vcs,
    threads,
    agent,
    Tickets.layerMemory,
    Cancellations.layerMemory,
    NewerHeads.layerMemory
  ]),
  Layer.provide(LiveNodes.layerAlone),
  Layer.provide(identity)
)

const administering = (roles: ServiceOptions["roles"]) =>
  administration.pipe(
    Layer.provide(Cancellations.layerMemory),
    Layer.provide(withActors(roles)),
    Layer.provide(ReplayDeliveries.layer.pipe(Layer.provide(facts))),
    Layer.provide(identity)
  )

const readOnly = (roles: ServiceOptions["roles"]) =>
  readOnlyAdministration.pipe(
    Layer.provide(thisNode(roles)),
    Layer.provide(ReplayDeliveries.layer.pipe(Layer.provide(StoredFacts.layerUnpublished))),
    Layer.provide(identity)
  )

export const layer = (options: ServiceOptions) => {
  const { roles, ingress = {} } = options
  // A node is ready once commands reach it on its socket.
  const http = IngressServer.layerOnPorts(ingress).pipe(Layer.provide(adminSocket.pipe(Layer.provide(identity))))
  const serving = isSingleNode(roles)
    ? http.pipe(Layer.provide([facts, administering(roles)]), Layer.provide(actors))
    : http.pipe(Layer.provide([StoredFacts.layerUnpublished, readOnly(roles)]))
  return Layer.merge(serving, RefusedConfiguration.layer.pipe(Layer.provide(identity))).pipe(
    Layer.provide(records),
    withPorts(options)
  )
}
