/** Implementation of `aicr eval`: the engine on labelled changes, with the configured model or the demo's rules. Wiring only. */
import { Effect, Layer } from "effect"
import { agentLayer } from "../agent/AgentLayer.ts"
import { localCliAgents } from "./AgentServices.ts"
import type { EvaluateOptions } from "../cli/EvalCommand.ts"
import type { ListOutcomes, ReadOutcomes } from "../cli/EvalRecorded.ts"
import type { ExitWith } from "../cli/Exit.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import { localConfig } from "../cli/local/LocalConfig.ts"
import type { ModelFinder } from "../cli/local/LocalConfig.ts"
import type { StoredRevisions } from "../cli/ReadSnapshot.ts"
import { demoModelName, startDemoModel } from "../../demo/DemoModel.ts"
import { runCases } from "../../eval/RunCases.ts"
import type { EvalScore } from "../../eval/Score.ts"
import * as ChangeThreads from "../engine/ChangeThreads.ts"
import { detectModel, detectVariables } from "../llm/providers/Detect.ts"
import { gatewayLayer } from "../llm/GatewayLayer.ts"
import * as Logging from "../observability/logs/Logging.ts"
import { Outcomes } from "../store/Outcomes.ts"
import type { OutcomePage } from "../store/Outcomes.ts"
import { layerLocal } from "../vcs/LocalLayer.ts"
import * as GitScratchRepository from "../vcs/git/GitScratchRepository.ts"

const demoFinder = Effect.map(startDemoModel, (base_url): ModelFinder => ({
  variables: [],
  find: () => ({ provider: { id: "demo", kind: "openai_compatible", base_url }, model: demoModelName })
}))

const detected: ModelFinder = { find: detectModel, variables: detectVariables }

/** Reads what became of the findings of the service with this configuration. */
export const readOutcomes: ReadOutcomes = (config, since) =>
  Effect.flatMap(
    Effect.promise(() => import("./OpenRecords.ts")),
    ({ onRecords }) =>
      onRecords(
        config,
        Outcomes.use((outcomes) => outcomes.counts(since))
      )
  )

/** Outcomes that are read at a time. */
const pageSize = 1000

/** Passes the outcomes of the findings of the service with this configuration on. */
export const listOutcomes: ListOutcomes = (config, print, since) =>
  Effect.flatMap(
    Effect.promise(() => import("./OpenRecords.ts")),
    ({ onRecords }) =>
      onRecords(
        config,
        Effect.gen(function* () {
          const outcomes = yield* Outcomes
          let after: OutcomePage["after"]
          do {
            const page = yield* outcomes.list({ since, after, limit: pageSize })
            yield* print(page)
            after = page.length < pageSize ? undefined : page.at(-1)
          } while (after !== undefined)
        })
      )
  )

export const evaluate = (options: EvaluateOptions): Effect.Effect<EvalScore, ExitWith, StoredRevisions> =>
  Effect.gen(function* () {
    const finder = options.demo ? yield* demoFinder : detected
    const given = options.demo ? { ...options, config: undefined, workspace: undefined, model: undefined } : options
    const { snapshot, workspace } = yield* localConfig(given, finder, process.env)
    const { cases, concurrency, progress } = options
    return yield* runCases({ snapshot, workspace, cases, concurrency, progress })
  }).pipe(
    Effect.scoped,
    Effect.provide([
      layerLocal,
      ChangeThreads.layer,
      GitScratchRepository.layer,
      agentLayer.pipe(Layer.provide(localCliAgents), Layer.provideMerge(gatewayLayer)),
      quietLogs
    ]),
    endWithCode
  )

const quietLogs = Logging.layerAt("warn")
