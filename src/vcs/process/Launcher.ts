/**
 * Starts programs through a small process of its own. To start one, the system copies the page tables of the process that does it: 12 ms of
 * processor time in a service of 300 MB, in which nothing else runs, and 3 ms in one of 40 MB. The launcher is started with the first program. While
 * it is not up, and after it ended several times, programs are children of this process.
 */
import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import type { Server, Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { finished } from "node:stream/promises"
import { fileURLToPath } from "node:url"
import { Effect, Layer } from "effect"
import { signalGroup, startAsChild } from "./Start.ts"
import type { Closed, Started, StartRequest } from "./Start.ts"

export type LaunchRequest = StartRequest & { readonly id: number }

/** Message of the launcher about a command. */
export type LaunchReport =
  | { readonly id: number; readonly pid: number }
  | { readonly id: number; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly id: number; readonly error: string }

/** Flags of a process that needs little memory. */
const small = ["--max-semi-space-size=1", "--max-old-space-size=64", "--v8-pool-size=1"]
/** Number of times that it is started again after it ended by itself. */
const maxRestarts = 3

const parts = ["input", "output", "errors"] as const
export type Part = (typeof parts)[number]

/** A command that was requested and has not ended. */
interface Pending {
  readonly streams: Readonly<Record<Part, PromiseWithResolvers<Socket>>>
  readonly pid: PromiseWithResolvers<number | undefined>
  readonly exit: PromiseWithResolvers<Closed>
}

const makePending = (): Pending => ({
  streams: {
    input: Promise.withResolvers(),
    output: Promise.withResolvers(),
    errors: Promise.withResolvers()
  },
  pid: Promise.withResolvers(),
  exit: Promise.withResolvers()
})

/** Ends the waits for a command that was not started, or whose end is not reported. */
const giveUp = ({ exit, pid, streams }: Pending, why: string, end: Closed): void => {
  for (const part of parts) streams[part].reject(new Error(why))
  pid.resolve(undefined)
  exit.resolve(end)
}

/** Reads the first line of a connection and leaves what follows in it. */
const readHeading = (socket: Socket, handle: (heading: string) => void): void => {
  let read = Buffer.alloc(0)
  const onReadable = (): void => {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) read = Buffer.concat([read, chunk])
    const end = read.indexOf("\n")
    if (end < 0) return
    socket.off("readable", onReadable)
    if (end + 1 < read.length) socket.unshift(read.subarray(end + 1))
    handle(read.toString("latin1", 0, end))
  }
  socket.on("readable", onReadable)
}

/** Settles when all was read, or nothing more can be. */
const readToEnd = (stream: Socket): Promise<void> => finished(stream, { writable: false }).catch(() => {})

class Launcher {
  /** Only this user of the system may connect. */
  #folder: string | undefined
  #server: Server | undefined
  readonly #pending = new Map<number, Pending>()
  #process: ChildProcess | undefined
  #control: Socket | undefined
  #lastId = 0
  #restarts = 0

  /** A process that starts no program needs no launcher. */
  #open(): void {
    if (this.#folder !== undefined) return
    const folder = mkdtempSync(join(tmpdir(), "aicr-launcher-"))
    const address = join(folder, "socket")
    this.#folder = folder
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket))
    this.#server.unref()
    // Without it, programs are children of this process.
    this.#server.on("error", () => {})
    this.#server.listen(address, () => this.#run(address))
  }

  #run(address: string): void {
    const file = fileURLToPath(new URL("./LauncherMain.js", import.meta.url))
    this.#process = spawn(process.execPath, [...small, file, address], {
      stdio: ["ignore", "ignore", "inherit"],
      env: { UV_THREADPOOL_SIZE: "1" },
      // Ctrl-C is for the service, which ends it.
      detached: true
    })
    this.#process.on("error", () => {})
    this.#process.unref()
  }

  #accept(socket: Socket): void {
    socket.on("error", () => {})
    readHeading(socket, (heading) => {
      if (heading === "control") return this.#listen(socket)
      const [id, name] = heading.split(" ")
      const part = parts.find((known) => known === name)
      const pending = this.#pending.get(Number(id))
      if (pending === undefined || part === undefined) return void socket.destroy()
      pending.streams[part].resolve(socket)
    })
  }

  #listen(control: Socket): void {
    control.unref()
    this.#control = control
    createInterface({ input: control })
      .on("line", (line) => this.#receive(JSON.parse(line)))
      // It repeats errors of the connection, after which that closes.
      .on("error", () => {})
    control.once("end", () => control.destroy())
    control.once("close", () => {
      this.#control = undefined
      this.#lose()
    })
  }

  #receive(report: LaunchReport): void {
    const pending = this.#pending.get(report.id)
    if (pending === undefined) return
    if ("pid" in report) return pending.pid.resolve(report.pid)
    if ("error" in report)
      return giveUp(pending, report.error, { code: undefined, signal: undefined, error: report.error })
    pending.exit.resolve({ code: report.code ?? undefined, signal: report.signal ?? undefined })
  }

  /** The connections of a short command may arrive after the report about its end, so that it stays pending until it has both. */
  #forget(id: number): void {
    this.#pending.delete(id)
    // A process that has nothing else to do ends.
    if (this.#pending.size === 0) this.#control?.unref()
  }

  /** The launcher ended by itself: its commands are killed, and a new one is started. */
  #lose(): void {
    for (const pending of this.#pending.values()) {
      void pending.pid.promise.then((pid) => signalGroup(pid, "SIGKILL"))
      giveUp(pending, "the launcher ended", { code: undefined, signal: "SIGKILL" })
    }
    this.#pending.clear()
    if (this.#process === undefined || this.#folder === undefined || this.#restarts++ >= maxRestarts) return
    this.#run(join(this.#folder, "socket"))
  }

  async start(request: StartRequest): Promise<Started> {
    const control = this.#control
    if (control === undefined) {
      this.#open()
      return startAsChild(request)
    }
    const id = ++this.#lastId
    const pending = makePending()
    this.#pending.set(id, pending)
    control.ref()
    control.write(`${JSON.stringify({ id, ...request } satisfies LaunchRequest)}\n`)
    try {
      const streams = parts.map((part) => pending.streams[part].promise)
      const [pid, stdin, stdout, stderr] = await Promise.all([pending.pid.promise, ...streams])
      if (stdin === undefined || stdout === undefined || stderr === undefined) throw new Error("not connected")
      const closed = Promise.all([pending.exit.promise, readToEnd(stdout), readToEnd(stderr)]).then(([exit]) => {
        for (const stream of [stdin, stdout, stderr]) stream.destroy()
        this.#forget(id)
        return exit
      })
      const signal = (name: NodeJS.Signals) => void this.#control?.write(`${JSON.stringify({ id, signal: name })}\n`)
      return { pid, stdin, stdout, stderr, signal, closed }
    } catch {
      this.#forget(id)
      // It was not started, so that nothing is repeated.
      return startAsChild(request)
    }
  }

  close(): void {
    this.#process = undefined
    this.#control?.destroy()
    this.#server?.close()
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true })
  }
}

let launcher: Launcher | undefined

/** The launcher of this process, while the scope is open. */
export const layer: Layer.Layer<never> = Layer.effectDiscard(
  Effect.acquireRelease(
    Effect.sync(() => (launcher ??= new Launcher())),
    (own) =>
      Effect.sync(() => {
        launcher = undefined
        own.close()
      })
  )
)

export const start = async (request: StartRequest): Promise<Started> =>
  launcher?.start(request) ?? startAsChild(request)
