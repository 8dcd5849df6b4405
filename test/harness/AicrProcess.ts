/**
 * The real process under test, with verbs: start, kill (SIGKILL), stop (SIGTERM), freeze and thaw (SIGSTOP, SIGCONT). One
 * `AicrProcess` is one installation: starting it again after a kill finds the same configuration, records and port.
 */
import { execFile, spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { readdir, readFile, readlink } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { readTreeMillis } from "./ProcessorTime.ts"
import { ReusedProcess } from "./ReusedProcess.ts"
import { serviceFlags } from "./ServiceFlags.ts"
import { waitUntil } from "./Wait.ts"

/** Folder of this program. */
export const programFolder = join(import.meta.dirname, "../..")

/** Maximum time in milliseconds from SIGTERM to the exit of the service, in any state. */
export const stopWithin = 15_000

export interface Installation {
  readonly configFile: string
  /** Base URL of `/readyz`, without a slash at the end. */
  readonly url: string
  readonly env: Readonly<Record<string, string>>
}

export interface Exited {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly millis: number
}

export class AicrProcess implements AsyncDisposable {
  readonly url: string
  readonly #installation: Installation
  #env: Readonly<Record<string, string>>
  #program = programFolder
  #entry = "src/main.mjs"
  #child: ChildProcess | undefined
  /** The process of `#child`, if another test may use it after this one. */
  #reused: ReusedProcess | undefined
  #isOwn = false
  #log = ""

  constructor(installation: Installation) {
    this.#installation = installation
    this.#env = installation.env
    this.url = installation.url
  }

  /** Everything that the processes of this installation printed. */
  get log(): string {
    return this.#log
  }

  /** Sets variables of the next process. */
  setEnv(more: Readonly<Record<string, string>>): void {
    this.#env = { ...this.#env, ...more }
  }

  /** Uses the program in this folder for the next process. Older commits have their entry at another path. */
  setProgram(folder: string, entry = "src/main.mjs"): void {
    this.#isOwn = true
    this.#program = folder
    this.#entry = entry
  }

  /** Gives it processes that no other test used or will use: it measures them, or leaves them as no other test may find them. */
  useOwnProcess(): void {
    this.#isOwn = true
  }

  /** Starts the process without waiting for it. */
  spawn(): void {
    if (this.#child !== undefined) throw new Error("it is running")
    const args = ["serve", "--config", this.#installation.configFile]
    const env = { PATH: process.env["PATH"], SVC_LOG_LEVEL: "debug", ...this.#env }
    this.#child = (this.#isOwn ? undefined : this.#reuse(args, env)) ?? this.#spawnOwn(args, env)
  }

  #reuse(args: ReadonlyArray<string>, env: Readonly<Record<string, string | undefined>>): ChildProcess | undefined {
    const reused = ReusedProcess.run(
      { args, cwd: programFolder, env },
      { onText: (text) => (this.#log += text), onEnd: () => reused !== undefined && this.#forget(reused.child) }
    )
    this.#reused = reused
    return reused?.child
  }

  #spawnOwn(args: ReadonlyArray<string>, env: Readonly<Record<string, string | undefined>>): ChildProcess {
    const node = join(this.#program, "node_modules/.bin/node")
    const child = spawn(node, [...serviceFlags, this.#entry, ...args], { cwd: this.#program, env })
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (this.#log += String(text)))
    child.once("exit", () => this.#forget(child))
    return child
  }

  #forget(child: ChildProcess): void {
    if (this.#child !== child) return
    this.#child = undefined
    this.#reused = undefined
  }

  /** Starts the process and waits until `/readyz` reports that it accepts work. */
  async start(): Promise<void> {
    this.spawn()
    await waitUntil(
      async () => {
        if (this.#child === undefined) throw new Error(`aicr ended while starting:\n${this.#log}`)
        const answer = await fetch(`${this.url}/readyz`).catch(() => undefined)
        return answer?.status === 200
      },
      // Several processes may start concurrently on a busy machine.
      { timeout: 90_000, describe: () => `${this.url}/readyz answers 200; the log says:\n${this.#log}` }
    )
  }

  /** Ends it without any notice. */
  kill(): Promise<Exited> {
    return this.#end("SIGKILL", 30_000)
  }

  /** Sends SIGTERM; fails when the process does not exit in time. */
  async stop(): Promise<Exited> {
    await this.#reused?.endWithRun()
    return this.#end("SIGTERM", stopWithin)
  }

  /** Forbids or allows growth of every file that the process writes, like a full disk or a quota. */
  async setFilesMayGrow(may: boolean): Promise<void> {
    await promisify(execFile)("prlimit", [
      `--pid=${this.#running().pid}`,
      `--fsize=${may ? "unlimited" : "0:unlimited"}`
    ])
  }

  /** Counts its open sockets of any kind. */
  async openSockets(): Promise<number> {
    const folder = `/proc/${this.#running().pid}/fd`
    const targets = await Promise.all(
      (await readdir(folder)).map((entry) => readlink(join(folder, entry)).catch(() => ""))
    )
    return targets.filter((target) => target.startsWith("socket:")).length
  }

  /** Processor time in milliseconds that it has used, without its child processes. */
  async processorMillis(): Promise<number> {
    const text = await readFile(`/proc/${this.#running().pid}/stat`, "utf8")
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    // Fields 14 and 15, in clock ticks of 10 ms.
    return (Number(fields[11]) + Number(fields[12])) * 10
  }

  /** Processor time in milliseconds that it and its child processes have used, running and ended ones. */
  processorMillisOfAll(): Promise<number> {
    return readTreeMillis(this.#running().pid ?? 0)
  }

  /** Maximum of its memory so far in MiB, without its child processes. */
  async peakMemory(): Promise<number> {
    const text = await readFile(`/proc/${this.#running().pid}/status`, "utf8")
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(text)?.[1]) / 1024
  }

  freeze(): void {
    this.#running().kill("SIGSTOP")
  }

  thaw(): void {
    this.#running().kill("SIGCONT")
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#reused !== undefined) await this.#reused.return()
    else if (this.#child !== undefined) await this.kill()
  }

  #running(): ChildProcess {
    if (this.#child === undefined) throw new Error(`it is not running; the log says:\n${this.#log}`)
    return this.#child
  }

  async #end(signal: NodeJS.Signals, within: number): Promise<Exited> {
    const child = this.#running()
    const began = performance.now()
    child.kill(signal)
    return waitUntil(
      () =>
        child.exitCode !== null || child.signalCode !== null
          ? { code: child.exitCode, signal: child.signalCode, millis: performance.now() - began }
          : undefined,
      { timeout: within, describe: () => `process ends after ${signal}; the log says:\n${this.#log}` }
    )
  }
}
