/**
 * A real Postgres for tests and benchmarks, on a port and in a folder of its own. `initdb` and `postgres` are those of the PATH or
 * of Debian's folder; as root they are installed from Debian's packages when they are missing, and run as the user `postgres`,
 * because Postgres refuses root. It ends with this process, however this process ends.
 */
import { execFileSync, spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { chownSync, existsSync, mkdtempSync, readdirSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { freePort } from "./FreePort.ts"
import { waitUntil } from "./Wait.ts"

const debianFolder = "/usr/lib/postgresql"

/** The folder of the programs, the newest first. */
const programs = (): string | undefined => {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder).toSorted((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...versions.map((version) => join(debianFolder, version, "bin")),
    ...(process.env["PATH"] ?? "").split(delimiter)
  ]
  return folders.find((folder) => ["initdb", "postgres"].every((name) => existsSync(join(folder, name))))
}

/** Fails with what is missing and how to get it. */
const provide = (): string => {
  const there = programs()
  if (there !== undefined) return there
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    const options = { stdio: "ignore", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } } as const
    execFileSync("apt-get", ["update", "-qq"], options)
    execFileSync("apt-get", ["install", "-qq", "-y", "--no-install-recommends", "postgresql"], options)
  }
  const installed = programs()
  if (installed !== undefined) return installed
  throw new Error("initdb and postgres are missing. Install them (Debian: apt-get install postgresql) and run again.")
}

const idOf = (flag: "-u" | "-g", user: string): number => Number(execFileSync("id", [flag, user], { encoding: "utf8" }))

/** Starts the server ($2…) and ends it when the pipe closes; its folder ($1) goes too. */
const keeper = `
folder=$1; shift
"$@" >&2 & server=$!
read -r line
kill -INT "$server" 2>/dev/null; wait "$server" 2>/dev/null
rm -rf "$folder"`

export class PostgresServer implements AsyncDisposable {
  readonly url: string
  readonly #keeper: ChildProcess

  private constructor(url: string, keeping: ChildProcess) {
    this.url = url
    this.#keeper = keeping
  }

  /** With Postgres' own settings: every commit is synced to disk. */
  static async start(): Promise<PostgresServer> {
    const bin = provide()
    const folder = mkdtempSync(join(tmpdir(), "aicr-postgres-"))
    const isRoot = process.getuid?.() === 0
    const user = isRoot ? { uid: idOf("-u", "postgres"), gid: idOf("-g", "postgres") } : {}
    if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid)
    const data = join(folder, "data")
    execFileSync(join(bin, "initdb"), ["-D", data, "-U", "aicr", "--auth=trust", "-E", "UTF8"], {
      stdio: "ignore",
      cwd: folder,
      ...user
    })
    const port = await freePort()
    const args = ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", folder]
    const keeping = spawn("sh", ["-c", keeper, "sh", folder, join(bin, "postgres"), ...args], {
      stdio: ["pipe", "ignore", "pipe"],
      cwd: folder,
      ...user
    })
    let log = ""
    keeping.stderr.on("data", (text) => (log += String(text)))
    await waitUntil(() => log.includes("ready to accept connections") && answers(port), {
      describe: () => `postgres answers; it says:\n${log}`
    })
    return new PostgresServer(`postgres://aicr@127.0.0.1:${port}/postgres`, keeping)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = new Promise((resolve) => this.#keeper.once("exit", resolve))
    this.#keeper.stdin?.end()
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
