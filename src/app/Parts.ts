/** Parts that a node has in either profile, over the stores of its configuration. Wiring only. */
import { Effect, Layer, Stream } from "effect"
import { hostname } from "node:os"
import { agentLayer } from "../agent/AgentLayer.ts"
import { cliAgents, missingAgents } from "./AgentServices.ts"
import { configSource } from "./ConfigSource.ts"
import { ConfigStore } from "../config/ConfigStore.ts"
import { usableFolders } from "./DataFolders.ts"
import { NodeIdentity } from "../domain/NodeIdentity.ts"
import * as ChangeThreads from "../engine/ChangeThreads.ts"
import { Forges } from "../forge/Forges.ts"
import * as LearnOwnAccounts from "../forge/hosts/LearnOwnAccounts.ts"
import { OwnAccounts } from "../forge/OwnAccounts.ts"
import { LastError } from "../observability/LastError.ts"
import { AwaitedServers } from "../ingress/AwaitedServers.ts"
import { OpenPorts } from "../ingress/OpenPorts.ts"
import * as KeepConfigurations from "./KeepConfigurations.ts"
import * as KeepRunLogs from "./KeepRunLogs.ts"
import * as ModelServices from "./ModelServices.ts"
import { queues } from "./Queues.ts"
import { repeatStart } from "./RepeatStart.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"
import { cache, objects, spool, stores } from "./Stores.ts"
import { processLimits } from "../vcs/process/ProcessLimits.ts"
import * as KeepWorkspaceCache from "../vcs/cache/KeepWorkspaceCache.ts"
import * as Launcher from "../vcs/process/Launcher.ts"
import { layerVcs } from "../vcs/VcsLayer.ts"
import { hasProgram, listPrograms } from "../config/Requirements.ts"
import type { Snapshot } from "../config/Snapshot.ts"

/** Warns of programs that the configuration needs and this node lacks, when it starts and when a configuration adds one. Each once. */
const missingPrograms = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* ConfigStore
    const warned = new Set<string>()
    const warn = (snapshot: Snapshot) =>
      Effect.forEach(listPrograms(snapshot), ({ install, name, why }) =>
        Effect.flatMap(hasProgram(name), (isFound) => {
          if (isFound || warned.has(name)) return Effect.void
          warned.add(name)
          return Effect.logWarning("program missing, reviews that need it fail", {
            program: name,
            needed_for: why,
            advice: install
          })
        })
      )
    yield* Stream.concat(Stream.sync(config.current), config.changes).pipe(
      Stream.runForEach(warn),
      Effect.forkScoped({ startImmediately: true })
    )
  })
)

export const identity = NodeIdentity.layer(process.env["SVC_NODE_NAME"] ?? hostname())

/**
 * Records, queue, cache and hosts. Every node loads its own accounts, because a node that receives deliveries has to
 * recognise comments of this service.
 */
export const records = queues.pipe(
  Layer.provideMerge(configSource.pipe(Layer.provide(identity))),
  Layer.provideMerge(KeepConfigurations.layer),
  Layer.provideMerge(KeepRunLogs.layer),
  Layer.provideMerge(LastError.layer),
  Layer.provideMerge(stores),
  Layer.provideMerge(spool),
  Layer.provideMerge(LearnOwnAccounts.layer),
  Layer.provideMerge(Layer.mergeAll(Forges.layer, OwnAccounts.layer, objects, cache))
)

/** Version control systems: mirrors and worktrees under workspaces.root, kept within workspaces.cache. A launcher starts their programs. */
export const vcs = KeepWorkspaceCache.layer.pipe(
  Layer.provideMerge(Launcher.layer),
  Layer.provideMerge(
    Layer.unwrap(
      Effect.map(ConfigStore, (config) =>
        layerVcs({
          root: config.current().workspacesRoot,
          limits: () => processLimits(config.current().document.workspaces.limits)
        })
      )
    )
  )
)

/** Threads that analyse changes. */
export const threads = ChangeThreads.layer

/** Analysis: the modes of agents, and the gateway to models, over the engine of the actors. */
export const agentOver = <A, E, R>(engine: Layer.Layer<A, E, R>) =>
  agentLayer.pipe(Layer.provide(cliAgents), Layer.provideMerge(ModelServices.gateway), Layer.provide(engine))

/** Warns of what a node that executes reviews lacks. */
export const missing = Layer.merge(missingAgents, missingPrograms)

/** Opens the ports before everything else of a node, and repeats the start of the rest when a server disconnects. */
export const withPorts =
  ({ roles, ingress = {} }: ServiceOptions) =>
  <A, E, R>(node: Layer.Layer<A, E, R>) =>
    repeatStart(node).pipe(
      Layer.provide(OpenPorts.layer({ ...ingress, receives: roles.has("ingress"), dashboard: roles.has("dashboard") })),
      Layer.provide(AwaitedServers.layer),
      Layer.provide(usableFolders(roles))
    )
