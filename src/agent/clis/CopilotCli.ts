/** GitHub Copilot CLI with a provider of its own, without a sign-in. The prompts are the body of a custom agent, because it reads no others. */
import type { AgentCli, CliEvent, CliNews, CliSetup } from "./Cli.ts"
import {
  assumedOutput,
  assumedWindow,
  bearer,
  inScratch,
  jsonFile,
  modelUrl,
  searchedByService,
  serverName,
  textAt,
  toolsUrl
} from "./Cli.ts"

const agentName = "reviewer"
const serversFile = "settings/mcp.json"

const agentFile = ({ system }: CliSetup) => ({
  path: `settings/agents/${agentName}.agent.md`,
  text: [
    "---",
    `name: ${agentName}`,
    "description: Reviews a change.",
    `tools: ${JSON.stringify([`${serverName}/*`])}`,
    "---",
    "",
    system
  ].join("\n")
})

const args = (setup: CliSetup): ReadonlyArray<string> => {
  const { agent, tools } = setup
  return [
    "--agent",
    agentName,
    "--output-format",
    "json",
    "--no-auto-update",
    "--disable-builtin-mcps",
    "--no-ask-user",
    "--no-custom-instructions",
    "--additional-mcp-config",
    `@${inScratch(setup, serversFile)}`,
    "--available-tools",
    serverName,
    ...tools.names.map((name) => `${serverName}-${name}`),
    ...(agent.auto_approve ? ["--allow-all-tools"] : ["--allow-tool", serverName]),
    "--deny-tool",
    "shell",
    "--deny-tool",
    "write",
    "--deny-tool",
    "web_search",
    "--log-dir",
    `${setup.folders.settings}/logs`,
    "--no-remote",
    "--no-color"
  ]
}

const read = (event: CliEvent): CliNews | undefined => {
  if (event["type"] === "session.error") return { error: textAt(event, "data", "message") ?? "the session failed" }
  return event["type"] === "assistant.message" ? { text: textAt(event, "data", "content") } : undefined
}

export const copilotCli: AgentCli = {
  package: "@github/copilot",
  tested: "1.0.102",
  companions: [],
  install: "npm",
  command: (platform) => [`@github/copilot-${platform}/copilot`],
  format: "openai-chat",
  support: {
    compaction: {
      auto: { _tag: "AlwaysCompacts" },
      threshold: { _tag: "NoSuchSetting" },
      prune: { _tag: "AlwaysDropsHistory" }
    },
    webSearch: searchedByService
  },
  program: (setup) => ({
    args: args(setup),
    environment: {
      COPILOT_HOME: setup.folders.settings,
      COPILOT_CACHE_HOME: `${setup.folders.home}/.cache/copilot`,
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
      COPILOT_PROVIDER_BASE_URL: `${modelUrl(setup)}/v1`,
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_PROVIDER_WIRE_API: "completions",
      COPILOT_PROVIDER_API_KEY: setup.model.token,
      COPILOT_MODEL: setup.model.name,
      COPILOT_PROVIDER_MAX_PROMPT_TOKENS: `${setup.model.contextWindow ?? assumedWindow}`,
      COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: `${setup.model.maxOutputTokens ?? assumedOutput}`
    },
    stdin: setup.prompt,
    files: [
      agentFile(setup),
      jsonFile(serversFile, {
        mcpServers: {
          [serverName]: {
            type: "http",
            url: toolsUrl(setup),
            headers: { Authorization: bearer(setup) },
            tools: ["*"]
          }
        }
      })
    ]
  }),
  read
}
