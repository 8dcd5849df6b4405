/**
 * Program of an attacker, which runs in a sandbox and prints as JSON what it reached. Its argument is JSON as well: files of the host,
 * text that is secret, and addresses.
 */

export interface Attempts {
  /** Paths of the host that must not exist. */
  readonly files: ReadonlyArray<string>
  /** Text that no environment of a visible process contains. */
  readonly secret: string
  /** Ports of the host's loopback interface where something listens. */
  readonly ports: ReadonlyArray<number>
  /** Name of an abstract unix socket of the host. */
  readonly abstract: string
}

export interface Reached {
  readonly files: Readonly<Record<string, string>>
  /** Folders in which a file can be created. */
  readonly writable: ReadonlyArray<string>
  /** Files outside of the scratch folder that can be opened for writing. */
  readonly writableFiles: ReadonlyArray<string>
  readonly repository: string
  readonly changes: Readonly<Record<string, string>>
  readonly secrets: ReadonlyArray<string>
  readonly processes: number
  readonly connections: Readonly<Record<string, string>>
  readonly interfaces: ReadonlyArray<string>
  readonly status: Readonly<Record<string, string>>
  readonly uid: number
  readonly setuid: string
  readonly namespaces: boolean
}

export const attacker = `
import { spawnSync } from "node:child_process"
import { accessSync, chmodSync, closeSync, constants, mkdirSync, openSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { networkInterfaces } from "node:os"
const { files, secret, ports, abstract } = JSON.parse(process.argv[2])
const outcome = (run) => { try { return String(run() ?? "done") } catch (error) { return error.code ?? error.message } }
const reach = (options) => new Promise((done) => {
  const socket = connect({ timeout: 1500, ...options })
  socket.on("connect", () => { done("connected"); socket.destroy() })
  socket.on("timeout", () => { done("timeout"); socket.destroy() })
  socket.on("error", (error) => done(error.code))
})
const repository = process.cwd()
const folders = new Set(["/"])
for (const line of readFileSync("/proc/mounts", "utf8").split("\\n")) {
  const [, folder] = line.split(" ")
  if (folder !== undefined) folders.add(folder)
}
for (const folder of ["/dev/shm", "/var/tmp", "/run", "/etc", "/usr", "/root", "/home", "/proc/sys/kernel"]) folders.add(folder)
const writable = []
for (const folder of folders) {
  try {
    if (!statSync(folder).isDirectory()) continue
    const file = folder + "/attempt"
    closeSync(openSync(file, "wx"))
    writable.push(folder)
    rmSync(file)
  } catch {}
}
const writableFiles = []
const { rdev } = statSync("/dev/null")
const isOpen = (file) => {
  try {
    // Engines put the null device over files that they close.
    if (statSync(file).rdev === rdev) return false
    // In a file system of the kernel, only the attempt shows what a file permits.
    if (!/^[/](proc|dev|sys)[/]/.test(file)) accessSync(file, constants.W_OK)
    closeSync(openSync(file, constants.O_WRONLY | constants.O_NONBLOCK))
    return true
  } catch { return false }
}
const walk = (folder) => {
  let entries = []
  try { entries = readdirSync(folder, { withFileTypes: true }) } catch {}
  for (const entry of entries) {
    const path = (folder === "/" ? "" : folder) + "/" + entry.name
    if (entry.isSymbolicLink() || path === process.env.SCRATCH) continue
    if (entry.isDirectory()) walk(path)
    else if (isOpen(path)) writableFiles.push(path)
  }
}
walk("/")
const secrets = []
const pids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name))
for (const pid of pids)
  for (const file of ["environ", "cmdline"]) try { if (readFileSync("/proc/" + pid + "/" + file, "utf8").includes(secret)) secrets.push(pid) } catch {}
// The argument of this program contains the secret.
const own = String(process.pid)
symlinkSync(files[0], process.env.SCRATCH + "/link")
const status = Object.fromEntries(readFileSync("/proc/self/status", "utf8").split("\\n").map((line) => line.split(":\\t")).filter(([name]) => /^(Cap...|NoNewPrivs)$/.test(name)))
const connections = {}
for (const host of ["169.254.169.254", "8.8.8.8", "::ffff:1.1.1.1", "2001:4860:4860::8888"]) connections[host] = await reach({ host, port: 80 })
for (const port of ports) connections["loopback"] = await reach({ host: "127.0.0.1", port })
connections["abstract"] = await reach({ path: "\\0" + abstract })
console.log(JSON.stringify({
  files: Object.fromEntries([...files, process.env.SCRATCH + "/link"].map((file) => [file, outcome(() => { accessSync(file, constants.F_OK); return "exists" })])),
  writable,
  writableFiles,
  repository: outcome(() => readFileSync(repository + "/file.txt", "utf8").trim()),
  changes: {
    write: outcome(() => writeFileSync(repository + "/file.txt", "x")),
    create: outcome(() => mkdirSync(repository + "/folder")),
    chmod: outcome(() => chmodSync(repository + "/file.txt", 0o777)),
    remove: outcome(() => unlinkSync(repository + "/file.txt"))
  },
  secrets: secrets.filter((pid) => pid !== own),
  processes: pids.length,
  connections,
  interfaces: Object.keys(networkInterfaces()),
  status,
  uid: process.getuid(),
  setuid: outcome(() => process.setuid(0)),
  namespaces: spawnSync("unshare", ["--user", "--map-root-user", "true"]).status === 0
}))
`
