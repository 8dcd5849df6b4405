/**
 * The gateway over its services. What calls models (CallChain.ts) is loaded with the first call, because the AI SDK has a large part of the
 * modules of a node.
 */
import { Effect, Layer } from "effect"
import type { GatewayServices } from "./AttemptModel.ts"
import { Budget } from "./Budget.ts"
import { Catalog } from "./catalog/Catalog.ts"
import { layerMemory } from "./catalog/MemoryCatalogCache.ts"
import { makeConnections } from "./Connections.ts"
import { Evidence } from "./Evidence.ts"
import { Gateway } from "./Gateway.ts"
import { Limiter } from "./Limiter.ts"
import { reusableResponses } from "./ReuseResponses.ts"
import { Transport } from "./Transport.ts"

const chain = Effect.promise(() => import("./CallChain.ts"))

const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const evidence = yield* Evidence
  const services: GatewayServices = {
    budget: yield* Budget,
    connect: makeConnections(yield* Transport),
    evidence,
    limiter: yield* Limiter,
    reusable: reusableResponses(evidence)
  }

  return Gateway.of({
    call: (request) => Effect.flatMap(chain, ({ callChain }) => callChain(services, catalog, request))
  })
})

/** The gateway over the services for catalog, budget and permits. */
export const layer: Layer.Layer<Gateway, never, Catalog | Budget | Limiter | Evidence> = Layer.effect(
  Gateway,
  make
).pipe(Layer.provide(Transport.layer))

/** The gateway of a single command: without shared or persistent state. */
export const gatewayLayer: Layer.Layer<Gateway | Catalog> = layer.pipe(
  Layer.provide([Budget.layerMemory, Limiter.layerMemory, Evidence.layerNone]),
  Layer.provideMerge(Catalog.layerWith({ waits: true }).pipe(Layer.provide(layerMemory)))
)
