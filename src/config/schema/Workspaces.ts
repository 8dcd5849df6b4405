/** Schema of `workspaces`: repositories to review, and differences from the global settings. */
import { Schema } from "effect"
import { settingNames } from "../../domain/RepositorySettings.ts"
import type { Resolved } from "../fields/Field.ts"
import { defaulted, group, kinds, layer, nodeFile, optional, required } from "../fields/Field.ts"
import { sourceMatcher, SourceMatcher } from "../formats/Patterns.ts"
import {
  choice,
  EnvName,
  Flag,
  int,
  list,
  LongText,
  map,
  matching,
  named,
  P4Port,
  PositiveInt,
  PositiveNumber,
  Secret,
  Text,
  Url
} from "../fields/Scalars.ts"
import { AgentConfig, SandboxConfig } from "./Agent.ts"
import { OutputsConfig } from "./Outputs.ts"
import { ReviewConfig } from "./Review.ts"
import { localRepository } from "./Triggers.ts"

const perforce = { when: kinds("perforce") }

export const ContextRepository = Schema.Struct({
  alias: required(
    matching(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, { _tag: "AliasName" }),
    "workspaces.instances.<id>.context_repositories[].alias"
  ),
  kind: required(named("repositoryKind"), "workspaces.instances.<id>.context_repositories[].kind"),
  url: optional(Url, "workspaces.instances.<id>.context_repositories[].url", {
    when: kinds("git"),
    requiredWhen: kinds("git"),
    destination: true
  }),
  ref: optional(Text, "workspaces.instances.<id>.context_repositories[].ref", {
    when: kinds("git"),
    defaultText: "remote default branch"
  }),
  token_env: optional(EnvName, "workspaces.instances.<id>.context_repositories[].token_env", { when: kinds("git") }),
  token: optional(Secret, "workspaces.instances.<id>.context_repositories[].token", {
    when: kinds("git"),
    exclusive: ["token_env"]
  }),
  repository_url: optional(Text, "workspaces.instances.<id>.context_repositories[].repository_url", {
    when: kinds("subversion"),
    requiredWhen: kinds("subversion"),
    destination: true,
    fileOnly: localRepository
  }),
  revision: optional(Schema.Union([Text, PositiveInt]), "workspaces.instances.<id>.context_repositories[].revision", {
    when: kinds("subversion", "perforce"),
    defaultText: "latest"
  }),
  port: optional(P4Port, "workspaces.instances.<id>.context_repositories[].port", {
    ...perforce,
    destination: true
  }),
  p4_fingerprint: optional(Text, "workspaces.instances.<id>.context_repositories[].p4_fingerprint", {
    ...perforce,
    destination: true
  }),
  user_env: optional(EnvName, "workspaces.instances.<id>.context_repositories[].user_env", perforce),
  user: optional(Text, "workspaces.instances.<id>.context_repositories[].user", {
    ...perforce,
    exclusive: ["user_env"]
  }),
  ticket_env: optional(EnvName, "workspaces.instances.<id>.context_repositories[].ticket_env", perforce),
  ticket: optional(Secret, "workspaces.instances.<id>.context_repositories[].ticket", {
    ...perforce,
    exclusive: ["ticket_env"]
  }),
  password_env: optional(EnvName, "workspaces.instances.<id>.context_repositories[].password_env", {
    ...perforce,
    exclusive: ["ticket", "ticket_env"]
  }),
  password: optional(Secret, "workspaces.instances.<id>.context_repositories[].password", {
    ...perforce,
    exclusive: ["password_env", "ticket", "ticket_env"]
  }),
  depot_path: optional(Text, "workspaces.instances.<id>.context_repositories[].depot_path", {
    ...perforce,
    requiredWhen: kinds("perforce")
  }),
  visibility: defaulted(
    choice("members", "any_author"),
    "members",
    "workspaces.instances.<id>.context_repositories[].visibility"
  ),
  max_mb: defaulted(PositiveInt, 512, "workspaces.instances.<id>.context_repositories[].max_mb")
})
export type ContextRepository = Resolved<typeof ContextRepository>

export const WorkspacePrompt = Schema.Struct({
  base_system_prompt_file: optional(Text, "workspaces.instances.<id>.prompt.base_system_prompt_file", {
    fileOnly: nodeFile
  }),
  system_prompt: optional(Text, "workspaces.instances.<id>.prompt.system_prompt", { refers: "prompt" }),
  extra_system_prompt: optional(Text, "workspaces.instances.<id>.prompt.extra_system_prompt", { refers: "prompt" }),
  force_skills: optional(list(Text), "workspaces.instances.<id>.prompt.force_skills")
})
export type WorkspacePrompt = Resolved<typeof WorkspacePrompt>

export const Triage = Schema.Struct({
  enabled: defaulted(Flag, false, "workspaces.instances.<id>.triage.enabled"),
  actions: defaulted(list(choice("close", "label", "comment")), ["close"], "workspaces.instances.<id>.triage.actions"),
  categories_close: defaulted(list(Text), ["spam", "invalid"], "workspaces.instances.<id>.triage.categories_close"),
  events: defaulted(list(choice("issues")), ["issues"], "workspaces.instances.<id>.triage.events"),
  custom_prompt: optional(LongText, "workspaces.instances.<id>.triage.custom_prompt"),
  dry_run: defaulted(Flag, false, "workspaces.instances.<id>.triage.dry_run")
})
export type Triage = Resolved<typeof Triage>

export const MatchRule = Schema.Struct({
  id: optional(Text, "workspaces.instances.<id>.match[].id"),
  triggers: optional(list(Text, { minItems: 1 }), "workspaces.instances.<id>.match[].triggers", { refers: "trigger" }),
  source: optional(
    Schema.Struct({
      vcs: optional(sourceMatcher(named("triggerKind")), "workspaces.instances.<id>.match[].source.vcs"),
      repo_ref: optional(SourceMatcher, "workspaces.instances.<id>.match[].source.repo_ref"),
      repository: optional(SourceMatcher, "workspaces.instances.<id>.match[].source.repository"),
      namespace: optional(SourceMatcher, "workspaces.instances.<id>.match[].source.namespace"),
      project_key: optional(SourceMatcher, "workspaces.instances.<id>.match[].source.project_key"),
      branch: optional(SourceMatcher, "workspaces.instances.<id>.match[].source.branch"),
      ref: optional(SourceMatcher, "workspaces.instances.<id>.match[].source.ref")
    }),
    "workspaces.instances.<id>.match[].source"
  )
})
export type MatchRule = Resolved<typeof MatchRule>

const chains = {
  model_chain: optional(Text, "workspaces.instances.<id>.model_chain", { refers: "chain", defaultText: "inherit" }),
  triage_model_chain: optional(Text, "workspaces.instances.<id>.triage_model_chain", {
    refers: "chain",
    defaultText: "inherit"
  }),
  author_resolution_model_chain: optional(Text, "workspaces.instances.<id>.author_resolution_model_chain", {
    refers: "chain",
    defaultText: "inherit"
  })
}

const layers = {
  ...chains,
  agent: layer(AgentConfig, "workspaces.defaults.agent"),
  review: layer(ReviewConfig, "workspaces.defaults.review"),
  outputs: layer(OutputsConfig, "workspaces.defaults.outputs"),
  sandbox: layer(SandboxConfig, "workspaces.instances.<id>.sandbox"),
  triage: layer(Triage, "workspaces.instances.<id>.triage"),
  prompt: layer(WorkspacePrompt, "workspaces.instances.<id>.prompt"),
  context_repositories: layer(
    list(ContextRepository, { maxItems: 64 }),
    "workspaces.instances.<id>.context_repositories"
  ),
  repository_settings: layer(
    list(choice(...settingNames), { unique: true }),
    "workspaces.instances.<id>.repository_settings"
  )
}

const WorkspaceDefaults = Schema.Struct(layers)
type WorkspaceDefaults = Resolved<typeof WorkspaceDefaults>

export const WorkspaceInstance = Schema.Struct({
  source_repo: optional(
    Schema.Struct({
      trigger: required(Text, "workspaces.instances.<id>.source_repo.trigger", { refers: "trigger" }),
      repo: required(Text, "workspaces.instances.<id>.source_repo.repo")
    }),
    "workspaces.instances.<id>.source_repo",
    { exclusive: ["match"] }
  ),
  match: optional(list(MatchRule, { minItems: 1, maxItems: 256 }), "workspaces.instances.<id>.match"),
  work_path: optional(Text, "workspaces.instances.<id>.work_path", { defaultText: "{{workspace.id}}" }),
  enabled: defaulted(Flag, true, "workspaces.instances.<id>.enabled"),
  team: optional(
    matching(/^[\p{L}\p{N}][\p{L}\p{N}._ -]{0,63}$/u, { _tag: "TeamName" }),
    "workspaces.instances.<id>.team"
  ),
  ...layers,
  auth: group(
    {
      api_key_env: optional(EnvName, "workspaces.instances.<id>.auth.api_key_env"),
      api_key: optional(Secret, "workspaces.instances.<id>.auth.api_key", {
        exclusive: ["api_key_env"]
      }),
      enabled: defaulted(Flag, true, "workspaces.instances.<id>.auth.enabled")
    },
    "workspaces.instances.<id>.auth"
  )
})
export type WorkspaceInstance = Resolved<typeof WorkspaceInstance>

export const WorkspacesConfig = Schema.Struct({
  root: optional(Text, "workspaces.root", {
    defaultText: "<baseDir>/workspaces",
    fileOnly: nodeFile
  }),
  cache: group(
    {
      max_total_gb: defaulted(PositiveNumber, 50, "workspaces.cache.max_total_gb"),
      eviction: defaulted(choice("lru", "mru", "ttl"), "lru", "workspaces.cache.eviction"),
      ttl_days: defaulted(PositiveInt, 30, "workspaces.cache.ttl_days")
    },
    "workspaces.cache"
  ),
  limits: group(
    {
      git_memory_mb: defaulted(int(64, 1_048_576), 512, "workspaces.limits.git_memory_mb"),
      git_total_memory_mb: defaulted(int(64, 1_048_576), 1024, "workspaces.limits.git_total_memory_mb"),
      git_cpu_seconds: defaulted(int(1, 86_400), 600, "workspaces.limits.git_cpu_seconds"),
      git_file_mb: defaulted(int(1, 16_777_216), 10_240, "workspaces.limits.git_file_mb")
    },
    "workspaces.limits"
  ),
  defaults: group(WorkspaceDefaults.fields, "workspaces.defaults"),
  instances: defaulted(
    map(WorkspaceInstance, {
      reserved: ["cache", "defaults", "instances"],
      expected: { _tag: "WorkspacesById" }
    }),
    {},
    "workspaces.instances"
  )
})
export type WorkspacesConfig = Resolved<typeof WorkspacesConfig>
