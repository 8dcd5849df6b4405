/** The CLI oh-my-pi (omp), a fork of pi that runs in bun. JSON is YAML, too, so its settings are written as JSON. */
import type { AgentCli, CliSetup } from "./Cli.ts"
import { bearer, jsonFile, serverName, toolsUrl } from "./Cli.ts"
import { modelVariable, piModels, piProvider, readPiEvent } from "./PiFamily.ts"

/** Maximum length of one argument on Linux is 131 072 bytes. */
const maxArgument = 100_000

/** A system text that is too long for an argument precedes the prompt. */
const texts = ({ prompt, system }: CliSetup) =>
  Buffer.byteLength(system) <= maxArgument
    ? { system, prompt }
    : { system: "The first message begins with your instructions.", prompt: `${system}\n\n${prompt}` }

const searxng = ({ agent }: CliSetup) => {
  const { categories, endpoint, engines, language, safesearch } = agent.web_search.searxng
  return Object.fromEntries(
    Object.entries({ endpoint, categories, engines, language, safesearch }).filter(([, value]) => value !== undefined)
  )
}

const config = (setup: CliSetup) => {
  const { context_compaction: compaction, web_search: search } = setup.agent
  const { threshold_percent: thresholdPercent } = compaction
  return {
    startup: { checkUpdate: false, setupWizard: false, quiet: true },
    mcp: { enableProjectConfig: false },
    tools: { xdev: false },
    web_search: { enabled: search.enabled },
    ...(search.enabled
      ? {
          providers: {
            ...(search.providers.length === 0 ? {} : { webSearchOrder: search.providers }),
            webSearchExclude: search.exclude,
            ...(search.timeout_seconds === undefined ? {} : { webSearchTimeoutSeconds: search.timeout_seconds })
          },
          searxng: searxng(setup)
        }
      : {}),
    retry: { maxRetries: 1 },
    compaction: {
      enabled: compaction.auto,
      dropUseless: compaction.prune,
      ...(thresholdPercent === undefined ? {} : { thresholdPercent })
    }
  }
}

/** Variables with the keys of search providers: `EXA_API_KEY` for `exa`. */
const searchKeys = ({ agent, searchKeys: keys }: CliSetup): Readonly<Record<string, string>> =>
  agent.web_search.enabled
    ? Object.fromEntries(
        Object.entries(keys).map(([id, key]) => [
          id === "searxng" ? "SEARXNG_TOKEN" : `${id.toUpperCase().replaceAll("-", "_")}_API_KEY`,
          key
        ])
      )
    : {}

export const omp: AgentCli = {
  package: "@oh-my-pi/pi-coding-agent",
  tested: "18.2.3",
  companions: ["bun@1.4.5"],
  install: "npm",
  command: (platform) => [`@oven/bun-${platform}/bin/bun`, "@oh-my-pi/pi-coding-agent/dist/cli.js"],
  format: "openai-chat",
  // It waits 250 ms for servers of tools.
  support: {
    approval: "without approvals it refuses every tool",
    webSearch: {
      by: "sandbox",
      fields: new Set(["providers", "exclude", "timeout_seconds", "credentials", "searxng"])
    }
  },
  program: (setup) => {
    const { prompt, system } = texts(setup)
    return {
      args: [
        "-p",
        "--mode",
        "json",
        "--model",
        `${piProvider}/${setup.model.name}`,
        "--system-prompt",
        system,
        "--no-session",
        "--no-title",
        "--no-lsp",
        "--no-pty",
        "--no-extensions",
        "--no-skills",
        "--no-rules",
        ...(setup.agent.web_search.enabled ? ["--tools", "web_search"] : ["--no-tools"]),
        "--approval-mode",
        "yolo"
      ],
      environment: {
        PI_CODING_AGENT_DIR: setup.folders.settings,
        PI_OFFLINE: "1",
        [modelVariable]: setup.model.token,
        ...searchKeys(setup)
      },
      stdin: prompt,
      files: [
        jsonFile("settings/models.yml", piModels(setup, modelVariable)),
        jsonFile("settings/config.yml", config(setup)),
        jsonFile("settings/mcp.json", {
          mcpServers: {
            [serverName]: {
              type: "http",
              url: toolsUrl(setup),
              headers: { Authorization: bearer(setup) },
              timeout: 120_000
            }
          }
        })
      ]
    }
  },
  read: readPiEvent
}
