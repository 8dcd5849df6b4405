/** Claude Code. Its settings of user, project and machine are replaced by one file. */
import type { AgentCli, CliEvent, CliNews, CliSetup } from "./Cli.ts"
import { assumedWindow, at, bearer, inScratch, jsonFile, modelUrl, serverName, textAt, toolsUrl } from "./Cli.ts"

const systemFile = "settings/system.md"
const settingsFile = "settings/settings.json"
const serversFile = "settings/mcp.json"

/** Built-in tools. Without any there is no tool search, so that the tools of the review are in every request. */
const builtIn = ({ agent }: CliSetup): string => (agent.web_search.enabled ? "WebSearch" : "")

const compaction = ({ agent, model }: CliSetup): Readonly<Record<string, string>> => {
  const { auto, threshold_percent: percent } = agent.context_compaction
  return {
    // It assumes a window of a million tokens for unknown models.
    CLAUDE_CODE_AUTO_COMPACT_WINDOW: `${model.contextWindow ?? assumedWindow}`,
    ...(auto ? {} : { DISABLE_AUTO_COMPACT: "1", DISABLE_COMPACT: "1" }),
    ...(percent === undefined ? {} : { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: `${percent}` })
  }
}

const read = (event: CliEvent): CliNews | undefined => {
  if (event["type"] === "result" && event["is_error"] === true)
    return { error: textAt(event, "result") ?? textAt(event, "subtype") ?? "unknown error" }
  if (event["type"] !== "assistant") return undefined
  const content = at(event, "message", "content")
  const texts = Array.isArray(content) ? content.flatMap((part: unknown) => textAt(part, "text") ?? []) : []
  return texts.length === 0 ? undefined : { text: texts.join("\n") }
}

export const claudeCode: AgentCli = {
  package: "@anthropic-ai/claude-code",
  tested: "2.1.329",
  companions: [],
  install: "npm",
  command: (platform) => [`@anthropic-ai/claude-code-${platform}/claude`],
  format: "anthropic-messages",
  support: {
    compaction: { prune: { _tag: "AlwaysDropsHistory" } },
    webSearch: { by: "model" }
  },
  program: (setup) => ({
    args: [
      "-p",
      "--output-format",
      "stream-json",
      "--verbose",
      "--model",
      setup.model.name,
      "--mcp-config",
      inScratch(setup, serversFile),
      "--strict-mcp-config",
      "--setting-sources",
      "",
      "--settings",
      inScratch(setup, settingsFile),
      "--system-prompt-file",
      inScratch(setup, systemFile),
      "--tools",
      builtIn(setup),
      "--permission-mode",
      setup.agent.auto_approve ? "bypassPermissions" : "dontAsk",
      "--no-session-persistence"
    ],
    environment: {
      CLAUDE_CONFIG_DIR: setup.folders.settings,
      CLAUDE_CODE_TMPDIR: setup.paths.scratch,
      ANTHROPIC_BASE_URL: modelUrl(setup),
      ANTHROPIC_API_KEY: setup.model.token,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: setup.model.name,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      IS_SANDBOX: "1",
      ENABLE_TOOL_SEARCH: "false",
      // The proxy retries by itself.
      CLAUDE_CODE_MAX_RETRIES: "1",
      API_TIMEOUT_MS: "1200000",
      ...(setup.model.maxOutputTokens === undefined
        ? {}
        : { CLAUDE_CODE_MAX_OUTPUT_TOKENS: `${setup.model.maxOutputTokens}` }),
      ...compaction(setup)
    },
    stdin: setup.prompt,
    files: [
      { path: systemFile, text: setup.system },
      jsonFile(settingsFile, {
        permissions: {
          allow: [`mcp__${serverName}__*`, ...(setup.agent.web_search.enabled ? ["WebSearch"] : [])],
          deny: ["WebFetch", ...(setup.agent.web_search.enabled ? [] : ["WebSearch"])]
        }
      }),
      jsonFile(serversFile, {
        mcpServers: { [serverName]: { type: "http", url: toolsUrl(setup), headers: { Authorization: bearer(setup) } } }
      })
    ]
  }),
  read
}
