/** The review model of a workspace as far as planning needs it: its names and its context window. Pure. */
import type { Snapshot, Workspace } from "../config/Snapshot.ts"

export interface ReviewModel {
  /** `model` and `provider/model`. */
  readonly names: ReadonlyArray<string>
  /** undefined: the configuration does not say. */
  readonly contextWindow: number | undefined
}

/** The first model of the workspace's group that may do heavy work. */
export const reviewModel = (snapshot: Snapshot, workspace: Workspace): ReviewModel => {
  const { providers, model_chain } = snapshot.document.llm
  const group = workspace.modelChain === undefined ? [] : (model_chain[workspace.modelChain] ?? [])
  const entry = group.find(({ role }) => role !== "light") ?? group[0]
  if (entry === undefined) return { names: [], contextWindow: undefined }
  return {
    names: [`${entry.provider}/${entry.model}`, entry.model],
    contextWindow: providers.find(({ id }) => id === entry.provider)?.context_window
  }
}
