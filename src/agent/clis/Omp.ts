/** The CLI oh-my-pi (omp), a fork of pi that runs in bun. JSON is YAML, too, so its settings are written as JSON. */
import type { AgentCli, CliSetup } from "./Cli.ts"
import { bearer, jsonFile, searchedByService, serverName, toolsUrl } from "./Cli.ts"
import { modelVariable, piModels, piProvider, readPiEvent } from "./PiFamily.ts"

/** Maximum length of one argument on Linux is 131 072 bytes. */
const maxArgument = 100_000

/** A system text that is too long for an argument precedes the prompt. */
const texts = ({ prompt, system }: CliSetup) =>
  Buffer.byteLength(system) <= maxArgument
    ? { system, prompt }
    : { system: "The first message begins with your instructions.", prompt: `${system}\n\n${prompt}` }

const config = (setup: CliSetup) => {
  const { context_compaction: compaction } = setup.agent
  const { threshold_percent: thresholdPercent } = compaction
  return {
    startup: { checkUpdate: false, setupWizard: false, quiet: true },
    mcp: { enableProjectConfig: false },
    tools: { xdev: false },
    web_search: { enabled: false },
    retry: { maxRetries: 1 },
    compaction: {
      enabled: compaction.auto,
      dropUseless: compaction.prune,
      ...(thresholdPercent === undefined ? {} : { thresholdPercent })
    }
  }
}

export const omp: AgentCli = {
  package: "@oh-my-pi/pi-coding-agent",
  tested: "18.2.3",
  companions: ["bun@1.4.5"],
  install: "npm",
  command: (platform) => [`@oven/bun-${platform}/bin/bun`, "@oh-my-pi/pi-coding-agent/dist/cli.js"],
  format: "openai-chat",
  // It waits 250 ms for servers of tools.
  support: {
    approval: { _tag: "RefusesWithoutApprovals" },
    webSearch: searchedByService
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
        "--no-tools",
        "--approval-mode",
        "yolo"
      ],
      environment: {
        PI_CODING_AGENT_DIR: setup.folders.settings,
        PI_OFFLINE: "1",
        [modelVariable]: setup.model.token
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
              timeout: setup.tools.callSeconds * 1_000
            }
          }
        })
      ]
    }
  },
  read: readPiEvent
}
