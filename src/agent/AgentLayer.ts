/** The table of agent modes, and the layer that runs a brief in the mode of its workspace. */
import { Effect, Layer } from "effect"
import { Gateway } from "../llm/Gateway.ts"
import { Agent } from "./Agent.ts"
import { CliAgents } from "./clis/CliAgents.ts"
import { analyseNatively, passLimits } from "./native/NativeLlm.ts"
import { queryModel } from "./native/QueryModel.ts"

const analyseInProcess = analyseNatively(passLimits)

/** Queries about a change go to the gateway in every mode. */
export const agentLayer = Layer.effect(
  Agent,
  Effect.gen(function* () {
    const gateway = yield* Gateway
    const clis = yield* CliAgents
    return Agent.of({
      analyse: (brief) => {
        const mode = brief.workspace.agent.default
        return mode === "native-llm"
          ? analyseInProcess(brief).pipe(Effect.provideService(Gateway, gateway))
          : clis.analyse(mode, brief)
      },
      query: (brief, query) => queryModel(brief, query).pipe(Effect.provideService(Gateway, gateway))
    })
  })
)

/** The layer without agent CLIs, for commands and tests that do not run any. */
export const nativeAgentLayer: Layer.Layer<Agent, never, Gateway> = agentLayer.pipe(Layer.provide(CliAgents.layerNone))
