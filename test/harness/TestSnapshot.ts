/** A snapshot made from a piece of configuration, for tests of parts that only read it. */
import { Result } from "effect"
import { credential } from "../../src/config/Credentials.ts"
import type { Env } from "../../src/config/Credentials.ts"
import { decode } from "../../src/config/document/Decode.ts"
import { resolve } from "../../src/config/fields/Defaults.ts"
import { Document } from "../../src/config/Document.ts"
import type { GivenDocument } from "../../src/config/Document.ts"
import type { Snapshot, Workspace } from "../../src/config/Snapshot.ts"
import { AgentConfig, SandboxConfig } from "../../src/config/schema/Agent.ts"
import { OutputsConfig } from "../../src/config/schema/Outputs.ts"
import { Triage, WorkspaceInstance } from "../../src/config/schema/Workspaces.ts"
import { ReviewConfig } from "../../src/config/schema/Review.ts"

/** Throws with the complaints when the piece is not valid. Credentials come from `env`. */
export const testSnapshot = (tree: unknown, env: Env = {}): Snapshot => {
  const given = decode(tree)
  if (given._tag === "Failure") throw new Error(JSON.stringify(given.failure))
  return {
    revision: undefined,
    hash: "test",
    document: resolve(Document, given.success),
    given: given.success,
    baseDir: "/nowhere",
    workspacesRoot: "/nowhere/workspaces",
    credential: (holder, name) => credential(holder, name, env),
    warnings: [],
    triggers: new Map(),
    triggersOfKind: () => [],
    workspaces: new Map(),
    route: () => [],
    matchedRule: () => undefined
  }
}

export const testWorkspace = (
  settings: {
    readonly snapshot?: Snapshot
    readonly review?: GivenDocument["review"]
    readonly outputs?: GivenDocument["outputs"]
    readonly agent?: typeof AgentConfig.Type
    readonly modelChain?: string | undefined
    readonly repositorySettings?: Workspace["repositorySettings"]
  } = {}
): Workspace => ({
  id: "test",
  snapshot: () => settings.snapshot ?? testSnapshot({}),
  enabled: true,
  instance: resolve(WorkspaceInstance, { source_repo: { trigger: "test", repo: "owner/name" } }),
  review: resolve(ReviewConfig, settings.review),
  agent: resolve(AgentConfig, { default: "native-llm", ...settings.agent }),
  outputs: resolve(OutputsConfig, settings.outputs),
  sandbox: resolve(SandboxConfig),
  prompt: {},
  triage: resolve(Triage),
  workPath: () => Result.succeed("test"),
  contextRepositories: [],
  repositorySettings: settings.repositorySettings ?? [],
  modelChain: "modelChain" in settings ? settings.modelChain : "default",
  triageModelChain: undefined,
  authorResolutionModelChain: undefined
})
