/** A TCP port on loopback that was free a moment ago, for servers whose port must be known before they start. */
import { createServer } from "node:net"

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() =>
        address === null || typeof address === "string" ? reject(new Error("no port")) : resolve(address.port)
      )
    })
  })
