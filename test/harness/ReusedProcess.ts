/**
 * Processes of `aicr` that tests use one after the other: a process that has run a service before has compiled its code, so that a start and a
 * first review take a third of the processor time, and a command a tenth. A test that kills or stops its service gets the real end of a process;
 * the others return it when they end.
 */
import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { Socket } from "node:net"
import { join } from "node:path"
import { serviceFlags } from "./ServiceFlags.ts"

/** Ends what a run printed, on both streams. No text of the program has this character. */
export const endMark = "\u0000"

export interface ReusedRun {
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  /** All variables of the program. */
  readonly env: Readonly<Record<string, string | undefined>>
}

type Stream = "stdout" | "stderr"

interface Handlers {
  readonly onText: (text: string, stream: Stream) => void
  /** Runs when the program has ended, and all that it printed was read, or when the process was killed. */
  readonly onEnd: (code: number | null) => void
}

const root = join(import.meta.dirname, "../..")
/** A process keeps more with each of its runs. */
const maxRuns = 25
/** A service that takes longer to stop is killed instead. */
const stopMillis = 2_000

/** Node reads these, or modules while they are loaded. A member of a cluster takes longer to stop. */
const isOfProcess = (name: string): boolean =>
  /^(NODE_|TZ$|UV_|LD_|SSL_|OPENSSL_|SVC_NODE_NAME$|SVC_NATS_|(http|https|no|all)_proxy$)/i.test(name)

const idle: Array<ReusedProcess> = []

export class ReusedProcess {
  readonly child: ChildProcess
  #handlers: Handlers | undefined
  #runs = 0
  /** The report of the code, and the marks of both streams. */
  #missing = 0
  #code = 0
  #ended = Promise.withResolvers<boolean>()

  private constructor() {
    const main = join(import.meta.dirname, "ReusedMain.ts")
    this.child = spawn(join(root, "node_modules/.bin/node"), [...serviceFlags, main], {
      cwd: root,
      env: { PATH: process.env["PATH"] },
      stdio: ["ignore", "pipe", "pipe", "ipc"]
    })
    for (const name of ["stdout", "stderr"] as const) {
      const stream = this.child[name]
      stream?.setEncoding("utf8").on("data", (text: string) => this.#read(text, name))
      if (stream instanceof Socket) stream.unref()
    }
    this.child.on("message", (message) => {
      if (message === "last") return
      this.#code = Number(Object(message).code)
      this.#endPart()
    })
    this.child.once("exit", (code) => {
      this.#ended.resolve(false)
      this.#handlers?.onEnd(code)
    })
    this.child.unref()
    this.child.channel?.unref()
  }

  /** Runs the program in a process that an earlier test returned, or in a new one; undefined if it needs a process of its own. */
  static run(run: ReusedRun, handlers: Handlers): ReusedProcess | undefined {
    if (process.env["VITEST"] === undefined || Object.keys(run.env).some(isOfProcess)) return undefined
    const found = idle.pop() ?? new ReusedProcess()
    found.#handlers = handlers
    found.#runs++
    found.#missing = 3
    found.#ended = Promise.withResolvers()
    found.child.send(run)
    return found
  }

  #read(text: string, stream: Stream): void {
    for (const [index, part] of text.split(endMark).entries()) {
      if (index > 0) this.#endPart()
      if (part !== "") this.#handlers?.onText(part, stream)
    }
  }

  #endPart(): void {
    if (--this.#missing > 0) return
    const handlers = this.#handlers
    this.#handlers = undefined
    this.#ended.resolve(true)
    if (this.#runs < maxRuns) idle.push(this)
    else this.child.kill("SIGKILL")
    handlers?.onEnd(this.#code)
  }

  /** Has the end of the program end the process, as it does outside of tests. */
  async endWithRun(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    this.child.on("message", (message) => message === "last" && resolve(message))
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
