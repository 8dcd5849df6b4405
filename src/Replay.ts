/** What `aicr replay` runs on: the records and objects of a configuration, opened beside the service, which they change nothing of. Wiring only. */
import { Effect, Layer } from "effect"
import { ExitWith } from "./cli/Exit.ts"
import { withModel } from "./cli/local/LocalConfig.ts"
import type { ReplayOptions, ReplayReport } from "./cli/ReplayCommand.ts"
import { agentLayer } from "./agent/AgentModes.ts"
import { layerOf } from "./config/FileConfigStore.ts"
import { loadConfig } from "./config/LoadConfig.ts"
import type { Snapshot } from "./config/Snapshot.ts"
import { recordsOf } from "./Database.ts"
import { NotReplayable, replayRun } from "./engine/ReplayRun.ts"
import * as ChangeThreads from "./engine/threads/ChangeThreads.ts"
import { Catalog } from "./llm/catalog/Catalog.ts"
import { Evidence } from "./llm/Evidence.ts"
import { Gateway } from "./llm/Gateway.ts"
import { gatewayLayer } from "./llm/GatewayLayer.ts"
import { recordedAnswers } from "./llm/RecordedGateway.ts"
import * as Logging from "./observability/Logging.ts"
import { Runs } from "./store/Runs.ts"
import type { Run } from "./store/Runs.ts"
import { objects } from "./Stores.ts"
import { ModelRun } from "./llm/ModelRun.ts"

const recentRuns = 20

const opened = Effect.fnUntraced(function* (config: string) {
  const snapshot = yield* loadConfig({ file: config }, process.env, { unset: "warnings" })
  return {
    snapshot,
    stores: Layer.mergeAll(recordsOf(snapshot, "verify"), objects).pipe(Layer.provide(layerOf(snapshot)))
  }
})

/** What is known about models comes from this machine alone. */
const offline = (snapshot: Snapshot): Snapshot => {
  const { llm } = snapshot.document
  const model_catalog = { ...llm.model_catalog, offline: true }
  return { ...snapshot, document: { ...snapshot.document, llm: { ...llm, model_catalog } } }
}

/** The newest runs on record. */
export const recent = (config: string): Effect.Effect<ReadonlyArray<Run>, ExitWith> =>
  Effect.flatMap(opened(config), ({ stores }) =>
    Effect.flatMap(Runs, (runs) => runs.list({ limit: recentRuns })).pipe(Effect.provide(stores))
  ).pipe(
    Effect.provide(Logging.layerAt("error")),
    Effect.catchTags({
      ConfigInvalid: ({ message }) => new ExitWith({ code: 2, message }),
      StoreError: ({ message }) => new ExitWith({ code: 3, message })
    })
  )

export const replay = ({ run: id, config, model }: ReplayOptions): Effect.Effect<ReplayReport, ExitWith> =>
  Effect.gen(function* () {
    const { snapshot: configured, stores } = yield* opened(config)
    return yield* Effect.gen(function* () {
      const run = yield* (yield* Runs).get(id)
      if (run === undefined) {
        return yield* new NotReplayable({
          message: `run ${id} not found in the records of ${config}; storage.retention.recent_runs limits how many are kept`
        })
      }
      const found = configured.workspaces.get(run.workspace)
      if (found === undefined) {
        return yield* new NotReplayable({
          message: `run ${id} was made for workspace ${run.workspace}, which ${config} does not have any more`
        })
      }
      const otherConfiguration = run.configHash !== configured.hash
      if (model !== undefined) {
        const asked = yield* withModel(configured, found, model)
        const replayed = yield* replayRun(run, asked.snapshot, asked.workspace).pipe(
          Effect.provide(agentLayer.pipe(Layer.provideMerge(gatewayLayer)))
        )
        return { run, replay: replayed, answers: undefined, otherConfiguration }
      }
      const answers = yield* recordedAnswers(run.id)
      const workspace = { ...found, agent: { ...found.agent, default: "native-llm" as const } }
      const replayed = yield* replayRun(run, offline(configured), workspace).pipe(
        Effect.provide(
          agentLayer.pipe(
            Layer.provideMerge(Layer.succeed(Gateway, answers.gateway)),
            Layer.merge(Catalog.layerOffline)
          )
        )
      )
      return {
        run,
        replay: replayed,
        answers: { recorded: answers.recorded, ...answers.asked() },
        otherConfiguration
      }
    }).pipe(
      Effect.provideService(ModelRun, { id: `replay:${id}`, repository: "replay" }),
      Effect.provide(Layer.provideMerge(Evidence.layer, stores))
    )
  }).pipe(
    Effect.provide([Logging.layerAt("error"), ChangeThreads.layer]),
    Effect.catchTags({
      ConfigInvalid: ({ message }) => new ExitWith({ code: 2, message }),
      NotReplayable: ({ message }) => new ExitWith({ code: 2, message }),
      StoreError: ({ message }) => new ExitWith({ code: 3, message }),
      AgentError: ({ message }) => new ExitWith({ code: 3, message: `the replay came to no result: ${message}` }),
      CheckoutError: ({ message }) => new ExitWith({ code: 3, message }),
      AnalysisError: ({ message }) => new ExitWith({ code: 3, message }),
      PatchTooLarge: ({ message }) => new ExitWith({ code: 3, message })
    })
  )
