/**
 * Search providers on this machine, over TLS under their own names: a certificate of a test authority, and a dispatcher that connects to this
 * server whatever the host is. What arrives is recorded with the name that the client requested.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AddressInfo } from "node:net"
import { connect } from "node:tls"
import type { TLSSocket } from "node:tls"
import { Agent } from "undici"
import type { Dispatcher } from "undici"

export interface SearchRequest {
  /** Name of the server in the handshake. */
  readonly host: string | undefined
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: unknown
}

export interface SearchReply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** A value that is sent as JSON, or a text. `never`: no response. */
  readonly body?: unknown
  readonly never?: boolean
}

export interface FakeSearch {
  readonly requests: Array<SearchRequest>
  readonly url: string
  readonly dispatcher: () => Dispatcher
  readonly close: () => Promise<void>
}

const certify = (folder: string) => {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  const names = ["*.exa.ai", "*.parallel.ai", "*.kilo.ai", "*.search.brave.com", "*.tavily.com", "*.perplexity.ai"]
  const further = ["kagi.com", "s.jina.ai", "*.firecrawl.dev", "*.search.tinyfish.ai", "*.z.ai", "*.kimi.com"]
  const all = [...names, ...further, "*.synthetic.new", "ollama.com", "search.example"]
  const alternatives = [...all.map((name) => `DNS:${name}`), "IP:127.0.0.1"].join(",")
  const subject = ["-subj", "/CN=search", "-addext", `subjectAltName=${alternatives}`, "-days", "2"]
  const args = [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-keyout",
    key,
    "-out",
    cert,
    ...subject
  ]
  execFileSync("openssl", args, { stdio: "ignore" })
  return { key: readFileSync(key), cert: readFileSync(cert) }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export const startFakeSearch = async (
  respond: (request: SearchRequest) => SearchReply | Promise<SearchReply>
): Promise<FakeSearch> => {
  const folder = mkdtempSync(join(tmpdir(), "aicr-search-"))
  const { cert, key } = certify(folder)
  rmSync(folder, { recursive: true, force: true })
  const requests: Array<SearchRequest> = []
  const server = createServer({ key, cert }, async (incoming, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
    const url = new URL(incoming.url ?? "/", "https://search.example")
    const { servername } = incoming.socket as TLSSocket & { readonly servername?: string }
    const request: SearchRequest = {
      host: servername,
      method: incoming.method ?? "",
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: incoming.headers,
      body: parse(Buffer.concat(chunks).toString())
    }
    requests.push(request)
    const { body = {}, headers = {}, never = false, status = 200 } = await respond(request)
    if (never) return
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.end(typeof body === "string" ? body : JSON.stringify(body))
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const { port } = server.address() as AddressInfo
  return {
    requests,
    url: `https://search.example:${port}`,
    dispatcher: () =>
      new Agent({
        connect: ({ hostname }, callback) => {
          const socket = connect({ host: "127.0.0.1", port, servername: hostname, ca: cert })
          socket.once("secureConnect", () => callback(null, socket))
          socket.once("error", (error) => callback(error, null))
        }
      }),
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    }
  }
}
