/**
 * A real Postgres for tests and benchmarks, on a port and in a folder of its own. As root it runs as the user `postgres`,
 * because Postgres refuses root. It ends with this process, however this process ends.
 */
import { execFileSync, spawn } from "node:child_process"
import type { ChildProcessByStdio } from "node:child_process"
import { createHash } from "node:crypto"
import { chownSync, existsSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable, Writable } from "node:stream"
import { freePort } from "./FreePort.ts"
import { readTreeMillis } from "./ProcessorTime.ts"
import { provide } from "./Provide.ts"
import { waitUntil } from "./Wait.ts"

const idOf = (flag: "-u" | "-g", user: string): number => Number(execFileSync("id", [flag, user], { encoding: "utf8" }))

interface ServerUser {
  readonly uid?: number
  readonly gid?: number
}

/** Returns an initialised data folder, which all servers of this version and user copy: it takes ten times as long to make one. */
const makeTemplate = (bin: string, user: ServerUser): string => {
  const version = createHash("sha256")
    .update(`${realpathSync(bin)} ${statSync(join(bin, "postgres")).mtimeMs}`)
    .digest("hex")
  const template = join(tmpdir(), `aicr-postgres-template-${version.slice(0, 16)}-${user.uid ?? process.getuid?.()}`)
  if (existsSync(template)) return template
  const folder = mkdtempSync(`${template}-`)
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid)
  const data = ["-D", folder, "-U", "aicr", "--auth=trust", "-E", "UTF8", "--no-sync"]
  execFileSync(join(bin, "initdb"), data, { stdio: "ignore", cwd: folder, ...user })
  try {
    renameSync(folder, template)
  } catch {
    // Another suite was faster.
    rmSync(folder, { recursive: true })
  }
  return template
}

/**
 * Starts the server ($2…) and ends it when a line comes or the pipe closes: with the signal that the line names, and without a line
 * its folder ($1) goes too.
 */
const keeper = `
folder=$1; shift
"$@" >&2 & server=$!
echo "$server"
how=; read -r how
kill "-\${how:-INT}" "$server" 2>/dev/null; wait "$server" 2>/dev/null
[ -n "$how" ] || rm -rf "$folder"`

export class PostgresServer implements AsyncDisposable {
  readonly url: string
  readonly #bin: string
  readonly #folder: string
  readonly #port: number
  readonly #user: ServerUser
  readonly #settings: ReadonlyArray<string>
  #keeper: ChildProcessByStdio<Writable, Readable, Readable> | undefined
  #pid: number | undefined

  private constructor(bin: string, folder: string, port: number, settings: Readonly<Record<string, string>>) {
    this.#bin = bin
    this.#folder = folder
    this.#port = port
    this.#settings = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
    const isRoot = process.getuid?.() === 0
    this.#user = isRoot ? { uid: idOf("-u", "postgres"), gid: idOf("-g", "postgres") } : {}
    this.url = `postgres://aicr@127.0.0.1:${port}/postgres`
  }

  /** Starts a server with Postgres' default settings, which sync every commit to disk, and with the given ones. */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const bin = provide("postgres")
    const folder = mkdtempSync(join(tmpdir(), "aicr-postgres-"))
    const server = new PostgresServer(bin, folder, await freePort(), settings)
    const { uid, gid } = server.#user
    if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
    execFileSync("cp", ["-a", makeTemplate(bin, server.#user), join(folder, "data")], { cwd: folder, ...server.#user })
    await server.start()
    return server
  }

  /** Starts it again after `stop` or `kill` on the same data, and waits until it accepts connections. */
  async start(): Promise<void> {
    if (this.#keeper !== undefined) throw new Error("it is running")
    const args = ["-D", join(this.#folder, "data"), "-p", String(this.#port), "-h", "127.0.0.1", "-k", this.#folder]
    const command = [this.#folder, join(this.#bin, "postgres"), ...args, ...this.#settings]
    const keeping = spawn("sh", ["-c", keeper, "sh", ...command], {
      // A signal to the group of this process does not end the keeper before it has removed the folder.
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      cwd: this.#folder,
      ...this.#user
    })
    this.#keeper = keeping
    let log = ""
    keeping.stderr.on("data", (text) => (log += String(text)))
    this.#pid = await new Promise<number>((resolve) => keeping.stdout.once("data", (text) => resolve(Number(text))))
    await waitUntil(() => log.includes("ready to accept connections") && answers(this.#port), {
      describe: () => `postgres answers; it says:\n${log}`
    })
  }

  /** Ends it as an operator does: connections are closed, nothing is lost. */
  stop(): Promise<void> {
    return this.#end("INT\n")
  }

  /** Ends it immediately, like a crash; synced data is present at the next start. */
  kill(): Promise<void> {
    return this.#end("QUIT\n")
  }

  /** CPU seconds of the server and all it has started. */
  cpuSeconds(): number {
    const pid = this.#pid
    if (pid === undefined) return 0
    const ps = execFileSync("ps", ["-o", "times=", "--pid", String(pid), "--ppid", String(pid)], { encoding: "utf8" })
    return ps.split("\n").reduce((sum, line) => sum + Number(line), 0)
  }

  /** Processor time in milliseconds that the server and all that it started have used. */
  processorMillis(): Promise<number> {
    return readTreeMillis(this.#pid ?? 0)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#end("")
  }

  async #end(line: string): Promise<void> {
    const keeping = this.#keeper
    if (keeping === undefined) {
      if (line === "") rmSync(this.#folder, { recursive: true, force: true })
      return
    }
    this.#keeper = undefined
    this.#pid = undefined
    const gone = new Promise((resolve) => keeping.once("exit", resolve))
    keeping.stdin.end(line)
    await gone
  }
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(false))
  })
