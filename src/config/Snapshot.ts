/**
 * An immutable, content-hashed reading of the configuration. Everything that work needs is resolved here once, so that admission and runs
 * only look values up. Runs pin the snapshot under which they were admitted.
 */
import type { Redacted, Result } from "effect"
import type { TriggerKind } from "../domain/Kinds.ts"
import type { SettingName } from "../domain/RepositorySettings.ts"
import type { Document, GivenDocument } from "./Document.ts"
import type { ConfigIssue } from "./ConfigIssue.ts"
import type { AgentConfig, SandboxConfig } from "./schema/Agent.ts"
import type { OutputsConfig } from "./schema/Outputs.ts"
import type { ReviewConfig } from "./schema/Review.ts"
import type { Trigger } from "./schema/Triggers.ts"
import type { Triage, WorkspaceInstance, WorkspacePrompt, ContextRepository } from "./schema/Workspaces.ts"
import type { Reason } from "../domain/Reason.ts"

export interface Snapshot {
  /** SHA-256 (hex) of the normalised document: equal documents with neutral tokens or product names have equal hashes. */
  readonly hash: string
  /** The document with global defaults filled in. Literal secrets are `Redacted`. */
  readonly document: Document
  /** The document without defaults, under canonical names. */
  readonly given: GivenDocument
  /** Absolute base directory of relative paths of the document: that of the configuration file. */
  readonly baseDir: string
  /** Absolute directory of the workspaces' layout. */
  readonly workspacesRoot: string
  /**
   * Returns a credential of any part of the document: the literal field `name`, otherwise the variable that `<name>_env` names, in the
   * environment at the time of the snapshot. Undefined if neither is set.
   */
  readonly credential: (holder: object, name: string) => Redacted.Redacted | undefined
  /** Revision of the database that is part of it; undefined if it is the file's alone. */
  readonly revision: number | undefined
  /** Warnings such as reserved or unused fields that are set, and missing webhook secrets. */
  readonly warnings: ReadonlyArray<ConfigIssue>
  readonly triggers: ReadonlyMap<string, TriggerProfile>
  readonly triggersOfKind: (kind: TriggerKind) => ReadonlyArray<TriggerProfile>
  readonly workspaces: ReadonlyMap<string, Workspace>
  /**
   * Returns the workspaces bound to a source under a trigger: `source_repo` by folded name, or match rules. More than one is
   * `ambiguous_route`, none `repository_not_configured`. Indexed: its cost does not grow with the number of workspaces that name their
   * repository. Includes a disabled workspace only if no enabled one matches.
   */
  readonly route: (trigger: string, source: SourceFacts) => ReadonlyArray<Workspace>
  /** Returns the id of the match rule by which a workspace is bound, or its position; undefined: by `source_repo`. */
  readonly matchedRule: (workspace: Workspace, trigger: string, source: SourceFacts) => string | undefined
}

/** Fields that match rules may use. */
export interface SourceFacts {
  readonly vcs: TriggerKind
  /** Repository in the host's terms, `owner/name`. */
  readonly repo_ref: string
  readonly repository?: string | undefined
  readonly namespace?: string | undefined
  readonly project_key?: string | undefined
  readonly branch?: string | undefined
  readonly ref?: string | undefined
  /** The branch is unknown: rules match whatever branch or ref they name. */
  readonly any_branch?: boolean | undefined
}

/** A trigger with its credentials. */
export interface TriggerProfile {
  readonly name: string
  readonly kind: TriggerKind
  readonly enabled: boolean
  /** Inbound secret; undefined only if none is configured (a named but unset variable is an error). */
  readonly webhookSecret: Redacted.Redacted | undefined
  /** Outbound token; undefined if none is configured or an app is used. */
  readonly token: Redacted.Redacted | undefined
  /** Web URL of the host without a trailing slash; undefined if the kind has no default and none is configured. */
  readonly baseUrl: string | undefined
  /** Base URL of the REST API, e.g. `https://git.example/api/v1`. */
  readonly apiUrl: string | undefined
  readonly settings: Trigger
}

/** A workspace with global, defaults and instance layers resolved per field. */
export interface Workspace {
  readonly id: string
  /** Returns the snapshot that the workspace belongs to, whose triggers, links and credentials apply to all its work. */
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
  /** Settings that a repository may choose for its reviews. */
  readonly repositorySettings: ReadonlyArray<SettingName>
  /** Returns the validated directory of a source, relative to the layout root, or why its names yield no safe path. */
  readonly workPath: (trigger: string, source: SourceFacts) => Result.Result<string, Reason>
  /** Group names in llm.model_chain; undefined only if no groups are configured. */
  readonly modelChain: string | undefined
  readonly triageModelChain: string | undefined
  readonly authorResolutionModelChain: string | undefined
}
