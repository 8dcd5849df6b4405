/** The review model of a workspace as far as planning needs it: its names and its context window, by settings, overrides or catalog. */
import { Effect } from "effect"
import { agentModelChain } from "../../config/AgentModelChain.ts"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"
import { Catalog } from "../../llm/Catalog.ts"

interface ReviewModel {
  /** `model` and `provider/model`. */
  readonly names: ReadonlyArray<string>
  /** Undefined where neither the configuration nor the catalog has a value. */
  readonly contextWindow: number | undefined
}

/** The first model of the workspace's group that may do heavy work. */
export const reviewModel = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  workspace: Workspace
): Effect.fn.Return<ReviewModel, never, Catalog> {
  const { llm } = snapshot.document
  const group = llm.model_chain[agentModelChain(workspace, workspace.agent.default) ?? ""] ?? []
  const entry = group.find(({ role }) => role !== "light") ?? group[0]
  if (entry === undefined) return { names: [], contextWindow: undefined }
  const provider = llm.providers.find(({ id }) => id === entry.provider)
  const spec = provider === undefined ? undefined : yield* (yield* Catalog).spec(llm, provider, entry.model)
  return { names: [`${entry.provider}/${entry.model}`, entry.model], contextWindow: spec?.contextWindow }
})
