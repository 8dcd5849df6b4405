/** Converts the resolved configuration to the limits of one pass. Pure. */
import type { AgentConfig } from "../config/schema/Agent.ts"
import type { SandboxLimits } from "./Sandbox.ts"

const mib = 1_048_576

export const toSandboxLimits = ({
  sandbox: { limits },
  timeout_seconds: seconds
}: Pick<AgentConfig, "sandbox" | "timeout_seconds">): SandboxLimits => ({
  memoryBytes: limits.memory_mb * mib,
  cpus: limits.cpus,
  processes: limits.processes,
  fileBytes: limits.file_mb * mib,
  outputBytes: limits.output_mb * mib,
  timeMillis: seconds * 1000
})
