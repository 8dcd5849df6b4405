/** A limit that a git command ran into: how it is seen, and what its error says. */
import { CheckoutError } from "../Checkout.ts"
import type { ProcessLimits } from "../ProcessLimits.ts"

export type ProcessLimit = "memory" | "total_memory" | "cpu" | "file"

const mib = (bytes: number): string => `${Math.ceil(bytes / 1_048_576)} MiB`

const texts: Readonly<Record<ProcessLimit, (limits: ProcessLimits) => string>> = {
  memory: ({ memoryBytes }) => `needs over ${mib(memoryBytes)} of memory (workspaces.limits.git_memory_mb)`,
  total_memory: ({ totalMemoryBytes }) =>
    `was the largest of the git commands that together need over ${mib(totalMemoryBytes)} of memory (workspaces.limits.git_total_memory_mb)`,
  cpu: ({ cpuSeconds }) => `needs over ${cpuSeconds} s of processor time (workspaces.limits.git_cpu_seconds)`,
  file: ({ fileBytes }) => `writes a file of over ${mib(fileBytes)} (workspaces.limits.git_file_mb)`
}

/** Not worth another attempt: the repository needs as much the next time. */
export const limitError = (command: string, limit: ProcessLimit, limits: ProcessLimits): CheckoutError =>
  new CheckoutError({
    reason: "limit",
    message: `git ${command} ${texts[limit](limits)}; raise the limit for repositories that need it`
  })

/**
 * The limit by which the kernel refused a process something or ended it: its signal, or what git says of itself and of the processes that it
 * started, in the C locale.
 */
export const limitOf = (signal: NodeJS.Signals | undefined, stderr: string): ProcessLimit | undefined => {
  if (signal === "SIGXCPU" || /died of signal 24\b/.test(stderr)) return "cpu"
  if (signal === "SIGXFSZ" || /died of signal 25\b|File too large/.test(stderr)) return "file"
  return /Out of memory|Cannot allocate memory|mmap failed/.test(stderr) ? "memory" : undefined
}
