/** Services of `aicr replay`: records and objects of a configuration, opened next to the service without any change to them. Wiring only. */
import { Effect, Layer } from "effect"
import { agentLayer } from "../agent/AgentModes.ts"
import type { ExitWith } from "../cli/Exit.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import { listRecentRuns, replayStored } from "../cli/local/ReplayStored.ts"
import type { ReplayEngines } from "../cli/local/ReplayStored.ts"
import type { ReplayOptions, ReplayReport } from "../cli/ReplayCommand.ts"
import { layerStatic } from "../config/FileConfigStore.ts"
import { loadConfig } from "../config/LoadConfig.ts"
import * as ChangeThreads from "../engine/threads/ChangeThreads.ts"
import { Catalog } from "../llm/catalog/Catalog.ts"
import { Evidence } from "../llm/Evidence.ts"
import { Gateway } from "../llm/Gateway.ts"
import { gatewayLayer } from "../llm/GatewayLayer.ts"
import * as Logging from "../observability/Logging.ts"
import type { Run } from "../store/Runs.ts"
import { layerRecords } from "./Database.ts"
import { objects } from "./Stores.ts"

const open = Effect.fnUntraced(function* (config: string) {
  const snapshot = yield* loadConfig({ file: config }, process.env, { unset: "warnings" })
  return {
    snapshot,
    stores: Layer.mergeAll(layerRecords(snapshot, "verify"), objects).pipe(Layer.provide(layerStatic(snapshot)))
  }
})

const engines: ReplayEngines = {
  calling: agentLayer.pipe(Layer.provideMerge(gatewayLayer)),
  offline: (gateway) =>
    agentLayer.pipe(Layer.provideMerge(Layer.succeed(Gateway, gateway)), Layer.merge(Catalog.layerOffline))
}

/** Returns the newest runs on record. */
export const recent = (config: string): Effect.Effect<ReadonlyArray<Run>, ExitWith> =>
  Effect.flatMap(open(config), ({ stores }) => Effect.provide(listRecentRuns, stores)).pipe(
    Effect.provide(Logging.layerAt("error")),
    endWithCode
  )

export const replay = (options: ReplayOptions): Effect.Effect<ReplayReport, ExitWith> =>
  Effect.flatMap(open(options.config), ({ snapshot, stores }) =>
    Effect.provide(replayStored(options, snapshot, engines), Layer.provideMerge(Evidence.layer, stores))
  ).pipe(Effect.provide([Logging.layerAt("error"), ChangeThreads.layer]), endWithCode)
