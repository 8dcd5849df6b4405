/** What git may use while it works on a repository that others wrote. */
import type { WorkspacesConfig } from "../config/schema/Workspaces.ts"

export interface ProcessLimits {
  /** Memory of one git command with all processes that it starts; of each of them by itself too. */
  readonly memoryBytes: number
  /** Memory of all git commands of this process together. */
  readonly totalMemoryBytes: number
  /** Processor time of each process. */
  readonly cpuSeconds: number
  /** Size of a file that git writes, a fetched pack for one. */
  readonly fileBytes: number
}

const mib = 1_048_576

export const processLimits = (config: WorkspacesConfig["limits"]): ProcessLimits => ({
  memoryBytes: config.git_memory_mb * mib,
  totalMemoryBytes: config.git_total_memory_mb * mib,
  cpuSeconds: config.git_cpu_seconds,
  fileBytes: config.git_file_mb * mib
})

/** For repositories of the user's own, on the user's own machine. */
export const localLimits: ProcessLimits = {
  memoryBytes: 4096 * mib,
  totalMemoryBytes: 8192 * mib,
  cpuSeconds: 3600,
  fileBytes: 65_536 * mib
}
