/** Agent CLIs of a node: their programs, sandboxes, model proxies and tool servers. Wiring only. */
import { Effect, Layer, Stream } from "effect"
import { CliAgents } from "../agent/clis/CliAgents.ts"
import { findAgent, listUsedAgents } from "../agent/check/UsedAgents.ts"
import { layer as programs } from "../agent/clis/ProgramFolder.ts"
import { toolServersLayer } from "../agent/mcp/ToolServersLayer.ts"
import { modelProxiesLayer } from "../agent/proxy/ModelProxiesLayer.ts"
import { webSearchLayer } from "../agent/search/WebSearchLayer.ts"
import { ConfigStore } from "../config/ConfigStore.ts"
import { toSnapshot } from "../config/LoadConfig.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { scrubSecrets } from "../review/Secrets.ts"
import { sandboxesLayer } from "../sandbox/SandboxesLayer.ts"
import { AgentPasses } from "../store/AgentPasses.ts"
import { agentsFolder, sandboxFolder } from "./AgentFolders.ts"
import { fromConfig } from "./FromConfig.ts"

/** Maximum number of workspaces that a warning names. */
const maxWorkspaces = 20

/** The services of passes without records. */
const passServices = (snapshot: Snapshot) => {
  const folder = sandboxFolder(snapshot)
  return Layer.mergeAll(
    programs(agentsFolder(snapshot)),
    sandboxesLayer(`${folder}/kinds`, process.env),
    toolServersLayer(`${folder}/tools`),
    modelProxiesLayer(`${folder}/models`),
    webSearchLayer(scrubSecrets)
  )
}

/** Services for commands, which keep no records of passes. */
export const agentServices = (snapshot: Snapshot) =>
  CliAgents.layer.pipe(Layer.provide(AgentPasses.layerNone), Layer.provideMerge(passServices(snapshot)))

/** Agent CLIs for commands that read a configuration later than they build their layers. */
export const localCliAgents = Layer.unwrap(
  Effect.map(Effect.orDie(toSnapshot({}, process.env, { baseDir: process.cwd() })), agentServices)
)

/** Services that find programs and kinds of sandboxes. No sandbox is started, so their folder does not exist. */
const findServices = (snapshot: Snapshot) =>
  Layer.merge(programs(agentsFolder(snapshot)), sandboxesLayer(`${sandboxFolder(snapshot)}/unused`, process.env))

/** Warns of configured agent CLIs that this node lacks, when it starts and when a configuration adds one. Each mode once. */
export const missingAgents = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* ConfigStore
    const warned = new Set<string>()
    const warn = (snapshot: Snapshot) =>
      Effect.forEach(listUsedAgents(snapshot.workspaces.values()), ({ mode, sandbox, workspaces }) =>
        Effect.catch(findAgent(mode, sandbox), ({ message }) => {
          if (warned.has(`${mode} ${message}`)) return Effect.void
          warned.add(`${mode} ${message}`)
          return Effect.logWarning("agent CLI missing, reviews of its workspaces fail", {
            mode,
            workspaces: workspaces.slice(0, maxWorkspaces),
            reason: message
          })
        })
      ).pipe(Effect.provide(findServices(snapshot)))
    yield* Stream.concat(Stream.sync(config.current), config.changes).pipe(
      Stream.runForEach(warn),
      Effect.forkScoped({ startImmediately: true })
    )
  })
)

/** Agent CLIs of the service, over its records. */
export const cliAgents = fromConfig((snapshot) => CliAgents.layer.pipe(Layer.provide(passServices(snapshot))))
