/**
 * Schema of `agent`: how a review is executed. The same block exists in `workspaces.defaults.agent` and in each instance; defaults apply
 * only after the layers are merged.
 */
import { Schema } from "effect"
import type { FileOnly, FieldKey, Resolved } from "../fields/Field.ts"
import { defaulted, group, nodeFile, nodeProgram, optional, required } from "../fields/Field.ts"
import { Flag, EnvName, int, list, map, named, number, PositiveInt, Secret, Text, Url } from "../fields/Scalars.ts"

const cluster: FileOnly = { because: { _tag: "DecidesCluster" } }

export const SandboxConfig = Schema.Struct({
  kind: optional(named("sandboxKind"), "agent.sandbox.kind"),
  engine: optional(named("sandboxEngine"), "agent.sandbox.engine"),
  image: optional(Text, "agent.sandbox.image", { fileOnly: nodeProgram }),
  limits: group(
    {
      memory_mb: defaulted(int(64, 1_048_576), 2048, "agent.sandbox.limits.memory_mb"),
      cpus: defaulted(number(0.1, 1024), 2, "agent.sandbox.limits.cpus"),
      processes: defaulted(int(16, 65_536), 512, "agent.sandbox.limits.processes"),
      file_mb: defaulted(int(1, 1_048_576), 512, "agent.sandbox.limits.file_mb"),
      output_mb: defaulted(int(1, 4096), 64, "agent.sandbox.limits.output_mb"),
      model_calls: defaulted(int(1, 10_000), 80, "agent.sandbox.limits.model_calls"),
      tool_calls: defaulted(int(1, 100_000), 300, "agent.sandbox.limits.tool_calls")
    },
    "agent.sandbox.limits"
  ),
  native: group(
    {
      unconfined: defaulted(Flag, false, "agent.sandbox.native.unconfined", {
        fileOnly: { because: { _tag: "EndsIsolation" }, applies: (value) => value !== false }
      }),
      first_uid: defaulted(int(1000, 2_147_418_111), 1_900_000_000, "agent.sandbox.native.first_uid", {
        fileOnly: { because: { _tag: "DecidesUsers" } }
      })
    },
    "agent.sandbox.native"
  ),
  kubernetes: group(
    {
      namespace: optional(Text, "agent.sandbox.kubernetes.namespace", {
        fileOnly: cluster
      }),
      service_account_dir: defaulted(
        Text,
        "/var/run/secrets/kubernetes.io/serviceaccount",
        "agent.sandbox.kubernetes.service_account_dir",
        { fileOnly: nodeFile }
      ),
      start_timeout_seconds: defaulted(int(5, 3600), 180, "agent.sandbox.kubernetes.start_timeout_seconds"),
      runtime_class: optional(Text, "agent.sandbox.kubernetes.runtime_class", { fileOnly: cluster }),
      node_selector: defaulted(map(Text), {}, "agent.sandbox.kubernetes.node_selector", { fileOnly: cluster }),
      image_pull_secrets: defaulted(list(Text, { unique: true }), [], "agent.sandbox.kubernetes.image_pull_secrets", {
        fileOnly: cluster
      })
    },
    "agent.sandbox.kubernetes"
  ),
  microvm: group(
    {
      kernel: optional(Text, "agent.sandbox.microvm.kernel", {
        fileOnly: nodeProgram
      }),
      modules_dir: optional(Text, "agent.sandbox.microvm.modules_dir", { fileOnly: nodeFile }),
      root_image: optional(Text, "agent.sandbox.microvm.root_image", { fileOnly: nodeProgram }),
      emulation: defaulted(Flag, false, "agent.sandbox.microvm.emulation"),
      start_timeout_seconds: defaulted(int(5, 3600), 60, "agent.sandbox.microvm.start_timeout_seconds")
    },
    "agent.sandbox.microvm"
  )
})
export type SandboxConfig = Resolved<typeof SandboxConfig>

/** Default of `web_search.max_queries`. */
export const defaultQueries = 20

/** Seconds that one provider of a search may take where `agent.web_search.timeout_seconds` has no value. */
export const searchTimeoutSeconds = 30

const signInGroup = (text: FieldKey) => optional(Text, text, { refers: "chain" })

const agentFields = <const C extends Schema.Constraint>(credentials: C) => ({
  default: defaulted(named("agentMode"), "kilo", "agent.default"),
  timeout_seconds: defaulted(PositiveInt, 1800, "agent.timeout_seconds"),
  auto_approve: defaulted(Flag, true, "agent.auto_approve"),
  sandbox: group(SandboxConfig.fields, "agent.sandbox"),
  auth: group(
    {
      "claude-code": signInGroup("agent.auth.claude-code"),
      codex: signInGroup("agent.auth.codex"),
      "copilot-cli": signInGroup("agent.auth.copilot-cli"),
      "gemini-cli": signInGroup("agent.auth.gemini-cli")
    },
    "agent.auth"
  ),
  context_compaction: group(
    {
      auto: defaulted(Flag, true, "agent.context_compaction.auto"),
      threshold_percent: optional(int(1, 100), "agent.context_compaction.threshold_percent"),
      prune: defaulted(Flag, true, "agent.context_compaction.prune")
    },
    "agent.context_compaction"
  ),
  web_search: group(
    {
      enabled: defaulted(Flag, false, "agent.web_search.enabled"),
      providers: defaulted(list(Text, { unique: true }), [], "agent.web_search.providers"),
      exclude: defaulted(list(Text, { unique: true }), [], "agent.web_search.exclude"),
      timeout_seconds: optional(int(1, 300), "agent.web_search.timeout_seconds", {
        runtimeDefault: searchTimeoutSeconds
      }),
      max_queries: defaulted(int(1, 1000), defaultQueries, "agent.web_search.max_queries"),
      credentials,
      searxng: group(
        {
          endpoint: optional(Url, "agent.web_search.searxng.endpoint", { destination: true }),
          categories: optional(Text, "agent.web_search.searxng.categories"),
          engines: optional(Text, "agent.web_search.searxng.engines"),
          language: optional(Text, "agent.web_search.searxng.language"),
          safesearch: optional(int(0, 2), "agent.web_search.searxng.safesearch")
        },
        "agent.web_search.searxng"
      )
    },
    "agent.web_search"
  )
})

/** A literal search credential, in workspace layers only. */
const SearchCredential = Schema.Union([
  EnvName,
  Schema.Struct({ value: required(Secret, "agent.web_search.credentials.<id>.value") })
])

/** The global block: credentials are names of environment variables. */
export const GlobalAgent = Schema.Struct(agentFields(defaulted(map(EnvName), {}, "agent.web_search.credentials")))
/** The block of a workspace layer, and the resolved one: credentials may be literals. */
export const AgentConfig = Schema.Struct(
  agentFields(defaulted(map(SearchCredential), {}, "workspaces.defaults.agent.web_search.credentials"))
)
export type AgentConfig = Resolved<typeof AgentConfig>
