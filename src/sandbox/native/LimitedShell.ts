/** Starts a program under the kernel's limits for each of its processes, through a shell, and in a control group where there is one. */
import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { Writable } from "node:stream"
import type { SandboxLimits } from "../Sandbox.ts"
import type { Cgroup } from "./Cgroup.ts"

/** Descriptor of `input`. */
export const inputFd = 4

/** Open files of a process: more than agents need. The kernel keeps a record of each. */
const openFiles = 4096

/** Setting a limit fails if a lower one is already in force, which is acceptable. Joining the group must not fail. */
const script = (limits: SandboxLimits, joinFiles: ReadonlyArray<string>): string => {
  const cpuSeconds = Math.ceil((Math.max(1, limits.cpus) * limits.timeMillis) / 1000)
  const ulimits = ["-c 0", `-n ${openFiles}`, `-f ${Math.ceil(limits.fileBytes / 512)}`, `-t ${cpuSeconds}`]
  return [
    "umask 077",
    // Each process group of its own session counts as one for the Linux scheduler, whatever the priorities of its processes.
    "{ echo 10 >/proc/self/autogroup; } 2>/dev/null",
    ...ulimits.map((limit) => `ulimit ${limit} 2>/dev/null`),
    ...joinFiles.map((file) => `echo 0 >'${file.replaceAll("'", "'\\''")}' || exit 1`),
    'exec "$@"'
  ].join("\n")
}

/** The program leads its own session. stdin, stdout, stderr and descriptor 3 are pipes, and descriptor 4 if `input` is its content. */
export const spawnLimited = (
  argv: ReadonlyArray<string>,
  options: {
    readonly limits: SandboxLimits
    readonly cgroup: Cgroup | undefined
    readonly environment: Readonly<Record<string, string>>
    readonly cwd: string
    readonly input?: Buffer
  }
): ChildProcess => {
  const { cgroup, cwd, environment, input, limits } = options
  const child = spawn("/bin/sh", ["-c", script(limits, cgroup?.joinFiles ?? []), "sh", ...argv], {
    cwd,
    env: environment,
    stdio: ["pipe", "pipe", "pipe", "pipe", ...(input === undefined ? [] : ["pipe" as const])],
    detached: true
  })
  const pipe = child.stdio[inputFd]
  // A program that ended before it read all reports why.
  if (pipe instanceof Writable) pipe.on("error", () => {}).end(input)
  return child
}
