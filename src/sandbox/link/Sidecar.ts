/**
 * Program that runs in a sandbox next to the agent, and is the inner end of its tunnel. Arguments: the folder of its sockets, the folder
 * of the repository, and host and port of an address that must not be reachable. It fetches the repository, then opens a socket
 * for each target. Its stdin is the tunnel and the lifeline: with its end it ends, and with it every connection of the agent.
 */
import { spawn } from "node:child_process"
import { chmodSync } from "node:fs"
import { connect, createServer } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import { startTunnel } from "./Tunnel.ts"
import type { Target, Tunnel } from "./Tunnel.ts"

const [folder = "", repository = "", host = "", port = ""] = process.argv.slice(2)
const maxConnections = 256
const probeMillis = 1000
/** Networks begin to apply their policies to a new pod with a delay. */
const probes = 10

const fail = (message: string): never => {
  process.stderr.write(message)
  process.exit(1)
}

const isReachable = (): Promise<boolean> =>
  new Promise((resolve) => {
    const end = (reached: boolean) => {
      socket.destroy()
      resolve(reached)
    }
    const socket = connect({ host, port: Number(port) }, () => end(true))
    socket.on("error", () => end(false))
    setTimeout(() => end(false), probeMillis)
  })

const checkNetwork = async (): Promise<void> => {
  for (let probe = 0; probe < probes; probe++) {
    if (!(await isReachable())) return
    await delay(probeMillis)
  }
  fail("the network of the sandbox is open")
}

/** Keeps the pod alive: its main program ends with this connection. */
const hold = (): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(`${folder}/hold.sock`, resolve).on("close", () => process.exit(1))
    socket.on("error", ({ message }) => fail(message))
  })

const fetchRepository = (tunnel: Tunnel): Promise<void> =>
  new Promise((resolve) => {
    const child = spawn("tar", ["-x", "-C", repository], { stdio: ["pipe", "ignore", "inherit"] })
    child.once("error", ({ message }) => fail(message))
    child.once("exit", (code) => (code === 0 ? resolve() : fail(`tar ended with ${code}`)))
    tunnel.open("repository").pipe(child.stdin.on("error", () => {}))
  })

const listen = (tunnel: Tunnel, target: Target, isSingle: boolean): Promise<void> =>
  new Promise((resolve) => {
    const path = `${folder}/${target}.sock`
    const server = createServer({ allowHalfOpen: true }, (client) => {
      // The stream of the program belongs to the first connection, which is made before the program starts.
      if (isSingle) server.close()
      const service = tunnel.open(target)
      client.on("error", () => service.destroy()).on("close", () => service.destroy())
      service.on("close", () => client.destroy())
      client.pipe(service).pipe(client)
    })
    server.maxConnections = isSingle ? 1 : maxConnections
    server.listen(path, () => {
      chmodSync(path, 0o666)
      resolve()
    })
  })

if (folder !== "") {
  await hold()
  await checkNetwork()
  const tunnel = startTunnel(
    { input: process.stdin, output: process.stdout },
    (_, connection) => connection.destroy(),
    () => process.exit(1)
  )
  await fetchRepository(tunnel)
  for (const target of ["model", "tools"] as const) await listen(tunnel, target, false)
  for (const target of ["stdout", "stderr", "stdin"] as const) await listen(tunnel, target, true)
}
