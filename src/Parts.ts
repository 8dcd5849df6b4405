/** Parts that a node has in either profile, over the stores of its configuration. Wiring only. */
import { Layer } from "effect"
import { hostname } from "node:os"
import { NodeIdentity } from "./domain/NodeIdentity.ts"
import { Forges } from "./forge/Forges.ts"
import * as LearnOwnAccounts from "./forge/LearnOwnAccounts.ts"
import { OwnAccounts } from "./forge/OwnAccounts.ts"
import { fromConfig } from "./FromConfig.ts"
import { queues } from "./Queues.ts"
import { cache, objects, stores } from "./Stores.ts"
import * as GitVcs from "./vcs/git/GitVcs.ts"
import * as KeepWorkspaceCache from "./vcs/KeepWorkspaceCache.ts"

/** Records, queue, cache and hosts. Every node learns its own accounts: whoever takes deliveries has to know what we wrote ourselves. */
export const records = queues.pipe(
  Layer.provideMerge(stores),
  Layer.provideMerge(LearnOwnAccounts.layer),
  Layer.provideMerge(Layer.mergeAll(Forges.layer, OwnAccounts.layer, objects, cache))
)

/** Mirrors and worktrees under workspaces.root, kept within workspaces.cache. */
export const vcs = KeepWorkspaceCache.layer.pipe(
  Layer.provideMerge(fromConfig(({ workspacesRoot }) => GitVcs.layerGit({ root: workspacesRoot })))
)

export const identity = NodeIdentity.layer(process.env["SVC_NODE_NAME"] ?? hostname())
