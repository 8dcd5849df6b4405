/** A node's executor with its scheduler and publisher, over stores in memory. What a test does not give it fails when it is used. */
import { Effect, Layer } from "effect"
import * as Publisher from "../../actors/publishing/ChangePublisher.ts"
import * as Executor from "../../actors/review/ReviewExecutor.ts"
import * as Scheduler from "../../actors/scheduling/WorkspaceScheduler.ts"
import { Agent } from "../../src/agent/Agent.ts"
import type { ConfigStore } from "../../src/config/ConfigStore.ts"
import { NodeIdentity } from "../../src/domain/NodeIdentity.ts"
import type { Forges } from "../../src/forge/Forges.ts"
import { Catalog } from "../../src/llm/Catalog.ts"
import { Gateway } from "../../src/llm/Gateway.ts"
import type { Outputs } from "../../src/outputs/Outputs.ts"
import { Objects } from "../../src/store/Objects.ts"
import type { Vcs } from "../../src/vcs/Checkout.ts"
import { ContextRepositories } from "../../src/vcs/ContextRepositories.ts"
import { actorStores } from "./ActorParts.ts"
import { testCluster } from "./TestCluster.ts"

const noContext = Layer.succeed(ContextRepositories, ContextRepositories.of({ mount: () => Effect.never }))

/** `given`: what the parts work with and tests change. */
export const executorWorld = <Given>(
  parts: Layer.Layer<Vcs | Outputs | Forges | ConfigStore, never, Given>,
  given: Layer.Layer<Given>
) =>
  Executor.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(Publisher.layer, Scheduler.layer)),
    Layer.provideMerge(
      Layer.mergeAll(
        actorStores(),
        NodeIdentity.layer("node"),
        noContext,
        Layer.mock(Objects, { get: () => Effect.undefined, put: () => Effect.void }),
        Layer.mock(Agent, {}),
        Layer.mock(Gateway, {}),
        Layer.mock(Catalog, {}),
        parts
      )
    ),
    Layer.provideMerge(given),
    Layer.provideMerge(testCluster)
  )
