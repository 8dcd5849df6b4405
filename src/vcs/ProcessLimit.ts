/** Detects that a command exceeded a limit, and builds its error. */
import { CheckoutError } from "./Checkout.ts"
import type { ProcessLimits } from "./ProcessLimits.ts"

export type ProcessLimit = "memory" | "total_memory" | "cpu" | "file"

const mib = (bytes: number): string => `${Math.ceil(bytes / 1_048_576)} MiB`

const texts: Readonly<Record<ProcessLimit, (limits: ProcessLimits) => string>> = {
  memory: ({ memoryBytes }) => `needs over ${mib(memoryBytes)} of memory (workspaces.limits.git_memory_mb)`,
  total_memory: ({ totalMemoryBytes }) =>
    `was the largest of the commands that together need over ${mib(totalMemoryBytes)} of memory (workspaces.limits.git_total_memory_mb)`,
  cpu: ({ cpuSeconds }) => `needs over ${cpuSeconds} s of processor time (workspaces.limits.git_cpu_seconds)`,
  file: ({ fileBytes }) => `writes a file of over ${mib(fileBytes)} (workspaces.limits.git_file_mb)`
}

/** Permanent, because the repository needs the same resources next time. `command`: the program and its command, `git fetch`. */
export const limitError = (command: string, limit: ProcessLimit, limits: ProcessLimits): CheckoutError =>
  new CheckoutError({
    reason: "limit",
    message: `${command} ${texts[limit](limits)}; raise the limit for repositories that need it`
  })

/**
 * Returns the limit for which the kernel refused a request or ended a process: by its signal, or by the messages of git about itself and
 * its child processes, and of Subversion's libraries, in the C locale.
 */
export const findLimit = (signal: NodeJS.Signals | undefined, stderr: string): ProcessLimit | undefined => {
  if (signal === "SIGXCPU" || /died of signal 24\b/.test(stderr)) return "cpu"
  if (signal === "SIGXFSZ" || /died of signal 25\b|File too large/.test(stderr)) return "file"
  return /Out of memory|Cannot allocate memory|mmap failed/.test(stderr) ? "memory" : undefined
}
