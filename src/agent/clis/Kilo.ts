/** Kilo, a fork of opencode. It puts a persona of its own before the system text. */
import type { AgentCli } from "./Cli.ts"
import { opencodeProgram, readOpencodeEvent } from "./OpencodeFamily.ts"

/** Daemon, telemetry and features that contact servers are off; one retry, because the proxy retries by itself. */
const own = {
  KILO_TELEMETRY_LEVEL: "off",
  KILO_SESSION_RETRY_LIMIT: "1",
  KILO_NO_DAEMON: "1",
  KILO_DISABLE_SESSION_INGEST: "1",
  KILO_DISABLE_PRESENCE: "1",
  KILO_DISABLE_CODEBASE_INDEXING: "1"
}

export const kilo: AgentCli = {
  package: "@kilocode/cli",
  tested: "7.7.7",
  companions: [],
  install: "npm",
  command: (platform) => [`@kilocode/cli-${platform}/bin/kilo`],
  format: "openai-chat",
  support: { webSearch: { by: "service", reach: { ids: ["exa", "parallel", "kilo-exa"], isSingle: true } } },
  program: (setup) => opencodeProgram("KILO", setup, own),
  read: readOpencodeEvent
}
