/** Gemini CLI. Without a relaunch it is one process, which ends with its signals. */
import type { AgentCli, CliEvent, CliNews, CliSetup } from "./Cli.ts"
import { bearer, inScratch, jsonFile, modelUrl, serverName, textAt, toolsUrl } from "./Cli.ts"

/** The name is a part of paths, so that one of another provider is replaced. The proxy decides on the model. */
const modelName = ({ model }: CliSetup): string => (/^gemini[\w.-]*$/.test(model.name) ? model.name : "gemini-2.5-pro")

const systemFile = "settings/system.md"

/** Tools that read or change files, run commands or contact servers. The review has tools of its own. */
const excluded = [
  "web_fetch",
  "run_shell_command",
  "read_file",
  "read_many_files",
  "list_directory",
  "glob",
  "grep_search",
  "search_file_content",
  "write_file",
  "replace",
  "save_memory",
  "write_todos",
  "ask_user",
  "activate_skill",
  "update_topic",
  "list_background_processes",
  "read_background_output",
  "enter_plan_mode",
  "invoke_agent"
]

/** A compression threshold of 1 is never exceeded. */
const threshold = ({ agent }: CliSetup) => (agent.context_compaction.auto ? {} : { compressionThreshold: 1 })

const settings = (setup: CliSetup) => ({
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
  context: { fileName: "aicr-none.md" },
  model: { name: modelName(setup), ...threshold(setup) },
  tools: { exclude: [...(setup.agent.web_search.enabled ? [] : ["google_web_search"]), ...excluded] },
  mcpServers: {
    [serverName]: {
      httpUrl: toolsUrl(setup),
      headers: { Authorization: bearer(setup) },
      trust: true,
      timeout: setup.tools.callSeconds * 1_000
    }
  }
})

const read = (event: CliEvent): CliNews | undefined => {
  const { type } = event
  if (type === "result" && event["status"] === "error")
    return { error: textAt(event, "error", "message") ?? textAt(event, "error") ?? "unknown error" }
  if (type === "error") return { error: textAt(event, "message") ?? "unknown error" }
  // Fragments of a streamed text would be a log line each.
  return type === "message" && event["role"] === "assistant" && event["delta"] !== true
    ? { text: textAt(event, "content") }
    : undefined
}

export const geminiCli: AgentCli = {
  package: "@google/gemini-cli",
  tested: "0.61.0",
  companions: [],
  install: "npm",
  command: () => ["node", "@google/gemini-cli/bundle/gemini.js"],
  format: "gemini",
  support: {
    compaction: {
      threshold: { _tag: "CompactsBetweenMessages" },
      prune: { _tag: "AlwaysDropsHistory" }
    },
    webSearch: { by: "model" }
  },
  program: (setup) => ({
    args: [
      "-m",
      modelName(setup),
      "-o",
      "stream-json",
      "--skip-trust",
      "--allowed-mcp-server-names",
      serverName,
      "-e",
      "none",
      "--approval-mode",
      setup.agent.auto_approve ? "yolo" : "default"
    ],
    environment: {
      GEMINI_CLI_HOME: setup.folders.settings,
      GEMINI_API_KEY: setup.model.token,
      GOOGLE_GEMINI_BASE_URL: modelUrl(setup),
      GEMINI_SYSTEM_MD: inScratch(setup, systemFile),
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      GEMINI_CLI_NO_RELAUNCH: "true",
      GEMINI_TELEMETRY_ENABLED: "false"
    },
    stdin: setup.prompt,
    files: [{ path: systemFile, text: setup.system }, jsonFile("settings/.gemini/settings.json", settings(setup))]
  }),
  read
}
