/** Implementation of `aicr review`: the engine and a model, without queue, host or records. Wiring only. */
import { Effect, Layer } from "effect"
import { agentLayer } from "../agent/AgentLayer.ts"
import { localCliAgents } from "./AgentServices.ts"
import type { ExitWith } from "../cli/Exit.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import type { LocalReview } from "../cli/local/Report.ts"
import * as Local from "../cli/local/ReviewLocally.ts"
import type { StoredRevisions } from "../cli/ReadSnapshot.ts"
import { localEngine } from "./LocalEngine.ts"
import * as ChangeThreads from "../engine/ChangeThreads.ts"
import { detectModel, detectVariables } from "../llm/providers/Detect.ts"
import { gatewayLayer } from "../llm/GatewayLayer.ts"
import * as Logging from "../observability/logs/Logging.ts"
import { layerLocal } from "../vcs/LocalLayer.ts"
import * as Publisher from "../../actors/publishing/ChangePublisher.ts"
import * as Scheduler from "../../actors/scheduling/WorkspaceScheduler.ts"
import { findChange } from "../cli/local/FindChange.ts"
import { publishReview } from "../cli/local/PublishReview.ts"
import type { LocalPublisher } from "../cli/local/ReviewLocally.ts"
import { layerStatic } from "../config/snapshots/FileConfigStore.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { Forges } from "../forge/Forges.ts"
import { WritePermits } from "../forge/WritePermits.ts"
import { Progress } from "../observability/Progress.ts"
import * as OutputsLayer from "../outputs/OutputsLayer.ts"
import { Cancellations } from "../queue/dispatch/Cancellations.ts"
import * as MemoryQueue from "../queue/journal/MemoryQueue.ts"
import { Tickets } from "../queue/dispatch/Tickets.ts"
import { Cache } from "../store/Cache.ts"
import * as Store from "../store/StoreLayer.ts"
import { objects } from "./Stores.ts"
import { AuthorGuess } from "../outputs/AuthorGuess.ts"

/**
 * Services of `aicr review --publish`: hosts and channels of the configuration, and records that live as long as the
 * command. Wiring only.
 */

const outputs = (snapshot: Snapshot) =>
  OutputsLayer.layer.pipe(
    Layer.provide([Cache.layerNone, AuthorGuess.layerNone, Layer.orDie(Store.layerMemory)]),
    Layer.provide(objects.pipe(Layer.provide(layerStatic(snapshot)), Layer.orDie)),
    Layer.provideMerge(Forges.layer),
    Layer.provideMerge(layerStatic(snapshot))
  )

const publishing = (snapshot: Snapshot) =>
  Layer.mergeAll(Publisher.layer, Scheduler.layer).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        Store.layerMemory,
        MemoryQueue.layerMemory({ perWorkspace: 100, total: 100 }),
        Tickets.layerMemory,
        Cancellations.layerMemory,
        Progress.layer,
        WritePermits.layerAlone
      )
    ),
    Layer.provideMerge(outputs(snapshot)),
    Layer.provideMerge(localEngine)
  )

export const localPublisher: LocalPublisher = {
  find: (snapshot, workspace, wanted, head) =>
    findChange(snapshot, workspace, wanted, head).pipe(Effect.provide(outputs(snapshot))),
  publish: (snapshot, workspace, found, analysis) =>
    publishReview(snapshot, workspace, found, analysis).pipe(Effect.provide(publishing(snapshot)), endWithCode)
}

export const reviewLocally = (
  options: Local.LocalReviewOptions
): Effect.Effect<LocalReview, ExitWith, StoredRevisions> =>
  Local.reviewLocally(options, { find: detectModel, variables: detectVariables }, localPublisher).pipe(
    Effect.provide([
      layerLocal,
      ChangeThreads.layer,
      agentLayer.pipe(Layer.provide(localCliAgents), Layer.provideMerge(gatewayLayer)),
      quietLogs
    ]),
    endWithCode
  )

/** Progress is printed separately, so logs only report failures. */
const quietLogs = Logging.layerAt("warn")
