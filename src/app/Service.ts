/** The service of one node, in the profile that its environment selects. Wiring only. */
import { Effect, Layer } from "effect"
import type { NatsSettings } from "../../nats/NatsSettings.ts"
import * as BuildProblems from "./BuildProblems.ts"
import * as EmbeddedProfile from "./EmbeddedProfile.ts"
import { limitHeapGrowth } from "./HeapGrowth.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"

const started = Layer.effectDiscard(Effect.sync(limitHeapGrowth))

/** The service as a single node. Needs the configuration and a progress store. Provides the address of the HTTP server. */
export const layer = (options: ServiceOptions) =>
  started.pipe(Layer.provideMerge(Layer.merge(EmbeddedProfile.layer(options), BuildProblems.layer(options.roles))))

const clusterProfile = Effect.promise(() => import("./ClusterProfile.ts"))

/** The service as a node of a cluster, over NATS. */
export const layerClustered = (settings: NatsSettings, options: ServiceOptions) =>
  started.pipe(
    Layer.provideMerge(
      Layer.merge(
        Layer.unwrap(Effect.map(clusterProfile, (profile) => profile.layer(settings, options))),
        BuildProblems.layer(options.roles)
      )
    )
  )
