/**
 * Schema of `agent`: how a review is executed. The same block exists in `workspaces.defaults.agent` and in each instance; defaults apply
 * only after the layers are merged.
 */
import { Schema } from "effect"
import type { Resolved } from "../Field.ts"
import { defaulted, group, nodeFile, nodeProgram, optional, required } from "../Field.ts"
import { Flag, EnvName, int, list, map, named, number, PositiveInt, Secret, Text, Url } from "../Scalars.ts"

const cluster = { because: "decides where and how isolated the cluster executes agents" }

export const SandboxConfig = Schema.Struct({
  kind: optional(
    named("sandboxKind"),
    "Sandbox kind. Unused by native-llm. Default: native, unless engine selects another."
  ),
  engine: optional(named("sandboxEngine"), "Container engine."),
  image: optional(
    Text,
    "Container image, with node in its PATH. Default: aicr-agents with the version of this service, which is built from deploy/agents.",
    { fileOnly: nodeProgram }
  ),
  limits: group(
    {
      memory_mb: defaulted(
        int(64, 1_048_576),
        2048,
        "Maximum memory of all processes of a run, with the files that they write."
      ),
      cpus: defaulted(
        number(0.1, 1024),
        2,
        "Processors that all processes of a run may use. Native: only where the service may create cgroups."
      ),
      processes: defaulted(int(16, 65_536), 512, "Maximum number of processes and threads of a run."),
      file_mb: defaulted(int(1, 1_048_576), 512, "Maximum size of all files that a run writes."),
      output_mb: defaulted(int(1, 4096), 64, "Maximum size of the output of a run."),
      model_calls: defaulted(
        int(1, 10_000),
        80,
        "Maximum number of model calls of a pass. Further calls are refused, and the pass ends with what was reported."
      ),
      tool_calls: defaulted(
        int(1, 100_000),
        300,
        "Maximum number of tool calls of a pass. After it, only reports are accepted."
      )
    },
    "Limits of one pass. A pass that exceeds one is ended. The time is agent.timeout_seconds."
  ),
  native: group(
    {
      unconfined: defaulted(
        Flag,
        false,
        "Whether agent CLIs run without any sandbox where bubblewrap is missing. They can then read every file and reach every network that the service can.",
        { fileOnly: { because: "ends the isolation of the nodes", applies: (value) => value !== false } }
      ),
      first_uid: defaulted(
        int(1000, 2_147_418_111),
        1_900_000_000,
        "First of the 65536 user and group ids of the agents of a service that runs as root: each pass gets one of its own. No user of the machine may have one of them.",
        { fileOnly: { because: "decides as which users the nodes start programs" } }
      )
    },
    "Sandbox kind native, which needs bubblewrap (bwrap)."
  ),
  kubernetes: group(
    {
      namespace: optional(Text, "Namespace of the pods of sandboxes. Default: the namespace of the service account.", {
        fileOnly: cluster
      }),
      service_account_dir: defaulted(
        Text,
        "/var/run/secrets/kubernetes.io/serviceaccount",
        "Folder with token, ca.crt and namespace of the service account that creates the pods.",
        { fileOnly: nodeFile }
      ),
      start_timeout_seconds: defaulted(int(5, 3600), 180, "Maximum time until a pod runs, with the pull of its image."),
      runtime_class: optional(Text, "RuntimeClass of the pods, for example gvisor or kata.", { fileOnly: cluster }),
      node_selector: defaulted(map(Text), {}, "Labels of the nodes on which the pods may run.", { fileOnly: cluster }),
      image_pull_secrets: defaulted(
        list(Text, { unique: true }),
        [],
        "Names of Secrets for the registry of the image.",
        {
          fileOnly: cluster
        }
      )
    },
    "Sandbox kind kubernetes: a pod for each pass, in the cluster in which the service runs."
  ),
  microvm: group(
    {
      kernel: optional(Text, "Path of the Linux kernel: bzImage for QEMU, an uncompressed vmlinux for Firecracker.", {
        fileOnly: nodeProgram
      }),
      modules_dir: optional(
        Text,
        "Folder with the kernel's modules, if virtio and overlay are modules, for example /lib/modules/6.1.0-56-cloud-amd64.",
        { fileOnly: nodeFile }
      ),
      root_image: optional(
        Text,
        "Path of an ext4 file system with node, sh, tar, setpriv and the agents in /opt/aicr/agents.",
        { fileOnly: nodeProgram }
      ),
      emulation: defaulted(
        Flag,
        false,
        "Whether QEMU emulates the processor instead of using /dev/kvm. About ten times slower."
      ),
      start_timeout_seconds: defaulted(int(5, 3600), 60, "Maximum time until a virtual machine runs.")
    },
    "Sandbox kind microvm: a virtual machine for each pass, with Firecracker or QEMU."
  )
})
export type SandboxConfig = Resolved<typeof SandboxConfig>

/** Default of `web_search.max_queries`. */
export const defaultQueries = 20

const signInGroup = (use: string) =>
  optional(Text, `Model group of the mode ${use}, in place of the workspace's.`, { refers: "chain" })

const agentFields = <const C extends Schema.Constraint>(credentials: C) => ({
  default: defaulted(named("agentMode"), "kilo", "Execution mode."),
  timeout_seconds: defaulted(
    PositiveInt,
    1800,
    "Hard timeout of one CLI pass; then its whole process tree is killed. Unused by native-llm."
  ),
  auto_approve: defaulted(
    Flag,
    true,
    "Passed to the adapter; false removes automatic approval where it can be removed. Unused by native-llm."
  ),
  sandbox: group(
    SandboxConfig.fields,
    "Sandbox of agent CLIs for all workspaces. A workspace sets its own under `sandbox`; kind is refused here below the global level."
  ),
  auth: group(
    {
      "claude-code": signInGroup("claude-code, for a Claude subscription, Bedrock or Vertex AI"),
      codex: signInGroup("codex, for a ChatGPT workspace"),
      "copilot-cli": signInGroup("copilot-cli, for GitHub Copilot"),
      "gemini-cli": signInGroup("gemini-cli, for Vertex AI")
    },
    "Model groups of agents that sign in with what their maker sells for automation. The credentials stay in the service."
  ),
  context_compaction: group(
    {
      auto: defaulted(Flag, true, "Compact the context by itself."),
      threshold_percent: optional(int(1, 100), "Fill of the context window that starts compaction."),
      prune: defaulted(Flag, true, "Drop compacted history.")
    },
    "Compaction of the agent's context."
  ),
  web_search: group(
    {
      enabled: defaulted(
        Flag,
        false,
        "Search tool for reviews. claude-code, codex and gemini-cli search with the provider of the model; in every other mode but native-llm this service searches for the agent. The switch is always written out for the CLI."
      ),
      providers: defaulted(
        list(Text, { unique: true }),
        [],
        "Ordered search providers; others are never called. kilo uses one of exa, parallel and kilo-exa, opencode the first of exa and parallel, the others the whole chain. Default: those with a credential or an endpoint; if there is none, exa and parallel without an account."
      ),
      exclude: defaulted(list(Text, { unique: true }), [], "Provider ids removed from the chain."),
      timeout_seconds: optional(int(1, 300), "Timeout of one provider in seconds. Default: 30."),
      max_queries: defaulted(
        int(1, 1000),
        defaultQueries,
        "Maximum number of queries that one pass sends to search providers. Further ones are refused."
      ),
      credentials,
      searxng: group(
        {
          endpoint: optional(Url, "Endpoint of a self-hosted SearXNG.", { destination: true }),
          categories: optional(Text, "Categories, comma-separated."),
          engines: optional(Text, "Engines, comma-separated."),
          language: optional(Text, "Language code."),
          safesearch: optional(int(0, 2), "Safe-search level.")
        },
        "Self-hosted meta-search."
      )
    },
    "Web search of the agent."
  )
})

/** A literal search credential, in workspace layers only. */
export const SearchCredential = Schema.Union([
  EnvName,
  Schema.Struct({ value: required(Secret, "Literal search credential. Sealed when published.") })
])

/** The global block: credentials are names of environment variables. */
export const GlobalAgent = Schema.Struct(
  agentFields(defaulted(map(EnvName), {}, "Search credential id to the name of an environment variable."))
)
/** The block of a workspace layer, and the resolved one: credentials may be literals. */
export const AgentConfig = Schema.Struct(
  agentFields(
    defaulted(
      map(SearchCredential),
      {},
      "Search credential id to the name of an environment variable, or `{value}` with a literal."
    )
  )
)
export type AgentConfig = Resolved<typeof AgentConfig>
