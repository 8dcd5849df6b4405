/** Implements `aicr replay` over opened records: finds the run, and the configuration and model of the replay. */
import { Effect, Layer } from "effect"
import type { Agent, AgentError } from "../../agent/Agent.ts"
import type { Snapshot } from "../../config/Snapshot.ts"
import { NotReplayable, replayRun } from "../../engine/ReplayRun.ts"
import type { Catalog } from "../../llm/Catalog.ts"
import type { Gateway } from "../../llm/Gateway.ts"
import { ModelRun } from "../../llm/ModelRun.ts"
import { recordedResponses } from "../../llm/RecordedGateway.ts"
import { Runs } from "../../store/Runs.ts"
import type { Run } from "../../store/Runs.ts"
import type { ReplayOptions, ReplayReport } from "../ReplayCommand.ts"
import { ExitWith } from "../Exit.ts"
import { exitCodes } from "../ExitCodes.ts"
import { withModel } from "./LocalConfig.ts"

const recentRuns = 20

type Engine = Layer.Layer<Agent | Catalog | Gateway>

/** Engines of a replay. */
export interface ReplayEngines {
  /** Calls models, at their price. */
  readonly calling: Engine
  /** Takes every response from this gateway, and needs no network. */
  readonly offline: (gateway: Gateway["Service"]) => Engine
}

/** Returns the newest runs. */
export const listRecentRuns = Effect.flatMap(Runs, (runs) => runs.list({ limit: recentRuns }))

/** Returns the snapshot with the model catalog restricted to this machine. */
const withoutNetwork = (snapshot: Snapshot): Snapshot => {
  const { llm } = snapshot.document
  const model_catalog = { ...llm.model_catalog, offline: true }
  return { ...snapshot, document: { ...snapshot.document, llm: { ...llm, model_catalog } } }
}

const findRun = Effect.fnUntraced(function* (id: string, config: string) {
  const run = yield* (yield* Runs).get(id)
  if (run !== undefined) return run
  return yield* new NotReplayable({
    message: `run ${id} not found in the records of ${config}; storage.retention.recent_runs limits how many are kept`
  })
})

const workspaceOf = (run: Run, snapshot: Snapshot, config: string) => {
  const workspace = snapshot.workspaces.get(run.workspace)
  return workspace === undefined
    ? new NotReplayable({
        message: `run ${run.id} was made for workspace ${run.workspace}, which ${config} does not have any more`
      })
    : Effect.succeed(workspace)
}

/** Replays a run with the model of the options, or from its recorded responses. */
export const replayStored = Effect.fn("replayStored")(function* (
  { run: id, config, model }: ReplayOptions,
  configured: Snapshot,
  engines: ReplayEngines
) {
  const run = yield* findRun(id, config)
  const found = yield* workspaceOf(run, configured, config)
  const otherConfiguration = run.configHash !== configured.hash
  const billed = Effect.provideService(ModelRun, { id: `replay:${id}`, repository: "replay" })
  const mode = found.agent.default
  const reason =
    mode === "native-llm"
      ? ""
      : `. Workspace ${run.workspace} reviews with the agent CLI ${mode}, whose calls cannot be repeated: with --model, native-llm reviews the same change`
  const failed = ({ message }: AgentError) =>
    new ExitWith({ code: exitCodes.failed, message: `the replay came to no result: ${message}${reason}` })
  if (model !== undefined) {
    const replaced = yield* withModel(configured, found, model)
    const replay = yield* replayRun(run, replaced.snapshot, replaced.workspace).pipe(
      billed,
      Effect.provide(engines.calling)
    )
    return { run, replay, responses: undefined, otherConfiguration } satisfies ReplayReport
  }
  const recorded = yield* recordedResponses(run.id)
  const workspace = { ...found, agent: { ...found.agent, default: "native-llm" as const } }
  const replay = yield* replayRun(run, withoutNetwork(configured), workspace).pipe(
    billed,
    Effect.provide(engines.offline(recorded.gateway)),
    Effect.catchTag("AgentError", failed)
  )
  return {
    run,
    replay,
    responses: { recorded: recorded.recorded, ...recorded.compareRequests() },
    otherConfiguration
  } satisfies ReplayReport
})
