/**
 * One immutable, content-hashed reading of the configuration. Everything that work needs is resolved here once, so that
 * admission and runs only look things up. Runs pin the snapshot they were admitted under.
 */
import type { Redacted, Result } from "effect"
import type { TriggerKind } from "../domain/Kinds.ts"
import type { Document, GivenDocument } from "./Document.ts"
import type { ConfigIssue } from "./ConfigIssue.ts"
import type { AgentConfig, SandboxConfig } from "./schema/Agent.ts"
import type { OutputsConfig } from "./schema/Outputs.ts"
import type { ReviewConfig } from "./schema/Review.ts"
import type { Trigger } from "./schema/Triggers.ts"
import type { Triage, WorkspaceInstance, WorkspacePrompt, ContextRepository } from "./schema/Workspaces.ts"

export interface Snapshot {
  /** SHA-256 (hex) of the normalised document: equal documents under tokens or product names have equal hashes. */
  readonly hash: string
  /** The document with global defaults filled in. Literal secrets are `Redacted`. */
  readonly document: Document
  /** The document as given, under canonical names, nothing filled in. */
  readonly given: GivenDocument
  /** Absolute directory that relative paths of the document start from: the configuration file's own. */
  readonly baseDir: string
  /** Absolute directory of the workspaces' layout. */
  readonly workspacesRoot: string
  /**
   * A credential of any part of the document: the literal field `name`, else the variable that `<name>_env` names, as the
   * environment was when the snapshot was made. Undefined where neither is set.
   */
  readonly credential: (holder: object, name: string) => Redacted.Redacted | undefined
  /** Reserved or unconsumed fields that are set, missing webhook secrets, and the like. */
  readonly warnings: ReadonlyArray<ConfigIssue>
  readonly triggers: ReadonlyMap<string, TriggerProfile>
  readonly triggersOfKind: (kind: TriggerKind) => ReadonlyArray<TriggerProfile>
  readonly workspaces: ReadonlyMap<string, Workspace>
  /**
   * The workspaces bound to a source under a trigger: `source_repo` by folded name, or match rules. More than one is
   * `ambiguous_route`, none `repository_not_configured`. Indexed: its cost does not grow with the number of workspaces that
   * name their repository. A disabled workspace is among the answers only when no enabled one matches.
   */
  readonly route: (trigger: string, source: SourceFacts) => ReadonlyArray<Workspace>
}

/** The fields that match rules may look at. */
export interface SourceFacts {
  readonly vcs: TriggerKind
  /** Repository as the host names it, `owner/name`. */
  readonly repo_ref: string
  readonly repository?: string | undefined
  readonly namespace?: string | undefined
  readonly project_key?: string | undefined
  readonly branch?: string | undefined
  readonly ref?: string | undefined
  /** The branch is not known yet: rules hit whatever branch or ref they name. */
  readonly any_branch?: boolean | undefined
}

/** A trigger with its credentials looked up. */
export interface TriggerProfile {
  readonly name: string
  readonly kind: TriggerKind
  readonly enabled: boolean
  /** Inbound secret; undefined only where none is configured (a named but unset variable is an error). */
  readonly webhookSecret: Redacted.Redacted | undefined
  /** Outbound token; undefined where none is configured or an app is used. */
  readonly token: Redacted.Redacted | undefined
  /** Web URL of the host without trailing slash; undefined where the kind has no default and none is given. */
  readonly baseUrl: string | undefined
  /** REST root, e.g. `https://git.example/api/v1`. */
  readonly apiUrl: string | undefined
  readonly settings: Trigger
}

/** A workspace with global, defaults and instance layers resolved per field. */
export interface Workspace {
  readonly id: string
  /** The configuration that it belongs to: its triggers, links and credentials hold for all work of the workspace. */
  readonly snapshot: () => Snapshot
  readonly enabled: boolean
  readonly instance: WorkspaceInstance
  readonly review: ReviewConfig
  readonly agent: AgentConfig
  readonly outputs: OutputsConfig
  readonly sandbox: SandboxConfig
  readonly prompt: WorkspacePrompt
  readonly triage: Triage
  readonly contextRepositories: ReadonlyArray<ContextRepository>
  /** Directory of a source under the layout root, relative, checked; or why its names give no safe path. */
  readonly workPath: (trigger: string, source: SourceFacts) => Result.Result<string, string>
  /** Group names in llm.model_chain; undefined only while no groups are configured. */
  readonly modelChain: string | undefined
  readonly triageModelChain: string | undefined
  readonly authorResolutionModelChain: string | undefined
}
