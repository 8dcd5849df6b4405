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
  serverName,
  textAt,
  toolsUrl
} from "./Cli.ts"

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

/** Searches with the first of the supported providers that is configured and not excluded. */
export const searchProvider = ({ agent }: CliSetup, supported: ReadonlyArray<string>): string | undefined => {
  const { enabled, exclude, providers } = agent.web_search
  if (!enabled) return undefined
  const chosen = providers.length === 0 ? supported : providers
  return chosen.find((id) => supported.includes(id) && !exclude.includes(id))
}

/** It compacts before its input has the limit minus what is reserved. Without a limit of the input it ignores what is reserved. */
const compactionLimits = (setup: CliSetup) => {
  const tokens = compactionTokens(setup)
  const window = setup.model.contextWindow ?? assumedWindow
  return tokens === undefined
    ? { limit: {}, reserve: {} }
    : { limit: { input: window }, reserve: { reserved: window - tokens } }
}

const config = (setup: CliSetup, search: string | undefined) => {
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
        headers: { Authorization: bearer(setup) }
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
          websearch: search === undefined ? "deny" : "allow"
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
  supported: ReadonlyArray<string>,
  further: Readonly<Record<string, string>> = {}
): CliProgram => {
  const { agent, model, prompt, searchKeys } = setup
  const { auto, prune } = agent.context_compaction
  const search = searchProvider(setup, supported)
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
      ...searchVariables(prefix, search, searchKeys),
      [keyVariable]: model.token,
      ...further
    },
    stdin: prompt,
    files: [jsonFile(configFile, config(setup, search))]
  }
}

const searchVariables = (
  prefix: string,
  search: string | undefined,
  keys: CliSetup["searchKeys"]
): Readonly<Record<string, string>> => {
  if (search === undefined) return {}
  const kind = search === "parallel" ? "PARALLEL" : "EXA"
  const key = keys[search] ?? keys[kind.toLowerCase()]
  return {
    [`${prefix}_ENABLE_${kind}`]: "1",
    [`${prefix}_WEBSEARCH_PROVIDER`]: search,
    ...(key === undefined ? {} : { [`${kind}_API_KEY`]: key })
  }
}

export const readOpencodeEvent = (event: CliEvent): CliNews | undefined => {
  if (event["type"] === "text") return { text: textAt(event, "part", "text") }
  if (event["type"] !== "error") return undefined
  return { error: textAt(event, "error", "data", "message") ?? textAt(event, "error", "name") ?? "unknown error" }
}
