/** A host that redirects every request to another one, which records what reaches it. */
import { createServer } from "node:http"
import type { IncomingMessage, Server } from "node:http"

const listen = (server: Server): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve(`http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`)
    })
  })

const readText = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return `${request.url} ${JSON.stringify(request.headers)} ${Buffer.concat(chunks).toString("utf8")}`
}

export class RedirectingHost implements AsyncDisposable {
  readonly url: string
  /** Requests that arrived here. */
  readonly received: ReadonlyArray<string>
  /** Requests that followed the redirect. */
  readonly followed: ReadonlyArray<string>
  readonly #servers: ReadonlyArray<Server>

  private constructor(
    url: string,
    received: ReadonlyArray<string>,
    followed: ReadonlyArray<string>,
    servers: ReadonlyArray<Server>
  ) {
    this.url = url
    this.received = received
    this.followed = followed
    this.#servers = servers
  }

  /** 307 keeps method and body. */
  static async start(status = 307): Promise<RedirectingHost> {
    const [received, followed]: [Array<string>, Array<string>] = [[], []]
    const other = createServer((request, response) => {
      void readText(request).then((text) => {
        followed.push(text)
        response.end("{}")
      })
    })
    const location = await listen(other)
    const host = createServer((request, response) => {
      void readText(request).then((text) => {
        received.push(text)
        response.writeHead(status, { location: `${location}/elsewhere` }).end()
      })
    })
    return new RedirectingHost(await listen(host), received, followed, [host, other])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections()
      server.close()
    }
    await Promise.resolve()
  }
}
