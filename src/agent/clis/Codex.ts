/** Codex. Its own tools are off, so that the model has the tools of the review alone. */
import type { AgentCli, CliEvent, CliNews, CliSetup } from "./Cli.ts"
import { assumedWindow, compactionTokens, inScratch, modelUrl, serverName, textAt, toolsUrl } from "./Cli.ts"

const systemFile = "settings/system.md"
const modelVariable = "AICR_MODEL_TOKEN"
const toolsVariable = "AICR_TOOLS_TOKEN"
/** More tokens than any conversation has. */
const never = 9_000_000_000

/** A JSON string is a string of TOML, too. */
const quoted = (text: string): string => JSON.stringify(text)

const config = (setup: CliSetup): string => {
  const { agent, model, tools } = setup
  const compaction = agent.context_compaction.auto ? compactionTokens(setup) : never
  return [
    "project_doc_max_bytes = 0",
    `model = ${quoted(model.name)}`,
    'model_provider = "aicr"',
    'approval_policy = "never"',
    'sandbox_mode = "read-only"',
    `model_instructions_file = ${quoted(inScratch(setup, systemFile))}`,
    `model_context_window = ${model.contextWindow ?? assumedWindow}`,
    ...(compaction === undefined ? [] : [`model_auto_compact_token_limit = ${compaction}`]),
    `web_search = ${quoted(agent.web_search.enabled ? "live" : "disabled")}`,
    "check_for_update_on_startup = false",
    'cli_auth_credentials_store = "file"',
    "[analytics]\nenabled = false",
    "[feedback]\nenabled = false",
    '[history]\npersistence = "none"',
    "[features]\nplugins = false\nshell_tool = false",
    "[model_providers.aicr]",
    'name = "aicr"',
    `base_url = ${quoted(`${modelUrl(setup)}/v1`)}`,
    `env_key = ${quoted(modelVariable)}`,
    'wire_api = "responses"',
    // The proxy retries by itself.
    "request_max_retries = 1",
    "stream_max_retries = 1",
    "stream_idle_timeout_ms = 1200000",
    `[mcp_servers.${serverName}]`,
    `url = ${quoted(toolsUrl(setup))}`,
    `bearer_token_env_var = ${quoted(toolsVariable)}`,
    "startup_timeout_sec = 60",
    `tool_timeout_sec = ${tools.callSeconds}`,
    "required = true",
    `enabled_tools = ${JSON.stringify(tools.names)}`,
    // Without it all tools are refused, whatever the policy is.
    'default_tools_approval_mode = "approve"',
    ""
  ].join("\n")
}

const read = (event: CliEvent): CliNews | undefined => {
  if (event["type"] === "turn.failed") return { error: textAt(event, "error", "message") ?? "the turn failed" }
  if (event["type"] === "error") return { error: textAt(event, "message") ?? "unknown error" }
  if (event["type"] !== "item.completed" || textAt(event, "item", "type") !== "agent_message") return undefined
  return { text: textAt(event, "item", "text") }
}

export const codex: AgentCli = {
  package: "@openai/codex",
  tested: "0.169.0",
  companions: [],
  install: "npm",
  command: (platform) => [`@openai/codex-${platform}/vendor/${targets[platform] ?? platform}/bin/codex`],
  format: "openai-responses",
  support: {
    approval: { _tag: "AlwaysWithoutApprovals" },
    compaction: { prune: { _tag: "AlwaysDropsHistory" } },
    webSearch: { by: "model" }
  },
  program: (setup) => ({
    args: [
      "exec",
      "--json",
      "--ephemeral",
      "--skip-git-repo-check",
      "--color",
      "never",
      ...["multi_agent", "goals", "apps", "remote_plugin"].flatMap((name) => ["--disable", name]),
      "-"
    ],
    environment: {
      CODEX_HOME: setup.folders.settings,
      [modelVariable]: setup.model.token,
      [toolsVariable]: setup.tools.token
    },
    stdin: setup.prompt,
    files: [
      { path: systemFile, text: setup.system },
      { path: "settings/config.toml", text: config(setup) }
    ]
  }),
  read
}

/** Names of platforms in its package. */
const targets: Readonly<Record<string, string>> = {
  "linux-x64": "x86_64-unknown-linux-musl",
  "linux-arm64": "aarch64-unknown-linux-musl"
}
