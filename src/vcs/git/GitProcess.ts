/**
 * Runs git. Every process leads its own process group, so that interruption and timeouts also end its helpers (the HTTP
 * transport, index-pack); SIGTERM first, which lets git remove its lock and temporary files. Output, memory, processor time and
 * the size of files are bounded: by the kernel for each process (a shell sets the inherited limits), and for all processes of a
 * command together by `ProcessWatch`. Files that git writes are accessible to its own user only.
 */
import { spawn } from "node:child_process"
import { setPriority } from "node:os"
import type { ChildProcessByStdio } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { Effect } from "effect"
import type { Scope } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { ProcessLimits } from "../ProcessLimits.ts"
import { gitEnvironment } from "./GitEnvironment.ts"
import type { GitSetting } from "./GitEnvironment.ts"
import { gitFailure } from "./GitFailure.ts"
import { limitError, findLimit } from "./ProcessLimit.ts"
import type { ProcessLimit } from "./ProcessLimit.ts"
import { watchProcesses } from "./ProcessWatch.ts"
import { withinTime } from "./TimeLimit.ts"
import type { TimeLimit } from "./TimeLimit.ts"

export interface GitCommand {
  /** Arguments, beginning with the git command; without secrets. */
  readonly args: ReadonlyArray<string>
  /** Path of the repository; without it git searches `home`. */
  readonly gitDir?: string
  /** HOME and the default working directory. Not a folder with content under review. */
  readonly home: string
  readonly cwd?: string
  readonly settings?: ReadonlyArray<GitSetting>
  readonly limits: ProcessLimits
  /** Folder of additional objects. */
  readonly objects?: string
  /** Values that are redacted from errors. */
  readonly secrets?: ReadonlyArray<string>
}

export interface GitChild {
  readonly stdin: Writable
  readonly stdout: Readable
  /** Settles when the process has ended and its output is closed; never rejects. */
  readonly ended: Promise<GitEnd>
}

export interface GitEnd {
  /** Undefined: killed by a signal or never started. */
  readonly code: number | undefined
  readonly stderr: string
  /** Limit for which the process was ended, if any. */
  readonly limit: ProcessLimit | undefined
}

const stderrLimit = 16_384
const graceMillis = 2_000
/** Lower priority than the event loop of the service and other processes. */
const niceness = 10

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
  const group = `{ echo ${niceness} >/proc/self/autogroup; } 2>/dev/null; `
  // With SIGXFSZ ignored, git reports a file that grows too large as an error; otherwise it would be killed without a reason.
  return `umask 077; trap '' XFSZ; ${group}${limits.map((limit) => `ulimit ${limit} 2>/dev/null; `).join("")}exec git "$@"`
}

const launch = (command: GitCommand): GitChild & { readonly stop: Effect.Effect<void> } => {
  const argv = command.gitDir === undefined ? command.args : [`--git-dir=${command.gitDir}`, ...command.args]
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(
    "sh",
    ["-c", script(command.limits), "git", ...argv],
    {
      cwd: command.cwd ?? command.home,
      env: {
        ...gitEnvironment(command.home, command.settings ?? []),
        ...(command.objects === undefined ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: command.objects })
      },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true
    }
  )
  let stderr = ""
  child.stderr.setEncoding("utf8")
  // The reason is at the end of git's messages, so the end is kept.
  child.stderr.on("data", (text: string) => (stderr = (stderr + text).slice(-stderrLimit)))
  // A closed pipe shows as the end of the process; the write error itself adds no information.
  child.stdin.on("error", () => {})
  let running = true
  let exceeded: ProcessLimit | undefined
  const signal = (name: NodeJS.Signals) => {
    if (!running || child.pid === undefined) return
    try {
      process.kill(-child.pid, name)
    } catch {
      // The group has already ended, which is the goal.
    }
  }
  const unwatch = child.pid === undefined ? () => {} : watch(child.pid, command.limits)
  function watch(pid: number, limits: ProcessLimits) {
    lowerPriority(pid)
    return watchProcesses(pid, limits, (limit) => {
      exceeded ??= limit
      signal("SIGKILL")
    })
  }
  const ended = new Promise<GitEnd>((resolve) => {
    child.once("error", (error) => {
      running = false
      unwatch()
      resolve({ code: undefined, stderr: `git could not be started: ${error.message}`, limit: undefined })
    })
    child.once("close", (code, name) => {
      running = false
      unwatch()
      resolve({
        code: code ?? undefined,
        stderr,
        limit: code === 0 ? undefined : (exceeded ?? findLimit(name ?? undefined, stderr))
      })
    })
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

const lowerPriority = (pid: number): void => {
  try {
    setPriority(pid, niceness)
  } catch {
    // It has ended, or changing the priority is not permitted.
  }
}

/** A git process that lives as long as the scope. */
export const startGit = (command: GitCommand): Effect.Effect<GitChild, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => launch(command)),
    (child) => child.stop
  )

/** Returns the error of a command that ended unexpectedly. */
export const endError = (command: GitCommand, { limit, stderr }: GitEnd): CheckoutError => {
  const name = command.args[0] ?? "git"
  return limit === undefined ? gitFailure(name, stderr, command.secrets ?? []) : limitError(name, limit, command.limits)
}

export interface GitResult {
  readonly code: number
  readonly stdout: Buffer
}

/**
 * Runs a command to its end and returns its output. Exit codes in `accept` (0 always) are results, others fail with git's reason;
 * more than `maxBytes` of output fails and ends the process.
 */
export const runGit = Effect.fnUntraced(function* (
  command: GitCommand,
  limits: { readonly time: TimeLimit; readonly maxBytes: number; readonly accept?: ReadonlyArray<number> }
): Effect.fn.Return<GitResult, CheckoutError> {
  const name = command.args[0] ?? "git"
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const child = yield* startGit(command)
      child.stdin.end()
      const read = yield* Effect.promise(() => collect(child, limits.maxBytes))
      if (read === undefined) {
        return yield* new CheckoutError({
          reason: "limit",
          message: `git ${name} printed over ${limits.maxBytes} bytes`
        })
      }
      const { code, limit } = read.end
      if (code === undefined || limit !== undefined || (code !== 0 && !limits.accept?.includes(code))) {
        return yield* endError(command, read.end)
      }
      return { code, stdout: read.stdout }
    })
  ).pipe(withinTime(name, limits.time))
})

const collect = (
  child: GitChild,
  maxBytes: number
): Promise<{ readonly stdout: Buffer; readonly end: GitEnd } | undefined> =>
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
