/**
 * The inner end of a tunnel, for the program that runs in a sandbox next to the agent: fetches the repository, and opens a socket for
 * each target. With the tunnel that program ends, and with it every connection of the agent.
 */
import { spawn } from "node:child_process"
import { chmodSync } from "node:fs"
import { createServer } from "node:net"
import type { Readable, Writable } from "node:stream"
import { startTunnel } from "./Tunnel.ts"
import type { TunnelTarget, Tunnel } from "./Tunnel.ts"

const maxConnections = 256

/** Printed by the program of a pod whose network is open. */
export const openNetwork = "the network of the sandbox is open"

export const fail = (message: string): never => {
  process.stderr.write(message)
  process.exit(1)
}

const fetchRepository = (tunnel: Tunnel, repository: string): Promise<void> =>
  new Promise((resolve) => {
    const child = spawn("tar", ["-x", "-C", repository], { stdio: ["pipe", "ignore", "inherit"] })
    child.once("error", ({ message }) => fail(message))
    child.once("exit", (code) => (code === 0 ? resolve() : fail(`tar ended with ${code}`)))
    tunnel.open("repository").pipe(child.stdin.on("error", () => {}))
  })

const listen = (tunnel: Tunnel, folder: string, target: TunnelTarget, isSingle: boolean): Promise<void> =>
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

/** Settles when the repository is there. */
export const receiveRepository = async (
  link: { readonly input: Readable; readonly output: Writable },
  repository: string
): Promise<Tunnel> => {
  const tunnel = startTunnel(
    link,
    (_, connection) => connection.destroy(),
    () => process.exit(1)
  )
  await fetchRepository(tunnel, repository)
  return tunnel
}

/** Opens the sockets. That of stdin is the last, and the program waits for it. */
export const openSockets = async (tunnel: Tunnel, folder: string): Promise<void> => {
  for (const target of ["model", "tools"] as const) await listen(tunnel, folder, target, false)
  for (const target of ["stdout", "stderr", "stdin"] as const) await listen(tunnel, folder, target, true)
}
