/** A service whose /readyz has this body. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export const startReadyz = async (body: unknown): Promise<AsyncDisposable & { readonly port: number }> => {
  const server = createServer((request, response) => {
    response.writeHead(request.url === "/readyz" ? 503 : 404).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
