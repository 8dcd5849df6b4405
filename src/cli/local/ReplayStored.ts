/**
 * Implements `aicr replay` over opened records: finds the run, and the configuration and model of the replay. The configuration is that of the
 * run, while it is stored, or that of today.
 */
import { Effect, Layer } from "effect"
import type { Agent, AgentError } from "../../agent/Agent.ts"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"
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
import type { StoreError } from "../../database/StoreError.ts"
import { fenceName, maxFenceBytes } from "../../llm/Evidence.ts"
import { Objects } from "../../store/Objects.ts"

const recentRuns = 20

type Engine = Layer.Layer<Agent | Catalog | Gateway>

/** Engines of a replay, and the stored configurations. */
export interface ReplayEngines {
  /** Returns the configuration with this hash; undefined if it is not stored any more. */
  readonly pinned: (hash: string) => Effect.Effect<Snapshot | undefined, StoreError>
  /** Applies the analysis that a rule of routes sets for the change. */
  readonly withRoute: (workspace: Workspace, change: Run["change"]) => Workspace
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

/** Returns the configuration of the replay, and its workspace. */
const findConfiguration = Effect.fnUntraced(function* (
  run: Run,
  { config, current }: ReplayOptions,
  configured: Snapshot,
  { pinned, withRoute }: ReplayEngines
) {
  const made = run.configHash === configured.hash ? configured : yield* pinned(run.configHash)
  const snapshot = current ? configured : made
  if (snapshot === undefined) {
    return yield* new NotReplayable({
      message: `the configuration of run ${run.id} is no longer stored; --current replays it with that of ${config}`
    })
  }
  const found = snapshot.workspaces.get(run.workspace)
  if (found === undefined) {
    return yield* new NotReplayable({
      message: `run ${run.id} was made for workspace ${run.workspace}, which ${config} does not have any more`
    })
  }
  const before = (made ?? snapshot).workspaces.get(run.workspace) ?? found
  return {
    snapshot,
    workspace: withRoute(found, run.change),
    mode: withRoute(before, run.change).agent.default
  }
})

/** Replays a run with the model of the options, or from its recorded responses. */
export const replayStored = Effect.fn("replayStored")(function* (
  options: ReplayOptions,
  configured: Snapshot,
  engines: ReplayEngines
) {
  const { config, model, run: id } = options
  const run = yield* findRun(id, config)
  const { mode, snapshot, workspace } = yield* findConfiguration(run, options, configured, engines)
  const otherConfiguration = run.configHash !== snapshot.hash
  const fenceKey = yield* (yield* Objects).get(fenceName(id), maxFenceBytes)
  const billed = Effect.provideService(ModelRun, { id: `replay:${id}`, repository: "replay", fenceKey })
  if (model !== undefined) {
    const replaced = yield* withModel(snapshot, workspace, model)
    const replay = yield* replayRun(run, replaced.snapshot, replaced.workspace).pipe(
      billed,
      Effect.provide(engines.calling)
    )
    return { run, replay, responses: undefined, otherConfiguration } satisfies ReplayReport
  }
  if (mode !== "native-llm") {
    return yield* new NotReplayable({
      message: `run ${id} was made with the agent CLI ${mode}, whose calls cannot be repeated. With --model, native-llm reviews the same change`
    })
  }
  const recorded = yield* recordedResponses(run.id)
  const native = { ...workspace, agent: { ...workspace.agent, default: mode } }
  const replay = yield* replayRun(run, withoutNetwork(snapshot), native).pipe(
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

const failed = ({ message }: AgentError) =>
  new ExitWith({ code: exitCodes.failed, message: `the replay came to no result: ${message}` })
