/** Parts that a node has in either profile, over the stores of its configuration. Wiring only. */
import { Effect, Layer } from "effect"
import { hostname } from "node:os"
import { configSource } from "./ConfigSource.ts"
import { ConfigStore } from "../config/ConfigStore.ts"
import { NodeIdentity } from "../domain/NodeIdentity.ts"
import * as ChangeThreads from "../engine/ChangeThreads.ts"
import { Forges } from "../forge/Forges.ts"
import * as LearnOwnAccounts from "../forge/hosts/LearnOwnAccounts.ts"
import { OwnAccounts } from "../forge/OwnAccounts.ts"
import * as KeepConfigurations from "./KeepConfigurations.ts"
import * as KeepRunLogs from "./KeepRunLogs.ts"
import { queues } from "./Queues.ts"
import { cache, objects, spool, stores } from "./Stores.ts"
import { processLimits } from "../vcs/process/ProcessLimits.ts"
import * as KeepWorkspaceCache from "../vcs/cache/KeepWorkspaceCache.ts"
import { layerVcs } from "../vcs/VcsLayer.ts"

export const identity = NodeIdentity.layer(process.env["SVC_NODE_NAME"] ?? hostname())

/**
 * Records, queue, cache and hosts. Every node loads its own accounts, because a node that receives deliveries has to
 * recognise comments of this service.
 */
export const records = queues.pipe(
  Layer.provideMerge(configSource.pipe(Layer.provide(identity))),
  Layer.provideMerge(KeepConfigurations.layer),
  Layer.provideMerge(KeepRunLogs.layer),
  Layer.provideMerge(stores),
  Layer.provideMerge(spool),
  Layer.provideMerge(LearnOwnAccounts.layer),
  Layer.provideMerge(Layer.mergeAll(Forges.layer, OwnAccounts.layer, objects, cache))
)

/** Version control systems: mirrors and worktrees under workspaces.root, kept within workspaces.cache. */
export const vcs = KeepWorkspaceCache.layer.pipe(
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
