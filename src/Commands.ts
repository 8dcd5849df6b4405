/** What the commands run, with the layers they run on. Wiring only. */
import { Effect, Layer } from "effect"
import { agentLayer } from "./agent/AgentModes.ts"
import { ExitWith } from "./cli/Exit.ts"
import type { LocalReview } from "./cli/local/Report.ts"
import * as Local from "./cli/local/ReviewLocally.ts"
import type { ServeOptions } from "./cli/ServeCommand.ts"
import { layerFile } from "./config/FileConfigStore.ts"
import { detectModel, detectVariables } from "./llm/Detect.ts"
import { gatewayLayer } from "./llm/GatewayLayer.ts"
import * as Logging from "./observability/Logging.ts"
import { Progress } from "./observability/Progress.ts"
import * as Service from "./Service.ts"
import { layerLocal } from "./vcs/git/GitLocalRepository.ts"

/** Runs until the process is asked to stop. */
export const serve = ({ config, roles }: ServeOptions): Effect.Effect<void, ExitWith> => {
  const problem = Service.rolesProblem(roles)
  if (problem !== undefined) return new ExitWith({ code: 2, message: problem })
  return Layer.launch(
    Service.layer({ roles }).pipe(Layer.provide(layerFile(config, process.env)), Layer.provide(Progress.layer))
  ).pipe(
    Effect.provide(Logging.layer),
    Effect.catchTags({
      ConfigInvalid: ({ message }) => new ExitWith({ code: 2, message }),
      ConfigError: ({ message }) => new ExitWith({ code: 2, message }),
      StoreError: ({ message }) => new ExitWith({ code: 3, message }),
      QueueError: ({ message }) => new ExitWith({ code: 3, message }),
      IngressError: ({ message }) => new ExitWith({ code: 3, message })
    })
  )
}

/** One review on this machine: the engine and a model, without queue, host or records. */
export const reviewLocally = (options: Local.LocalReviewOptions): Effect.Effect<LocalReview, ExitWith> =>
  Local.reviewLocally(options, { find: detectModel, variables: detectVariables }).pipe(
    Effect.provide([layerLocal, agentLayer.pipe(Layer.provideMerge(gatewayLayer)), quietLogs]),
    Effect.catchTag("CheckoutError", ({ message }) => new ExitWith({ code: 3, message }))
  )

/** The steps are shown as they happen; logs only add what went wrong. */
const quietLogs = Logging.layerWith({ level: "warn", pretty: process.stderr.isTTY })
