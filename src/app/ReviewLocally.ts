/** Implementation of `aicr review`: the engine and a model, without queue, host or records. Wiring only. */
import { Effect, Layer } from "effect"
import { agentLayer } from "../agent/AgentLayer.ts"
import { localCliAgents } from "./AgentServices.ts"
import type { ExitWith } from "../cli/Exit.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import type { LocalReview } from "../cli/local/Report.ts"
import * as Local from "../cli/local/ReviewLocally.ts"
import type { StoredRevisions } from "../cli/ReadSnapshot.ts"
import * as ChangeThreads from "../engine/ChangeThreads.ts"
import { detectModel, detectVariables } from "../llm/providers/Detect.ts"
import { gatewayLayer } from "../llm/GatewayLayer.ts"
import * as Logging from "../observability/logs/Logging.ts"
import { localPublisher } from "./PublishLocally.ts"
import { layerLocal } from "../vcs/LocalLayer.ts"

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
