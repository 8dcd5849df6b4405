/** Schema of `workspaces`: repositories to review, and differences from the global settings. */
import { Schema } from "effect"
import type { Resolved } from "../Field.ts"
import { defaulted, group, kinds, layer, nodeFile, optional, required } from "../Field.ts"
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
  Text
} from "../Scalars.ts"
import { AgentConfig, SandboxConfig } from "./Agent.ts"
import { OutputsConfig } from "./Outputs.ts"
import { ReviewConfig } from "./Review.ts"
import { localRepository } from "./Triggers.ts"

const perforce = { when: kinds("perforce") }

export const ContextRepository = Schema.Struct({
  alias: required(
    matching(
      /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
      "letters, digits, dots, underscores and hyphens, starting with a letter or digit"
    ),
    "Names the mount path: the model reads `alias:path`. Unique in the workspace."
  ),
  kind: required(named("repositoryKind"), "Kind of repository."),
  url: optional(Text, "Git URL, http or https, without credentials.", {
    when: kinds("git"),
    requiredWhen: kinds("git"),
    destination: true
  }),
  ref: optional(Text, "Git branch, tag or full commit id.", {
    when: kinds("git"),
    defaultText: "remote default branch"
  }),
  token_env: optional(
    EnvName,
    "Environment variable that holds a token for git over HTTP; sent as a header, never written to disk.",
    { when: kinds("git") }
  ),
  token: optional(Secret, "Literal git token. Sealed when published.", {
    when: kinds("git"),
    exclusive: ["token_env"]
  }),
  repository_url: optional(Text, "Subversion repository URL.", {
    when: kinds("subversion"),
    requiredWhen: kinds("subversion"),
    destination: true,
    fileOnly: localRepository
  }),
  revision: optional(Schema.Union([Text, PositiveInt]), "Revision.", {
    when: kinds("subversion", "perforce"),
    defaultText: "latest"
  }),
  port: optional(P4Port, "Perforce server address: `host:1666`, or `ssl:host:1666` with p4_fingerprint.", {
    ...perforce,
    destination: true
  }),
  p4_fingerprint: optional(Text, "Fingerprint of the key of a Perforce server over TLS. No other key is accepted.", {
    ...perforce,
    destination: true
  }),
  user_env: optional(EnvName, "Environment variable that holds the Perforce user.", perforce),
  user: optional(Text, "Perforce user (an identifier, not sealed).", { ...perforce, exclusive: ["user_env"] }),
  ticket_env: optional(EnvName, "Environment variable that holds the Perforce ticket.", perforce),
  ticket: optional(Secret, "Literal Perforce ticket. Sealed when published.", {
    ...perforce,
    exclusive: ["ticket_env"]
  }),
  password_env: optional(EnvName, "Environment variable that holds the Perforce password.", {
    ...perforce,
    exclusive: ["ticket", "ticket_env"]
  }),
  password: optional(Secret, "Literal Perforce password, in place of a ticket. Sealed when published.", {
    ...perforce,
    exclusive: ["password_env", "ticket", "ticket_env"]
  }),
  depot_path: optional(Text, "Depot path, usually ending in `/...`.", {
    ...perforce,
    requiredWhen: kinds("perforce")
  }),
  visibility: defaulted(
    choice("members", "any_author"),
    "members",
    "Whose changes may have it read. `members`: pull requests of authors who may write to their repository, as the host says; `any_author`: all. What a review read may be quoted on the pull request."
  ),
  max_mb: defaulted(
    PositiveInt,
    512,
    "Largest size of all files together in MiB; a larger repository is not read, and what was fetched of it is removed."
  )
})
export type ContextRepository = Resolved<typeof ContextRepository>

export const WorkspacePrompt = Schema.Struct({
  base_system_prompt_file: optional(Text, "Custom base prompt file, relative to the deployment root.", {
    fileOnly: nodeFile
  }),
  system_prompt: optional(
    Text,
    "Name in prompts.system; replaces the base prompt. Takes precedence over base_system_prompt_file and the built-in base.",
    { refers: "prompt" }
  ),
  extra_system_prompt: optional(Text, "Name in prompts.system; appended after the base.", { refers: "prompt" }),
  force_skills: optional(list(Text), "Skills that are always active, whatever their Applies To globs say.")
})
export type WorkspacePrompt = Resolved<typeof WorkspacePrompt>

export const Triage = Schema.Struct({
  enabled: defaulted(Flag, false, "Triage issues."),
  actions: defaulted(list(choice("close", "label", "comment")), ["close"], "What triage may do."),
  categories_close: defaulted(list(Text), ["spam", "invalid"], "Categories that close an issue."),
  events: defaulted(list(choice("issues")), ["issues"], "Events that start triage."),
  custom_prompt: optional(LongText, "Instructions added to the triage prompt."),
  dry_run: defaulted(Flag, false, "Record what would be done and do nothing.")
})
export type Triage = Resolved<typeof Triage>

export const MatchRule = Schema.Struct({
  id: optional(Text, "Name of the rule, shown in messages. Unique in the workspace."),
  triggers: optional(list(Text, { minItems: 1 }), "Trigger profiles. Default: any.", { refers: "trigger" }),
  source: optional(
    Schema.Struct({
      vcs: optional(sourceMatcher(named("triggerKind")), "Kind of trigger."),
      repo_ref: optional(SourceMatcher, "Repository as the host names it, `owner/name`."),
      repository: optional(SourceMatcher, "Repository name without its owner."),
      namespace: optional(SourceMatcher, "Owner, organisation or group path."),
      project_key: optional(SourceMatcher, "Project key, where the host has one."),
      branch: optional(SourceMatcher, "Branch without refs/heads/."),
      ref: optional(SourceMatcher, "Full ref.")
    }),
    "Fields of the source; all given matchers must hit."
  )
})
export type MatchRule = Resolved<typeof MatchRule>

const chains = {
  model_chain: optional(Text, "Main model group.", { refers: "chain", defaultText: "inherit" }),
  triage_model_chain: optional(Text, "Group for lifecycle analysis. Absent in all layers: the main group.", {
    refers: "chain",
    defaultText: "inherit"
  }),
  author_resolution_model_chain: optional(
    Text,
    "Group for identity analysis. Falls back to workspaces.defaults, the global identity group, then llm.default_model_chain.",
    { refers: "chain", defaultText: "inherit" }
  )
}

const layers = {
  ...chains,
  agent: layer(AgentConfig, "Overrides of `agent`."),
  review: layer(ReviewConfig, "Overrides of `review`."),
  outputs: layer(OutputsConfig, "Overrides of `outputs`."),
  sandbox: layer(SandboxConfig, "Sandbox, merged per field over the global one, defaults and instance."),
  triage: layer(Triage, "Triage of issues; gitea and forgejo only."),
  prompt: layer(WorkspacePrompt, "Prompts."),
  context_repositories: layer(
    list(ContextRepository, { maxItems: 64 }),
    "Further repositories that the model may read. If one cannot be read, the review names it and continues without it. The list of a workspace replaces that of workspaces.defaults."
  )
}

export const WorkspaceDefaults = Schema.Struct(layers)
export type WorkspaceDefaults = Resolved<typeof WorkspaceDefaults>

export const WorkspaceInstance = Schema.Struct({
  source_repo: optional(
    Schema.Struct({
      trigger: required(Text, "Trigger profile name.", { refers: "trigger" }),
      repo: required(Text, "Repository reference.")
    }),
    "The repository of this workspace. For several repositories, use match.",
    { exclusive: ["match"] }
  ),
  match: optional(
    list(MatchRule, { minItems: 1, maxItems: 256 }),
    "Rules that select several repositories; one match is enough. Not together with source_repo."
  ),
  work_path: optional(
    Text,
    "Template of the workspace's directory under workspaces.root, where its `templates/` are looked up, with the helpers segment, default, hash and lower. Requires match.",
    { defaultText: "{{workspace.id}}" }
  ),
  enabled: defaulted(Flag, true, "False stops new admission and keeps what exists."),
  ...layers,
  auth: group(
    {
      api_key_env: optional(EnvName, "Environment variable that holds the workspace's API key."),
      api_key: optional(Secret, "Literal API key of the workspace. Sealed when published.", {
        exclusive: ["api_key_env"]
      }),
      enabled: defaulted(Flag, true, "Whether the workspace's key opens anything.")
    },
    "API key of this workspace for /triggers/*."
  )
})
export type WorkspaceInstance = Resolved<typeof WorkspaceInstance>

export const WorkspacesConfig = Schema.Struct({
  root: optional(Text, "Root of the layout on disk. Relative paths start at the base directory.", {
    defaultText: "<baseDir>/workspaces",
    fileOnly: nodeFile
  }),
  cache: group(
    {
      max_total_gb: defaulted(
        PositiveNumber,
        50,
        "Largest size in GiB of everything kept under workspaces.root on one node. What a running review uses is never evicted."
      ),
      eviction: defaulted(
        choice("lru", "mru", "ttl"),
        "lru",
        "What is removed first when the cache exceeds its size: the least recently used (`lru`, `ttl`) or the most recently used (`mru`). `ttl` also removes what was not used for ttl_days."
      ),
      ttl_days: defaulted(PositiveInt, 30, "Days unused before `ttl` evicts.")
    },
    "Cache of checkouts."
  ),
  limits: group(
    {
      git_memory_mb: defaulted(
        int(64, 1_048_576),
        512,
        "Memory in MiB of one git command with the processes that it starts. A review whose repository needs more fails."
      ),
      git_total_memory_mb: defaulted(
        int(64, 1_048_576),
        1024,
        "Memory in MiB of all git commands of a node together; over it the largest is ended, and its review fails."
      ),
      git_cpu_seconds: defaulted(int(1, 86_400), 600, "Seconds of processor time of one git process."),
      git_file_mb: defaulted(
        int(1, 16_777_216),
        10_240,
        "Size in MiB of a file that git writes: what one fetch may bring."
      )
    },
    "What git may use on one node."
  ),
  defaults: group(WorkspaceDefaults.fields, "Merged into every instance."),
  instances: defaulted(
    map(WorkspaceInstance, {
      reserved: ["cache", "defaults", "instances"],
      expected: "a map from workspace id to workspace"
    }),
    {},
    "Workspaces by id."
  )
})
export type WorkspacesConfig = Resolved<typeof WorkspacesConfig>
