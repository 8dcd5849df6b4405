/**
 * Runs git. Every process leads a group of its own, so that interruption and timeouts end its helpers with it (the HTTP
 * transport, index-pack); SIGTERM first, which lets git remove its lock and temporary files. Output is bounded.
 */
import { spawn } from "node:child_process"
import type { ChildProcessByStdio } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { Effect } from "effect"
import type { Scope } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { gitEnvironment } from "./GitEnvironment.ts"
import type { GitSetting } from "./GitEnvironment.ts"
import { gitFailure } from "./GitFailure.ts"

export interface GitCommand {
  /** The first one is the git command; none of them is a secret. */
  readonly args: ReadonlyArray<string>
  /** The repository; without it git looks for one in `home`. */
  readonly gitDir?: string
  /** HOME, and the working directory where no other is given. Not a folder whose content is under review. */
  readonly home: string
  readonly cwd?: string
  readonly settings?: ReadonlyArray<GitSetting>
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
}

const stderrLimit = 16_384
const graceMillis = 2_000

const launch = (command: GitCommand): GitChild & { readonly stop: Effect.Effect<void> } => {
  const argv = command.gitDir === undefined ? command.args : [`--git-dir=${command.gitDir}`, ...command.args]
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn("git", argv, {
    cwd: command.cwd ?? command.home,
    env: gitEnvironment(command.home, command.settings ?? []),
    stdio: ["pipe", "pipe", "pipe"],
    detached: true
  })
  let stderr = ""
  child.stderr.setEncoding("utf8")
  // The end of what git says holds the reason, so that is what is kept.
  child.stderr.on("data", (text: string) => (stderr = (stderr + text).slice(-stderrLimit)))
  // A reader that went away shows as the end of the process; the write error itself says nothing more.
  child.stdin.on("error", () => {})
  let running = true
  const ended = new Promise<GitEnd>((resolve) => {
    child.once("error", (error) => {
      running = false
      resolve({ code: undefined, stderr: `git could not be started: ${error.message}` })
    })
    child.once("close", (code) => {
      running = false
      resolve({ code: code ?? undefined, stderr })
    })
  })
  const signal = (name: NodeJS.Signals) => {
    if (!running || child.pid === undefined) return
    try {
      process.kill(-child.pid, name)
    } catch {
      // The group is gone already: that is what was asked for.
    }
  }
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

/** A git process that lives as long as the scope. */
export const startGit = (command: GitCommand): Effect.Effect<GitChild, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => launch(command)),
    (child) => child.stop
  )

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
  limits: { readonly timeoutMillis: number; readonly maxBytes: number; readonly accept?: ReadonlyArray<number> }
): Effect.fn.Return<GitResult, CheckoutError> {
  const name = command.args[0] ?? "git"
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const child = yield* startGit(command)
      child.stdin.end()
      const read = yield* Effect.promise(() => collect(child, limits.maxBytes))
      if (read === undefined) {
        return yield* new CheckoutError({
          reason: "failed",
          message: `git ${name} printed over ${limits.maxBytes} bytes`
        })
      }
      const { code, stderr } = read.end
      if (code === undefined || (code !== 0 && !limits.accept?.includes(code))) {
        return yield* gitFailure(name, stderr, command.secrets ?? [])
      }
      return { code, stdout: read.stdout }
    })
  ).pipe(
    Effect.timeoutOrElse({
      duration: limits.timeoutMillis,
      orElse: () =>
        Effect.fail(
          new CheckoutError({
            reason: "unreachable",
            message: `git ${name} was ended after ${Math.round(limits.timeoutMillis / 1000)} s`
          })
        )
    })
  )
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
