/** The review model of a workspace as far as planning needs it: its names and its context window, by settings, overrides or catalog. */
import { Effect } from "effect"
import { agentModelChain } from "../../config/AgentModelChain.ts"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"
import { Catalog } from "../../llm/Catalog.ts"

/** Returns the first model of the workspace's group that may do heavy work. */
const reviewModel = (snapshot: Snapshot, workspace: Workspace) => {
  const group = snapshot.document.llm.model_chain[agentModelChain(workspace, workspace.agent.default) ?? ""] ?? []
  return group.find(({ role }) => role !== "light") ?? group[0]
}

/** Returns `model` and `provider/model`; empty without a model. */
export const reviewModelNames = (snapshot: Snapshot, workspace: Workspace): ReadonlyArray<string> => {
  const entry = reviewModel(snapshot, workspace)
  return entry === undefined ? [] : [`${entry.provider}/${entry.model}`, entry.model]
}

/** Returns the context window of the model; undefined where neither the configuration nor the catalog has a value. */
export const readContextWindow = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  workspace: Workspace
): Effect.fn.Return<number | undefined, never, Catalog> {
  const { llm } = snapshot.document
  const entry = reviewModel(snapshot, workspace)
  const provider = llm.providers.find(({ id }) => id === entry?.provider)
  if (entry === undefined || provider === undefined) return undefined
  return (yield* (yield* Catalog).spec(llm, provider, entry.model))?.contextWindow
})
