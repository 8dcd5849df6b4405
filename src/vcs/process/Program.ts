/**
 * Runs a program of a version control system. Every process leads its own process group, so that interruption and timeouts also end its
 * helpers (git's HTTP transport, ssh); SIGTERM first, which lets it remove its lock and temporary files. Output, memory, processor time
 * and the size of files are bounded: by the kernel for each process (a shell sets the inherited limits), and for all processes of a command
 * together by `ProcessWatch`. Files that it writes are accessible to its own user only.
 */
import type { Readable, Writable } from "node:stream"
import { Effect } from "effect"
import type { Scope } from "effect"
import type { ProcessLimits } from "./ProcessLimits.ts"
import { setStartPriority, startSteps } from "./ProcessPriority.ts"
import { start } from "./Launcher.ts"
import { findLimit } from "./ProcessLimit.ts"
import type { ProcessLimit } from "./ProcessLimit.ts"
import { watchProcesses } from "./ProcessWatch.ts"

interface ProgramCommand {
  /** Name on the path, or absolute path. */
  readonly program: string
  /** Arguments, without secrets: all users of the machine can read them. */
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  /** The whole environment. */
  readonly environment: Readonly<Record<string, string>>
  readonly limits: ProcessLimits
}

export interface ProgramChild {
  readonly stdin: Writable
  readonly stdout: Readable
  /** Settles when the process has ended and its output is closed; never rejects. */
  readonly ended: Promise<ProgramEnd>
}

export interface ProgramEnd {
  /** Undefined: killed by a signal or never started. */
  readonly code: number | undefined
  readonly stderr: string
  /** True if the program was never started, for example because it is not installed. */
  readonly isUnstarted?: true
  /** Limit for which the process was ended, if any. */
  readonly limit: ProcessLimit | undefined
}

const stderrLimit = 16_384
const graceMillis = 2_000
/** Setting a limit fails if a lower one is already in force, which is acceptable. */
const script = ({ memoryBytes, cpuSeconds, fileBytes }: ProcessLimits): string => {
  const limits = [
    "-c 0",
    `-d ${Math.ceil(memoryBytes / 1024)}`,
    `-t ${cpuSeconds + 5}`,
    `-S -t ${cpuSeconds}`,
    `-f ${Math.ceil(fileBytes / 512)}`
  ]
  // Each process group of its own session counts as one for the Linux scheduler, whatever the priorities of its processes.
  const group = `{ echo ${startSteps} >/proc/self/autogroup; } 2>/dev/null; `
  // With SIGXFSZ ignored, programs report a file that grows too large as an error; otherwise it would be killed without a reason.
  return `umask 077; trap '' XFSZ; ${group}${limits.map((limit) => `ulimit ${limit} 2>/dev/null; `).join("")}exec "$0" "$@"`
}

const launch = async (command: ProgramCommand): Promise<ProgramChild & { readonly stop: Effect.Effect<void> }> => {
  const { cwd, environment: env, limits } = command
  const args = ["-c", script(limits), command.program, ...command.args]
  const child = await start({ program: "sh", args, cwd, env })
  let stderr = ""
  child.stderr.setEncoding("utf8")
  // The reason is at the end of the messages, so the end is kept.
  child.stderr.on("data", (text: string) => (stderr = (stderr + text).slice(-stderrLimit)))
  // A closed pipe shows as the end of the process; the write error itself adds no information.
  child.stdin.on("error", () => {})
  let running = true
  let exceeded: ProcessLimit | undefined
  const signal = (name: NodeJS.Signals) => {
    if (running) child.signal(name)
  }
  const unwatch = child.pid === undefined ? () => {} : watch(child.pid)
  function watch(pid: number) {
    setStartPriority(pid)
    return watchProcesses(pid, limits, (limit) => {
      exceeded ??= limit
      signal("SIGKILL")
    })
  }
  const ended = child.closed.then(({ code, error, signal: name }): ProgramEnd => {
    running = false
    unwatch()
    if (error !== undefined) {
      const why = `${command.program} could not be started: ${error}`
      return { code: undefined, stderr: why, isUnstarted: true, limit: undefined }
    }
    return { code, stderr, limit: code === 0 ? undefined : (exceeded ?? findLimit(name, stderr)) }
  })
  const stop = Effect.suspend(() => {
    if (!running) return Effect.void
    signal("SIGTERM")
    // Its output is no longer read; a full pipe must not delay its end.
    child.stdout.resume()
    return Effect.promise(() => ended).pipe(
      Effect.timeoutOrElse({
        duration: graceMillis,
        orElse: () => Effect.sync(() => signal("SIGKILL")).pipe(Effect.andThen(Effect.promise(() => ended)))
      }),
      Effect.asVoid
    )
  })
  return { stdin: child.stdin, stdout: child.stdout, ended, stop }
}

/** A process that lives as long as the scope. */
export const startProgram = (command: ProgramCommand): Effect.Effect<ProgramChild, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => launch(command)),
    (child) => child.stop
  )

/** Reads the output to its end; undefined if it is longer. */
export const collect = (
  child: ProgramChild,
  maxBytes: number
): Promise<{ readonly stdout: Buffer; readonly end: ProgramEnd } | undefined> =>
  new Promise((resolve) => {
    const chunks: Array<Buffer> = []
    let size = 0
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) resolve(undefined)
      else chunks.push(chunk)
    })
    void child.ended.then((end) => resolve({ stdout: Buffer.concat(chunks), end }))
  })
