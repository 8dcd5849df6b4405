/**
 * Runs git. Every process leads a group of its own, so that interruption and timeouts end its helpers with it (the HTTP
 * transport, index-pack); SIGTERM first, which lets git remove its lock and temporary files. Output is bounded, and so are memory,
 * processor time and the size of files: by the kernel for each process (a shell sets what it then inherits), and for all processes of a
 * command together by `ProcessWatch`. What git writes is for its own user alone.
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
import { limitError, limitOf } from "./ProcessLimit.ts"
import type { ProcessLimit } from "./ProcessLimit.ts"
import { watchProcesses } from "./ProcessWatch.ts"
import { withinTime } from "./TimeLimit.ts"
import type { TimeLimit } from "./TimeLimit.ts"

export interface GitCommand {
  /** The first one is the git command; none of them is a secret. */
  readonly args: ReadonlyArray<string>
  /** The repository; without it git looks for one in `home`. */
  readonly gitDir?: string
  /** HOME, and the working directory where no other is given. Not a folder whose content is under review. */
  readonly home: string
  readonly cwd?: string
  readonly settings?: ReadonlyArray<GitSetting>
  readonly limits: ProcessLimits
  /** A folder of objects that the repository does not have. */
  readonly objects?: string
  /** Words that must not appear in an error. */
  readonly secrets?: ReadonlyArray<string>
}

export interface GitChild {
  readonly stdin: Writable
  readonly stdout: Readable
  /** Settles when the process has ended and its output is closed; never rejects. */
  readonly ended: Promise<GitEnd>
}

export interface GitEnd {
  /** undefined: killed by a signal or never started. */
  readonly code: number | undefined
  readonly stderr: string
  /** Why it was ended, where it was for what it used. */
  readonly limit: ProcessLimit | undefined
}

const stderrLimit = 16_384
const graceMillis = 2_000
/** Behind the event loop of the service, and behind what else the machine does. */
const niceness = 10

/** A limit that is lower already stays: then setting it fails, which does not matter. */
const script = ({ memoryBytes, cpuSeconds, fileBytes }: ProcessLimits): string => {
  const limits = [
    "-c 0",
    `-d ${Math.ceil(memoryBytes / 1024)}`,
    `-t ${cpuSeconds + 5}`,
    `-S -t ${cpuSeconds}`,
    `-f ${Math.ceil(fileBytes / 512)}`
  ]
  // A file that grows too large is then an error that git reports, in whichever of its processes; killed, it would end without a reason.
  return `umask 077; trap '' XFSZ; ${limits.map((limit) => `ulimit ${limit} 2>/dev/null; `).join("")}exec git "$@"`
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
  // The end of what git says holds the reason, so that is what is kept.
  child.stderr.on("data", (text: string) => (stderr = (stderr + text).slice(-stderrLimit)))
  // A reader that went away shows as the end of the process; the write error itself says nothing more.
  child.stdin.on("error", () => {})
  let running = true
  let exceeded: ProcessLimit | undefined
  const signal = (name: NodeJS.Signals) => {
    if (!running || child.pid === undefined) return
    try {
      process.kill(-child.pid, name)
    } catch {
      // The group is gone already: that is what was asked for.
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
        limit: code === 0 ? undefined : (exceeded ?? limitOf(name ?? undefined, stderr))
      })
    })
  })
  const stop = Effect.suspend(() => {
    if (!running) return Effect.void
    signal("SIGTERM")
    // Its output is not read any more; a full pipe must not hold up the end.
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
    // It has ended, or the system does not let us: it runs as it is.
  }
}

/** A git process that lives as long as the scope. */
export const startGit = (command: GitCommand): Effect.Effect<GitChild, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => launch(command)),
    (child) => child.stop
  )

/** The error of a command that has ended otherwise than it should. */
export const endError = (command: GitCommand, { limit, stderr }: GitEnd): CheckoutError => {
  const name = command.args[0] ?? "git"
  return limit === undefined ? gitFailure(name, stderr, command.secrets ?? []) : limitError(name, limit, command.limits)
}

export interface GitResult {
  readonly code: number
  readonly stdout: Buffer
}

/**
 * Runs to the end and returns what it printed. Exit codes in `accept` (0 always) are results, others fail with the reason
 * git gave; more than `maxBytes` of output fails and ends the process.
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
