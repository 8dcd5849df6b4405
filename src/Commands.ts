/** What the commands run, with the layers they run on. Wiring only. */
import { Effect, Layer } from "effect"
import { ExitWith } from "./cli/Exit.ts"
import type { ServeOptions } from "./cli/ServeCommand.ts"
import { layerFile } from "./config/FileConfigStore.ts"
import * as Logging from "./observability/Logging.ts"
import { Progress } from "./observability/Progress.ts"
import * as Service from "./Service.ts"

/** Runs until the process is asked to stop. */
export const serve = ({ config, roles }: ServeOptions): Effect.Effect<void, ExitWith> => {
  const problem = Service.rolesProblem(roles)
  if (problem !== undefined) return new ExitWith({ code: 2, message: problem })
  return Layer.launch(
    Service.layer({ roles }).pipe(Layer.provide(layerFile(config, process.env)), Layer.provide(Progress.layer))
  ).pipe(
    Effect.provide(Logging.layer),
    Effect.catchTags({
      ConfigInvalid: (error) => new ExitWith({ code: 2, message: error.message }),
      ConfigError: (error) => new ExitWith({ code: 2, message: error.message }),
      StoreError: (error) => new ExitWith({ code: 3, message: error.message }),
      QueueError: (error) => new ExitWith({ code: 3, message: error.message }),
      IngressError: (error) => new ExitWith({ code: 3, message: error.message })
    })
  )
}
