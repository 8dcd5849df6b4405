/** Implementation of `aicr serve`: the service in the profile of the environment, and its failures as exit codes. Wiring only. */
import { flushCompileCache } from "node:module"
import { Effect, Layer, Result } from "effect"
import { natsSettings } from "../../nats/NatsSettings.ts"
import { refused } from "../cli/Exit.ts"
import type { ExitWith } from "../cli/Exit.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import { readRevisions } from "./ConfigSource.ts"
import type { ServeOptions } from "../cli/ServeCommand.ts"
import { layerFile } from "../config/snapshots/FileConfigStore.ts"
import { rolesProblem } from "../cli/Roles.ts"
import * as Logging from "../observability/logs/Logging.ts"
import * as Traces from "../observability/traces/Traces.ts"
import { Progress } from "../observability/Progress.ts"
import * as Service from "./Service.ts"

/** Also for the next process of one that is killed. */
const keepCompiled = Layer.effectDiscard(Effect.sync(flushCompileCache))

/** Runs until the process receives a signal to stop. */
export const serve = ({ config, roles }: ServeOptions): Effect.Effect<void, ExitWith> => {
  const nats = natsSettings(process.env)
  if (Result.isFailure(nats)) return refused(nats.failure)
  const settings = nats.success
  const problem = rolesProblem(roles, settings !== undefined)
  if (problem !== undefined) return refused(problem)
  const configured = Layer.provide(layerFile(config, process.env, { roles, revisions: readRevisions }))
  const launch = <E>(service: Layer.Layer<never, E>) => Layer.launch(keepCompiled.pipe(Layer.provide(service)))
  return Effect.gen(function* () {
    // Files of this process and of its children are readable by their own user only.
    process.umask(0o077)
    if (settings === undefined) {
      return yield* launch(Service.layer({ roles }).pipe(Layer.provide(Progress.layer), configured))
    }
    return yield* launch(Service.layerClustered(settings, { roles }).pipe(configured))
  }).pipe(Effect.provide([Logging.layer, Traces.layer(process.env)]), endWithCode)
}
