/** The CLI pi. Each tool that its list names runs without approval, so the list has the tools of the review alone. */
import type { AgentCli, CliSetup } from "./Cli.ts"
import { assumedWindow, compactionTokens, inScratch, jsonFile, searchedByService, serverName, toolsUrl } from "./Cli.ts"
import { modelVariable, piModels, piProvider, readPiEvent } from "./PiFamily.ts"

const systemFile = "settings/system.md"
const toolsVariable = "AICR_TOOLS_TOKEN"

const settings = (setup: CliSetup) => {
  const { auto } = setup.agent.context_compaction
  const tokens = compactionTokens(setup)
  const window = setup.model.contextWindow ?? assumedWindow
  return {
    defaultProjectTrust: "never",
    enableInstallTelemetry: false,
    httpIdleTimeoutMs: 1_200_000,
    retry: { maxRetries: 1, baseDelayMs: 500 },
    compaction: { enabled: auto, ...(tokens === undefined ? {} : { reserveTokens: window - tokens }) }
  }
}

export const pi: AgentCli = {
  package: "@earendil-works/pi-coding-agent",
  tested: "1.5.2",
  companions: [],
  install: "tarball",
  command: () => ["node", "@earendil-works/pi-coding-agent/dist/bundle/cli.js"],
  format: "openai-chat",
  support: {
    approval: { _tag: "HasNoApprovals" },
    compaction: { prune: { _tag: "AlwaysDropsHistory" } },
    webSearch: searchedByService
  },
  program: (setup) => ({
    args: [
      "--mode",
      "json",
      "--model",
      `${piProvider}/${setup.model.name}`,
      "--system-prompt",
      inScratch(setup, systemFile),
      "--no-session",
      "--no-context-files",
      "--no-skills",
      "--no-prompt-templates",
      "--no-themes",
      "--no-approve",
      "--no-extensions",
      "-e",
      "builtin:mcp",
      "--tools",
      `mcp__${serverName}__*`
    ],
    environment: {
      PI_CODING_AGENT_DIR: setup.folders.settings,
      PI_OFFLINE: "1",
      PI_SKIP_VERSION_CHECK: "1",
      PI_TELEMETRY: "0",
      [modelVariable]: setup.model.token,
      [toolsVariable]: setup.tools.token
    },
    stdin: setup.prompt,
    files: [
      { path: systemFile, text: setup.system },
      jsonFile("settings/models.json", piModels(setup, `$${modelVariable}`)),
      jsonFile("settings/settings.json", settings(setup)),
      jsonFile("settings/mcp.json", {
        mcpServers: {
          [serverName]: {
            url: toolsUrl(setup),
            headers: { Authorization: `Bearer \${${toolsVariable}}` },
            exposure: "direct",
            timeout: setup.tools.callSeconds
          }
        }
      })
    ]
  }),
  read: readPiEvent
}
