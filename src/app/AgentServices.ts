/** Agent CLIs of a node: their programs, sandboxes, model proxies and tool servers. Wiring only. */
import { Effect, Layer } from "effect"
import { CliAgents } from "../agent/CliAgents.ts"
import { layer as programs } from "../agent/clis/ProgramFolder.ts"
import { toolServersLayer } from "../agent/mcp/ToolServersLayer.ts"
import { modelProxiesLayer } from "../agent/proxy/ModelProxiesLayer.ts"
import { toSnapshot } from "../config/LoadConfig.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { sandboxesLayer } from "../sandbox/SandboxesLayer.ts"
import { AgentPasses } from "../store/AgentPasses.ts"
import { agentsFolder, sandboxFolder } from "./AgentFolders.ts"
import { fromConfig } from "./FromConfig.ts"

/** The services of passes without records. */
const passServices = (snapshot: Snapshot) => {
  const folder = sandboxFolder(snapshot)
  return Layer.mergeAll(
    programs(agentsFolder(snapshot)),
    sandboxesLayer(`${folder}/kinds`, process.env),
    toolServersLayer(`${folder}/tools`),
    modelProxiesLayer(`${folder}/models`)
  )
}

/** Services for commands, which keep no records of passes. */
export const agentServices = (snapshot: Snapshot) =>
  CliAgents.layer.pipe(Layer.provide(AgentPasses.layerNone), Layer.provideMerge(passServices(snapshot)))

/** Agent CLIs for commands that read a configuration later than they build their layers. */
export const localCliAgents = Layer.unwrap(
  Effect.map(Effect.orDie(toSnapshot({}, process.env, { baseDir: process.cwd() })), agentServices)
)

/** Agent CLIs of the service, over its records. */
export const cliAgents = fromConfig((snapshot) => CliAgents.layer.pipe(Layer.provide(passServices(snapshot))))
