/**
 * The gateway over its services. What calls models (CallChain.ts) is loaded with the first call, because the AI SDK has a large part of the
 * modules of a node.
 */
import { Context, Effect, Layer } from "effect"
import type { GatewayServices } from "./calls/AttemptModel.ts"
import { Budget } from "./Budget.ts"
import { Catalog } from "./Catalog.ts"
import { layerMemory } from "./catalog/MemoryCatalogCache.ts"
import { makeConnections } from "./providers/Connections.ts"
import { Evidence } from "./Evidence.ts"
import { Gateway } from "./Gateway.ts"
import { Limiter } from "./Limiter.ts"
import { reusableResponses } from "./calls/ReuseResponses.ts"
import { Transport } from "./providers/Transport.ts"
import { WireGateway } from "./WireGateway.ts"

const chain = Effect.promise(() => import("./calls/CallChain.ts"))
const wire = Effect.promise(() => import("./wire/WireCalls.ts"))

const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const evidence = yield* Evidence
  const transport = yield* Transport
  const services: GatewayServices = {
    budget: yield* Budget,
    connect: makeConnections(transport),
    evidence,
    limiter: yield* Limiter,
    logRefused: transport.logRefused,
    reusable: reusableResponses(evidence)
  }
  const gateway = Gateway.of({
    call: (request) => Effect.flatMap(chain, ({ callChain }) => callChain(services, catalog, request))
  })
  const wireGateway = WireGateway.of({
    call: (call) => Effect.flatMap(wire, ({ callWire }) => callWire(services, transport, catalog, call)),
    models: (request) => Effect.flatMap(wire, ({ listWireModels }) => listWireModels(catalog, request))
  })
  return Context.empty().pipe(Context.add(Gateway, gateway), Context.add(WireGateway, wireGateway))
})

/** The gateway over the services for catalog, budget and permits, with its front for agents. */
export const layer: Layer.Layer<Gateway | WireGateway, never, Catalog | Budget | Limiter | Evidence> =
  Layer.effectContext(make).pipe(Layer.provide(Transport.layer))

/** The gateway of a single command: without shared or persistent state. */
export const gatewayLayer: Layer.Layer<Gateway | WireGateway | Catalog> = layer.pipe(
  Layer.provide([Budget.layerMemory, Limiter.layerMemory, Evidence.layerNone]),
  Layer.provideMerge(Catalog.layerWith({ waits: true }).pipe(Layer.provide(layerMemory)))
)
