/** Settings that opencode and its fork kilo have in common: one JSON file and variables with a prefix. */
import type { CliEvent, CliNews, CliProgram, CliSetup } from "./Cli.ts"
import {
  assumedOutput,
  assumedWindow,
  bearer,
  compactionTokens,
  inScratch,
  jsonFile,
  modelUrl,
  offersSearch,
  serverName,
  textAt,
  toolsUrl
} from "./Cli.ts"
import { searchToolName } from "../tools/SearchTool.ts"

const provider = "aicr"
const agentName = "reviewer"
const keyVariable = "AICR_MODEL_TOKEN"
const configFile = "settings/config.json"

const switches = [
  "DISABLE_AUTOUPDATE",
  "DISABLE_MODELS_FETCH",
  "DISABLE_LSP_DOWNLOAD",
  "DISABLE_DEFAULT_PLUGINS",
  "DISABLE_CLAUDE_CODE",
  "DISABLE_PROJECT_CONFIG",
  "DISABLE_SHARE"
]

/** It compacts before its input has the limit minus what is reserved. Without a limit of the input it ignores what is reserved. */
const compactionLimits = (setup: CliSetup) => {
  const tokens = compactionTokens(setup)
  const window = setup.model.contextWindow ?? assumedWindow
  return tokens === undefined
    ? { limit: {}, reserve: {} }
    : { limit: { input: window }, reserve: { reserved: window - tokens } }
}

const config = (setup: CliSetup) => {
  const { agent, model, system } = setup
  const name = `${provider}/${model.name}`
  const { limit, reserve } = compactionLimits(setup)
  return {
    autoupdate: false,
    share: "disabled",
    snapshot: false,
    model: name,
    small_model: name,
    enabled_providers: [provider],
    provider: {
      [provider]: {
        npm: "@ai-sdk/openai-compatible",
        name: provider,
        options: { baseURL: `${modelUrl(setup)}/v1`, apiKey: `{env:${keyVariable}}` },
        models: {
          [model.name]: {
            name: model.name,
            limit: {
              context: model.contextWindow ?? assumedWindow,
              output: model.maxOutputTokens ?? assumedOutput,
              ...limit
            },
            tool_call: true
          }
        }
      }
    },
    mcp: {
      [serverName]: {
        type: "remote",
        url: toolsUrl(setup),
        oauth: false,
        enabled: true,
        headers: { Authorization: bearer(setup) },
        timeout: setup.tools.callSeconds * 1_000
      }
    },
    agent: {
      [agentName]: {
        mode: "primary",
        description: "Reviews a change.",
        prompt: system,
        permission: {
          "*": "deny",
          [`${serverName}_*`]: "allow",
          [`${serverName}_${searchToolName}`]: offersSearch(setup) ? "allow" : "deny",
          websearch: "deny"
        }
      }
    },
    compaction: { auto: agent.context_compaction.auto, prune: agent.context_compaction.prune, ...reserve }
  }
}

/** `prefix` is that of the CLI's variables. */
export const opencodeProgram = (
  prefix: string,
  setup: CliSetup,
  further: Readonly<Record<string, string>> = {}
): CliProgram => {
  const { agent, model, prompt } = setup
  const { auto, prune } = agent.context_compaction
  return {
    args: [
      "run",
      "--pure",
      "--format",
      "json",
      "--agent",
      agentName,
      "-m",
      `${provider}/${model.name}`,
      "--title",
      "review",
      ...(agent.auto_approve ? ["--auto"] : [])
    ],
    environment: {
      [`${prefix}_CONFIG`]: inScratch(setup, configFile),
      ...Object.fromEntries(switches.map((name) => [`${prefix}_${name}`, "1"])),
      ...(auto ? {} : { [`${prefix}_DISABLE_AUTOCOMPACT`]: "1" }),
      ...(prune ? {} : { [`${prefix}_DISABLE_PRUNE`]: "1" }),
      [keyVariable]: model.token,
      ...further
    },
    stdin: prompt,
    files: [jsonFile(configFile, config(setup))]
  }
}

export const readOpencodeEvent = (event: CliEvent): CliNews | undefined => {
  if (event["type"] === "text") return { text: textAt(event, "part", "text") }
  if (event["type"] !== "error") return undefined
  return { error: textAt(event, "error", "data", "message") ?? textAt(event, "error", "name") ?? "unknown error" }
}
