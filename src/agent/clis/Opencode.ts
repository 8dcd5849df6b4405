/** The CLI opencode. It repeats failed model calls without end, which the watch of a pass ends. */
import type { AgentCli } from "./Cli.ts"
import { opencodeProgram, readOpencodeEvent } from "./OpencodeFamily.ts"

export const opencode: AgentCli = {
  package: "opencode-ai",
  tested: "1.18.33",
  companions: [],
  install: "npm",
  command: (platform) => [`opencode-${platform}/bin/opencode`],
  format: "openai-chat",
  support: { webSearch: { by: "service", reach: { ids: ["exa", "parallel"], isSingle: true } } },
  program: (setup) => opencodeProgram("OPENCODE", setup),
  read: readOpencodeEvent
}
