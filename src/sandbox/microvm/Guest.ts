/**
 * First program of a virtual machine after its start script, as root: the inner end of the tunnel over a device, and the parent of the
 * agent. Arguments: the device, the folder of the sockets, that of the repository, and the user of the agent. The machine ends with it.
 */
import { execFileSync, spawn } from "node:child_process"
import { createReadStream, createWriteStream, mkdirSync, openSync } from "node:fs"
import { dirname, join } from "node:path"
import { fail, openSockets, receiveRepository } from "../link/InnerEnd.ts"

const [device = "", folder = "", repository = "", user = ""] = process.argv.slice(2)
/** The service ends the machine earlier. A read of the device that waits would delay an exit. */
const endMillis = 10_000
const parts = dirname(import.meta.filename)

/** Starts the agent without rights, in the control group that limits it. */
const agentArgs = (): ReadonlyArray<string> => {
  const identity = [`--reuid=${user}`, `--regid=${user}`, "--clear-groups"]
  const rights = ["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all", "--no-new-privs"]
  return ["setpriv", ...identity, ...rights, "node", join(parts, "inside.mjs"), folder]
}

const startAgent = (): void => {
  const script = 'echo 0 >/sys/fs/cgroup/cgroup.procs || exit 1\nulimit -c 0\nexec "$@"'
  const child = spawn("/bin/sh", ["-c", script, "sh", ...agentArgs()], {
    cwd: "/",
    env: { PATH: process.env["PATH"] },
    stdio: ["ignore", "inherit", "inherit"]
  })
  child.once("error", ({ message }) => fail(message))
  // What its streams still hold is sent before the service ends the machine.
  child.once("exit", () => void setTimeout(() => process.kill(process.pid, "SIGKILL"), endMillis))
}

if (device !== "") {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  // A port can be opened once.
  const fd = openSync(device, "r+")
  const link = { input: createReadStream("", { fd }), output: createWriteStream("", { fd }) }
  const tunnel = await receiveRepository(link, repository)
  execFileSync(join(parts, "busybox"), ["mount", "-o", "remount,ro", repository])
  await openSockets(tunnel, folder)
  startAgent()
}
