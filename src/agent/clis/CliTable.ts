/** The table of agent CLIs: one row per mode. */
import type { CliMode } from "./AgentPrograms.ts"
import { claudeCode } from "./ClaudeCode.ts"
import type { AgentCli } from "./Cli.ts"
import { codex } from "./Codex.ts"
import { copilotCli } from "./CopilotCli.ts"
import { geminiCli } from "./GeminiCli.ts"
import { kilo } from "./Kilo.ts"
import { omp } from "./Omp.ts"
import { opencode } from "./Opencode.ts"
import { pi } from "./Pi.ts"
import { zoo } from "./Zoo.ts"

const agentClis = {
  kilo,
  opencode,
  zoo,
  "copilot-cli": copilotCli,
  "claude-code": claudeCode,
  pi,
  omp,
  codex,
  "gemini-cli": geminiCli
} satisfies Record<CliMode, AgentCli>

export const findCli = (mode: CliMode): AgentCli => agentClis[mode]

/** The modes in the order of the table. */
export const cliModes: ReadonlyArray<CliMode> = Object.keys(agentClis).filter((name): name is CliMode =>
  Object.hasOwn(agentClis, name)
)
