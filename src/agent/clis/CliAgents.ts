/** Runs briefs with agent CLIs. A service of its own, because commands without a sandbox have none. */
import { Context, Effect, Layer, Semaphore } from "effect"
import { totalmem } from "node:os"
import type { ModelRun } from "../../llm/ModelRun.ts"
import { AgentError } from "../Agent.ts"
import type { AgentReport, Brief } from "../Agent.ts"
import type { CliMode } from "./AgentPrograms.ts"
import { analyseByCli } from "./CliPass.ts"
import type { CliServices } from "./CliPass.ts"
import { passTimes } from "./PassLimits.ts"
import type { PassTimes } from "./PassLimits.ts"

/** A CLI takes some hundred megabytes. More passes than this wait on this node. */
const bytesOfOne = 1_073_741_824
const maxAtOnce = 8

/** Returns how many passes run at a time, from the memory of the machine and the limit of this process, 0 if it has none. */
export const countPasses = (machineBytes: number, limitBytes: number): number => {
  const bytes = limitBytes > 0 ? Math.min(machineBytes, limitBytes) : machineBytes
  return Math.max(1, Math.min(maxAtOnce, Math.floor(bytes / bytesOfOne)))
}

export class CliAgents extends Context.Service<
  CliAgents,
  { readonly analyse: (mode: CliMode, brief: Brief) => Effect.Effect<AgentReport, AgentError, ModelRun> }
>()("aicr/agent/CliAgents") {
  static readonly layerWith = (times: PassTimes): Layer.Layer<CliAgents, never, CliServices> =>
    Layer.effect(
      CliAgents,
      Effect.gen(function* () {
        const services = yield* Effect.context<CliServices>()
        const slots = yield* Semaphore.make(countPasses(totalmem(), process.constrainedMemory()))
        return CliAgents.of({
          analyse: (mode, brief) =>
            slots.withPermits(1)(Effect.provideContext(analyseByCli(mode, times)(brief), services))
        })
      })
    )

  static readonly layer = CliAgents.layerWith(passTimes)

  /** Refuses every mode; for commands that run no agent CLI. */
  static readonly layerNone: Layer.Layer<CliAgents> = Layer.succeed(
    CliAgents,
    CliAgents.of({
      analyse: (mode) => Effect.fail(new AgentError({ reason: "failed", why: { _tag: "AgentModeUnavailable", mode } }))
    })
  )
}
