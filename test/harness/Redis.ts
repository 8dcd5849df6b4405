/**
 * A real Redis for tests, on a port and in a folder of its own, with an append-only file. One `RedisServer` is one
 * installation: started again after a kill it finds its data and its port. It ends with this process, however this process ends.
 */
import { spawn } from "node:child_process"
import type { ChildProcessByStdio } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable, Writable } from "node:stream"
import { Redis } from "ioredis"
import { freePort } from "./FreePort.ts"
import { readTreeMillis } from "./ProcessorTime.ts"
import { provide } from "./Provide.ts"
import { waitUntil } from "./Wait.ts"

/** Starts the server ($2…) and ends it when a line comes or the pipe closes; without the line `keep` its folder ($1) goes too. */
const keeper = `
folder=$1; shift
redis-server "$@" >&2 & server=$!
echo "$server"
line=gone; read -r line
kill -9 "$server" 2>/dev/null; wait "$server" 2>/dev/null
[ "$line" = keep ] || rm -rf "$folder"`

export type Fsync = "always" | "everysec"

export class RedisServer implements AsyncDisposable {
  readonly url: string
  readonly #folder: string
  readonly #port: number
  readonly #settings: Readonly<Record<string, string>>
  #keeper: ChildProcessByStdio<Writable, Readable, Readable> | undefined
  #pid: number | undefined
  #log = ""

  private constructor(folder: string, port: number, settings: Readonly<Record<string, string>>) {
    this.#folder = folder
    this.#port = port
    this.#settings = settings
    this.url = `redis://127.0.0.1:${port}`
  }

  /** @param more settings of redis.conf besides those of every test */
  static async start(fsync: Fsync = "always", more: Readonly<Record<string, string>> = {}): Promise<RedisServer> {
    provide("redis")
    const settings = { appendfsync: fsync, ...more }
    const server = new RedisServer(mkdtempSync(join(tmpdir(), "aicr-redis-")), await freePort(), settings)
    await server.start()
    return server
  }

  /** Starts it again after a kill on the same data, and waits until it accepts connections. */
  async start(): Promise<void> {
    if (this.#keeper !== undefined) throw new Error("it is running")
    const settings = {
      port: String(this.#port),
      bind: "127.0.0.1",
      dir: this.#folder,
      appendonly: "yes",
      save: "",
      daemonize: "no",
      ...this.#settings
    }
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
    const keeping = spawn("sh", ["-c", keeper, "sh", this.#folder, ...args], {
      // A signal to the group of this process does not end the keeper before it has removed the folder.
      detached: true,
      stdio: ["pipe", "pipe", "pipe"]
    })
    this.#keeper = keeping
    keeping.stderr.on("data", (text) => (this.#log += String(text)))
    this.#pid = await new Promise<number>((resolve) => keeping.stdout.once("data", (text) => resolve(Number(text))))
    await waitUntil(
      async () => {
        const client = new Redis(this.url, { lazyConnect: true, retryStrategy: () => null })
        client.on("error", () => {})
        const answer = await client
          .connect()
          .then(() => client.ping())
          .catch(() => undefined)
        client.disconnect()
        return answer === "PONG"
      },
      { describe: () => `redis-server answers; it says:\n${this.#log}` }
    )
  }

  /** Ends it without any notice; what it synced is there at the next start. */
  kill(): Promise<void> {
    return this.#end("keep\n")
  }

  /** Suspends the process: it accepts connections and sends no response. */
  freeze(): void {
    if (this.#pid !== undefined) process.kill(this.#pid, "SIGSTOP")
  }

  thaw(): void {
    if (this.#pid !== undefined) process.kill(this.#pid, "SIGCONT")
  }

  /** Processor time in milliseconds that the server and all that it started have used. */
  processorMillis(): Promise<number> {
    return readTreeMillis(this.#pid ?? 0)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#end("")
  }

  async #end(word: string): Promise<void> {
    const keeping = this.#keeper
    if (keeping === undefined) return
    this.#keeper = undefined
    this.#pid = undefined
    const gone = new Promise((resolve) => keeping.once("exit", resolve))
    keeping.stdin.end(word)
    await gone
  }
}
