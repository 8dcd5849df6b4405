/**
 * Processes of the service that tests use one after the other: a process that has run a service before has compiled its code, so that a start and a
 * first review take a quarter of the processor time. A test that kills or stops its service gets the real end of a process; the others return it
 * when they end.
 */
import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { Socket } from "node:net"
import { join } from "node:path"
import { serviceFlags } from "./ServiceFlags.ts"

/** Ends what one run printed, on both streams. No text of the service has this character. */
export const endMark = "\u0000"

export interface ReusedRun {
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string | undefined>>
}

interface Handlers {
  readonly onText: (text: string) => void
  /** Runs when the program has ended, and all that it printed was read. */
  readonly onEnd: () => void
}

const root = join(import.meta.dirname, "../..")
/** What a process keeps of its runs grows. */
const maxRuns = 25
/** A service that takes longer to stop is killed instead. */
const stopMillis = 2_000

/** The other variables are read by node itself, or while modules are loaded: such a service needs a process of its own. */
const isSafe = (name: string): boolean => /^(TEST_|SVC_LOG_LEVEL$|SVC_ADMIN_|SVC_CONFIG_SECRETS_KEY|PATH$)/.test(name)

const idle: Array<ReusedProcess> = []

export class ReusedProcess {
  readonly child: ChildProcess
  #handlers: Handlers | undefined
  #runs = 0
  #openStreams = 0
  #ended = Promise.withResolvers<boolean>()

  private constructor() {
    const main = join(import.meta.dirname, "ReusedMain.ts")
    this.child = spawn(join(root, "node_modules/.bin/node"), [...serviceFlags, main], {
      cwd: root,
      env: { PATH: process.env["PATH"] },
      stdio: ["ignore", "pipe", "pipe", "ipc"]
    })
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => this.#read(text))
      if (stream instanceof Socket) stream.unref()
    }
    this.child.once("exit", () => this.#ended.resolve(false))
    this.child.unref()
    this.child.channel?.unref()
  }

  /** Runs the program in a process that an earlier test returned, or in a new one; undefined if it needs a process of its own. */
  static run(run: ReusedRun, handlers: Handlers): ReusedProcess | undefined {
    if (process.env["VITEST"] === undefined || !Object.keys(run.env).every(isSafe)) return undefined
    const found = idle.pop() ?? new ReusedProcess()
    found.#handlers = handlers
    found.#runs++
    found.#openStreams = 2
    found.#ended = Promise.withResolvers()
    found.child.send(run)
    return found
  }

  #read(text: string): void {
    for (const [index, part] of text.split(endMark).entries()) {
      if (index > 0) this.#endStream()
      if (part !== "") this.#handlers?.onText(part)
    }
  }

  #endStream(): void {
    if (--this.#openStreams > 0) return
    const handlers = this.#handlers
    this.#handlers = undefined
    this.#ended.resolve(true)
    if (this.#runs < maxRuns) idle.push(this)
    else this.child.kill("SIGKILL")
    handlers?.onEnd()
  }

  /** Has the end of the program end the process, as it does outside of tests. */
  async endWithRun(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    this.child.once("message", resolve)
    this.child.once("exit", resolve)
    this.child.send("last")
    await promise
  }

  /** Stops the program, and keeps the process for another test. */
  async return(): Promise<void> {
    this.child.kill("SIGTERM")
    const timer = setTimeout(() => this.#ended.resolve(false), stopMillis)
    if (!(await this.#ended.promise)) this.child.kill("SIGKILL")
    clearTimeout(timer)
  }
}
