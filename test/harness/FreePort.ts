/**
 * A free TCP port on loopback, for servers whose port must be fixed before they start. It is outside of the range for
 * outgoing connections: while a server under test is down, no connection takes its port or connects to itself. The two
 * suites that run concurrently get odd and even ports, and a process is given a port only one time.
 */
import { createServer } from "node:net"

const first = 11_000
/** Linux gives out ports from here on. */
const end = 32_768
const suites = 2

const given = new Set<number>()

export const freePort = async (): Promise<number> => {
  const suite = Number(process.env["VITEST_POOL_ID"] ?? 0) % suites
  const choice = Math.floor((end - first) / suites)
  while (given.size < choice) {
    const port = first + suite + suites * Math.floor(Math.random() * choice)
    if (given.has(port)) continue
    given.add(port)
    if (await isFree(port)) return port
  }
  throw new Error("no port is free")
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once("error", () => resolve(false))
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
  })
