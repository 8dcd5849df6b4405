/**
 * Program that runs in a pod next to the agent. Arguments: the folder of its sockets, the folder of the repository, and host and port
 * of an address that must not be reachable. Its stdin and stdout are the tunnel to the service.
 */
import { connect } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import { fail, openNetwork, openSockets, receiveRepository } from "../link/InnerEnd.ts"

const [folder = "", repository = "", host = "", port = ""] = process.argv.slice(2)
const probeMillis = 1000
/** Networks begin to apply their policies to a new pod with a delay. */
const probes = 10

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
  fail(openNetwork)
}

/** Keeps the pod alive: its main program ends with this connection. */
const hold = (): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(`${folder}/hold.sock`, resolve).on("close", () => process.exit(1))
    socket.on("error", ({ message }) => fail(message))
  })

if (folder !== "") {
  await hold()
  await checkNetwork()
  const tunnel = await receiveRepository({ input: process.stdin, output: process.stdout }, repository)
  await openSockets(tunnel, folder)
}
