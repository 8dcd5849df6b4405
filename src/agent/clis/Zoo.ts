/**
 * Zoo Code, the continuation of Roo Code. It has no release on npm: an own build of its `apps/cli` is installed by hand. Its workspace is an
 * empty folder, because it starts the servers that a workspace configures.
 */
import type { AgentCli, CliEvent, CliNews, CliSetup } from "./Cli.ts"
import { bearer, compactionTokens, jsonFile, modelUrl, searchedByService, serverName, textAt, toolsUrl } from "./Cli.ts"

const mode = "aicr-review"
const storage = "home/.vscode-mock/global-storage"
/** A name whose context window is built in. The proxy decides on the model. */
const modelName = "gpt-5"
const disabledTools = ["new_task", "switch_mode", "skill", "ask_followup_question"]

const state = (setup: CliSetup) => {
  const { auto, threshold_percent: percent } = setup.agent.context_compaction
  return {
    openAiNativeBaseUrl: `${modelUrl(setup)}/v1`,
    autoCondenseContext: auto,
    ...(compactionTokens(setup) === undefined && percent === undefined ? {} : { autoCondenseContextPercent: percent })
  }
}

const read = (event: CliEvent): CliNews | undefined => {
  if (event["type"] === "error") return { error: textAt(event, "content") ?? "unknown error" }
  return event["type"] === "assistant" && event["done"] === true ? { text: textAt(event, "content") } : undefined
}

export const zoo: AgentCli = {
  package: undefined,
  tested: "0.1.17",
  companions: [],
  install: "npm",
  command: () => ["node", "zoo/lib/index.js"],
  format: "openai-responses",
  support: {
    approval: { _tag: "ApprovesEverything" },
    compaction: { prune: { _tag: "AlwaysDropsHistory" } },
    webSearch: searchedByService
  },
  program: (setup) => ({
    args: [
      "--print",
      "--output-format",
      "stream-json",
      "--stdin-prompt-stream",
      "--exit-on-error",
      "--provider",
      "openai-native",
      "--model",
      modelName,
      "--mode",
      mode,
      "--workspace",
      setup.work
    ],
    environment: {
      OPENAI_API_KEY: setup.model.token,
      ROO_CODE_DISABLE_TELEMETRY: "1",
      ROO_CLI_ROOT: `${setup.packages}/zoo`,
      ROO_EXTENSION_PATH: `${setup.packages}/zoo/extension`,
      ROO_RIPGREP_PATH: `${setup.packages}/zoo/bin/rg`
    },
    stdin: `${JSON.stringify({
      command: "start",
      requestId: "1",
      prompt: setup.prompt,
      configuration: { openAiNativeBaseUrl: modelUrl(setup), mode, disabledTools }
    })}\n`,
    files: [
      jsonFile(`${storage}/global-state.json`, state(setup)),
      jsonFile(`${storage}/settings/mcp_settings.json`, {
        mcpServers: {
          [serverName]: {
            type: "streamable-http",
            url: toolsUrl(setup),
            headers: { Authorization: bearer(setup) },
            // A tool that is not listed waits for an approval without end.
            alwaysAllow: setup.tools.names,
            timeout: setup.tools.callSeconds
          }
        }
      }),
      jsonFile(`${storage}/settings/custom_modes.yaml`, {
        customModes: [{ slug: mode, name: "Review", roleDefinition: setup.system, groups: ["mcp"] }]
      })
    ]
  }),
  read
}
