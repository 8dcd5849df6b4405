/** Limits for processes of git, svn and p4 that work on untrusted repositories. */
import type { WorkspacesConfig } from "../../config/schema/Workspaces.ts"

export interface ProcessLimits {
  /** Maximum memory of one command with all its child processes, and of each process. */
  readonly memoryBytes: number
  /** Maximum memory of all commands of this process together. */
  readonly totalMemoryBytes: number
  /** Maximum processor time of each process. */
  readonly cpuSeconds: number
  /** Maximum size of a file that a command writes, for example a fetched pack. */
  readonly fileBytes: number
}

const mib = 1_048_576

export const processLimits = (config: WorkspacesConfig["limits"]): ProcessLimits => ({
  memoryBytes: config.git_memory_mb * mib,
  totalMemoryBytes: config.git_total_memory_mb * mib,
  cpuSeconds: config.git_cpu_seconds,
  fileBytes: config.git_file_mb * mib
})

/** No limits, for the user's own repositories on the user's own machine. */
export const localLimits: ProcessLimits = {
  memoryBytes: 4096 * mib,
  totalMemoryBytes: 8192 * mib,
  cpuSeconds: 3600,
  fileBytes: 65_536 * mib
}
