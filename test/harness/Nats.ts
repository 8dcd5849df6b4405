/**
 * A real nats-server with JetStream for tests, on a port and in a folder of its own, with the configuration that the service ships.
 * One `NatsServer` is one installation: started again after a kill it finds its data and its port. It ends with this process, however
 * this process ends.
 */
import { spawn } from "node:child_process"
import type { ChildProcessByStdio } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import type { Readable, Writable } from "node:stream"
import { connect } from "node:net"
import { freePort } from "./FreePort.ts"
import { readTreeMillis } from "./ProcessorTime.ts"
import { provide } from "./Provide.ts"
import { waitUntil } from "./Wait.ts"

/**
 * Starts the server ($2, with the arguments after it), and again when it ends by itself, as a supervisor does. Prints the id of each process. The line
 * `kill` ends it immediately, `stop` in order, and a closed pipe ends it with its folder ($1).
 */
const keeper = `
folder=$1
rm -f "$folder/ends"
(
  while [ ! -e "$folder/ends" ]; do
    sh -c 'echo $$ > "$0/pid"; echo $$; exec "$@" >&2' "$@"
    [ -e "$folder/ends" ] || sleep 0.1
  done
) & supervisor=$!
line=gone; read -r line
touch "$folder/ends"
signal=KILL; [ "$line" != stop ] || signal=TERM
while kill -0 "$supervisor" 2>/dev/null; do
  kill "-$signal" "$(cat "$folder/pid")" 2>/dev/null
  sleep 0.02
done
[ "$line" != gone ] || rm -rf "$folder"`

/** Returns the path of the program. */
export const natsServer = (): string => join(provide("nats"), "nats-server")

const shippedConfig = join(import.meta.dirname, "../../nats/nats-server.conf")

export interface NatsOptions {
  /** More of the server's configuration, for example `authorization { token: "…" }`. */
  readonly config?: string
}

export class NatsServer implements AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly #folder: string
  readonly #config: string
  #keeper: ChildProcessByStdio<Writable, Readable, Readable> | undefined
  #pid: number | undefined
  #log = ""

  private constructor(folder: string, port: number, config: string) {
    this.#folder = folder
    this.port = port
    this.#config = config
    this.url = `nats://127.0.0.1:${port}`
  }

  static async start({ config = "" }: NatsOptions = {}): Promise<NatsServer> {
    const folder = mkdtempSync(join(tmpdir(), "aicr-nats-"))
    const file = join(folder, "server.conf")
    writeFileSync(file, `include ${JSON.stringify(relative(folder, shippedConfig))}\n${config}\n`)
    const server = new NatsServer(folder, await freePort(), file)
    await server.start()
    return server
  }

  /** Starts it, after a kill on the same data, and waits until it takes connections; `storing: false`: without JetStream. */
  async start({ storing = true }: { readonly storing?: boolean } = {}): Promise<void> {
    if (this.#keeper !== undefined) throw new Error("it is running")
    const args = [
      natsServer(),
      ...(storing ? ["--config", this.#config] : []),
      "--addr",
      "127.0.0.1",
      "--port",
      String(this.port),
      "--store_dir",
      this.#folder
    ]
    const keeping = spawn("sh", ["-c", keeper, "sh", this.#folder, ...args], {
      // A signal to the group of this process does not end the keeper before it has removed the folder.
      detached: true,
      stdio: ["pipe", "pipe", "pipe"]
    })
    this.#keeper = keeping
    keeping.stderr.on("data", (text) => (this.#log += String(text)))
    keeping.stdout.on("data", (text) => (this.#pid = Number(String(text).trim().split("\n").at(-1))))
    await waitUntil(() => greets(this.port), {
      describe: () => `nats-server answers; it says:\n${this.#log.slice(-2000)}`
    })
  }

  /** Returns what all processes of the server have printed. */
  get log(): string {
    return this.#log
  }

  /** Processor time in milliseconds that the server and all that it started have used. */
  processorMillis(): Promise<number> {
    return readTreeMillis(this.#pid ?? 0)
  }

  /** Ends the process, and nothing else: it is started again. */
  crash(): void {
    if (this.#pid !== undefined) process.kill(this.#pid, "SIGKILL")
  }

  /** Ends it without any notice. */
  kill(): Promise<void> {
    return this.#end("kill\n")
  }

  /** Stops it in order, so that clients are notified. */
  stop(): Promise<void> {
    return this.#end("stop\n")
  }

  /** Deletes all streams and buckets while the server is not running, as when its disk is replaced. */
  loseData(): void {
    if (this.#keeper !== undefined) throw new Error("it is running")
    rmSync(join(this.#folder, "jetstream"), { recursive: true })
  }

  /** Suspends the process: it accepts connections and sends no response. */
  freeze(): void {
    const pid = this.#pid
    if (pid === undefined) return
    process.kill(pid, "SIGSTOP")
    // On a busy machine it runs for a moment longer; without /proc its state is unknown.
    const status = `/proc/${pid}/status`
    while (existsSync(status) && !/^State:\s+T/m.test(readFileSync(status, "utf8")));
  }

  thaw(): void {
    if (this.#pid !== undefined) process.kill(this.#pid, "SIGCONT")
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("")
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #end(word: string): Promise<void> {
    const keeping = this.#keeper
    if (keeping === undefined) return
    this.thaw()
    this.#keeper = undefined
    this.#pid = undefined
    const gone = new Promise((resolve) => keeping.once("exit", resolve))
    keeping.stdin.end(word)
    await gone
  }
}

/** Whether a server sends its greeting when a client connects. */
const greets = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("data", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(false))
  })
