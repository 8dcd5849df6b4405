/**
 * Program that starts the commands of a service (Launcher.ts). It reads one JSON object per line and writes one for each start and end. The input
 * and output of a command are connections to the service, which the command inherits. When the service ends, it ends what still runs, removes the
 * folder of the address, and ends, too.
 */
import { spawn } from "node:child_process"
import { rmSync } from "node:fs"
import { connect } from "node:net"
import { dirname } from "node:path"
import { createInterface } from "node:readline"

const [, , address = ""] = process.argv
/** @type {Map<number, number>} Process groups by the id of their command. */
const groups = new Map()
const graceMillis = 2_000
let isEnding = false

/** @type {(id: number, part: import("./Launcher.ts").Part) => Promise<import("node:net").Socket>} */
const open = (id, part) =>
  new Promise((resolve, reject) => {
    const socket = connect({ path: address, allowHalfOpen: true })
    // What the service writes is for the command.
    socket.pause()
    socket.once("error", reject)
    socket.write(`${id} ${part}\n`, () => resolve(socket))
  })

const control = connect(address)
/** @type {(message: import("./Launcher.ts").LaunchReport) => void} */
const report = (message) => {
  if (!control.destroyed) control.write(`${JSON.stringify(message)}\n`)
}

/** @type {(id: number, signal: NodeJS.Signals) => void} */
const signalGroup = (id, signal) => {
  const group = groups.get(id)
  try {
    if (group !== undefined) process.kill(-group, signal)
  } catch {
    // It has ended, which is the goal.
  }
}

/** @type {(command: import("./Launcher.ts").LaunchRequest) => Promise<void>} */
const start = async ({ id, program, args, cwd, env }) => {
  const sockets = await Promise.all([open(id, "input"), open(id, "output"), open(id, "errors")])
  try {
    const child = spawn(program, args, { cwd, env, detached: true, stdio: sockets })
    child.once("error", ({ message }) => report({ id, error: message }))
    if (child.pid === undefined) return
    groups.set(id, child.pid)
    report({ id, pid: child.pid })
    child.once("exit", (code, signal) => {
      groups.delete(id)
      if (isEnding && groups.size === 0) process.exit()
      report({ id, code, signal })
    })
  } finally {
    // The command has its own.
    for (const socket of sockets) socket.destroy()
  }
}

/** Git removes its lock and temporary files if it may. */
const end = () => {
  if (isEnding) return
  isEnding = true
  rmSync(dirname(address), { recursive: true, force: true })
  if (groups.size === 0) process.exit()
  for (const id of groups.keys()) signalGroup(id, "SIGTERM")
  setTimeout(() => {
    for (const id of groups.keys()) signalGroup(id, "SIGKILL")
    process.exit()
  }, graceMillis)
}

control.write("control\n")
control.once("close", end)
control.once("error", end)
createInterface({ input: control }).on("line", (line) => {
  const request = JSON.parse(line)
  if (request.signal !== undefined) return signalGroup(request.id, request.signal)
  start(request).catch((cause) => report({ id: request.id, error: String(cause?.message ?? cause) }))
})
