/** Services of `aicr replay`: records and objects of a configuration, opened next to the service without any change to them. Wiring only. */
import { Effect, Layer } from "effect"
import { withRouteAnalysis } from "../admission/RouteAnalysis.ts"
import { nativeAgentLayer } from "../agent/AgentLayer.ts"
import type { ExitWith } from "../cli/Exit.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import { listRecentRuns, replayStored } from "../cli/local/ReplayStored.ts"
import type { ReplayEngines } from "../cli/local/ReplayStored.ts"
import type { ReplayOptions, ReplayReport } from "../cli/ReplayCommand.ts"
import { readSnapshot } from "../cli/ReadSnapshot.ts"
import type { StoredRevisions } from "../cli/ReadSnapshot.ts"
import { layerStatic } from "../config/snapshots/FileConfigStore.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import * as ChangeThreads from "../engine/ChangeThreads.ts"
import { Catalog } from "../llm/Catalog.ts"
import { Evidence } from "../llm/Evidence.ts"
import { Gateway } from "../llm/Gateway.ts"
import { gatewayLayer } from "../llm/GatewayLayer.ts"
import { restore } from "../config/snapshots/SnapshotArchive.ts"
import { Configurations } from "../store/configuration/Configurations.ts"
import * as Logging from "../observability/logs/Logging.ts"
import type { Run } from "../store/Runs.ts"
import { loadForStores } from "./CommandConfig.ts"
import { layerRecords } from "./Database.ts"
import { objects } from "./Stores.ts"

const storesOf = (snapshot: Snapshot) =>
  Layer.mergeAll(layerRecords(snapshot, "verify"), objects).pipe(Layer.provide(layerStatic(snapshot)))

const makeEngines = (configured: Snapshot, configurations: Configurations["Service"]): ReplayEngines => ({
  withRoute: withRouteAnalysis,
  pinned: (hash) =>
    Effect.map(configurations.find(hash), (found) =>
      found === undefined ? undefined : restore(found, process.env, configured)
    ),
  calling: nativeAgentLayer.pipe(Layer.provideMerge(gatewayLayer)),
  offline: (gateway) =>
    nativeAgentLayer.pipe(Layer.provideMerge(Layer.succeed(Gateway, gateway)), Layer.merge(Catalog.layerOffline))
})

/** Returns the newest runs on record. */
export const recent = (config: string): Effect.Effect<ReadonlyArray<Run>, ExitWith> =>
  Effect.flatMap(loadForStores(config), (snapshot) => Effect.provide(listRecentRuns, storesOf(snapshot))).pipe(
    Effect.provide(Logging.layerAt("error")),
    endWithCode
  )

export const replay = (options: ReplayOptions): Effect.Effect<ReplayReport, ExitWith, StoredRevisions> =>
  Effect.flatMap(readSnapshot(options.config, options), (snapshot) =>
    Effect.flatMap(Configurations, (configurations) =>
      replayStored(options, snapshot, makeEngines(snapshot, configurations))
    ).pipe(Effect.provide(Layer.provideMerge(Evidence.layer, storesOf(snapshot))))
  ).pipe(Effect.provide([Logging.layerAt("error"), ChangeThreads.layer]), endWithCode)
