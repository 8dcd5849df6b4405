/** Detects that a command exceeded a limit, and builds its error. */
import type { Reason } from "../../domain/Reason.ts"
import { CheckoutError } from "../Checkout.ts"
import type { ProcessLimits } from "./ProcessLimits.ts"

export type ProcessLimit = "memory" | "total_memory" | "cpu" | "file"

const mib = (bytes: number): number => Math.ceil(bytes / 1_048_576)

const reasons: Readonly<Record<ProcessLimit, (command: string, limits: ProcessLimits) => Reason>> = {
  memory: (command, { memoryBytes }) => ({ _tag: "ProgramOverMemory", command, megabytes: mib(memoryBytes) }),
  total_memory: (command, { totalMemoryBytes }) => ({
    _tag: "ProgramsOverMemory",
    command,
    megabytes: mib(totalMemoryBytes)
  }),
  cpu: (command, { cpuSeconds }) => ({ _tag: "ProgramOverTime", command, seconds: cpuSeconds }),
  file: (command, { fileBytes }) => ({ _tag: "ProgramOverFileSize", command, megabytes: mib(fileBytes) })
}

/** Permanent, because the repository needs the same resources next time. `command`: the program and its command, `git fetch`. */
export const limitError = (command: string, limit: ProcessLimit, limits: ProcessLimits): CheckoutError =>
  new CheckoutError({ reason: "limit", why: reasons[limit](command, limits) })

/**
 * Returns the limit for which the kernel refused a request or ended a process: by its signal, or by the messages of git about itself and
 * its child processes, and of Subversion's libraries, in the C locale.
 */
export const findLimit = (signal: NodeJS.Signals | undefined, stderr: string): ProcessLimit | undefined => {
  if (signal === "SIGXCPU" || /died of signal 24\b/.test(stderr)) return "cpu"
  if (signal === "SIGXFSZ" || /died of signal 25\b|File too large/.test(stderr)) return "file"
  return /Out of memory|Cannot allocate memory|mmap failed/.test(stderr) ? "memory" : undefined
}
