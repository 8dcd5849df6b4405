/** A real git server on a free port: `git http-backend` behind node:http, with what tests need to see and to break. */
import { spawn } from "node:child_process"
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface GitServer {
  readonly url: string
  /** Path and body of every request so far. */
  readonly requests: Array<{ readonly path: string; readonly authorization: string | undefined; body: string }>
  /** Responds with this status instead of serving; undefined serves. */
  status: number | undefined
  /** Awaited before a request is served. */
  hold: Promise<void> | undefined
  readonly close: () => Promise<void>
}

export interface GitServerOptions {
  /** Folder of bare repositories. */
  readonly root: string
  /** Whole `authorization` header to demand. */
  readonly authorization?: string
  /** `0` or `2`; 0 makes the server refuse commits that no ref points to. */
  readonly protocol?: "0" | "2"
  /** Sends this many bytes of a response and then no more. */
  readonly stallAfter?: number
}

export const startGitServer = async (options: GitServerOptions): Promise<GitServer> => {
  const server = createServer((request, response) => void serve(request, response))
  const state: GitServer = {
    url: "",
    requests: [],
    status: undefined,
    hold: undefined,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  }

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const seen = { path: request.url ?? "", authorization: request.headers.authorization, body: "" }
    state.requests.push(seen)
    await state.hold
    if (state.status !== undefined) return void response.writeHead(state.status).end()
    if (options.authorization !== undefined && request.headers.authorization !== options.authorization) {
      return void response.writeHead(401, { "www-authenticate": "Basic realm=git" }).end()
    }
    const [path, query] = (request.url ?? "").split("?")
    const backend = spawn("git", ["http-backend"], {
      env: {
        PATH: process.env["PATH"],
        GIT_PROJECT_ROOT: options.root,
        GIT_HTTP_EXPORT_ALL: "1",
        PATH_INFO: path,
        QUERY_STRING: query ?? "",
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        HTTP_CONTENT_ENCODING: String(request.headers["content-encoding"] ?? ""),
        GIT_PROTOCOL: options.protocol === "0" ? "" : String(request.headers["git-protocol"] ?? ""),
        REMOTE_USER: "tester"
      },
      stdio: ["pipe", "pipe", "ignore"]
    })
    request.on("data", (chunk: Buffer) => (seen.body += chunk.toString("latin1")))
    request.pipe(backend.stdin)
    backend.stdin.on("error", () => {})
    const parts: Array<Buffer> = []
    backend.stdout.on("data", (chunk: Buffer) => parts.push(chunk))
    backend.on("close", () => {
      const all = Buffer.concat(parts)
      const split = all.indexOf("\r\n\r\n")
      const headers = all.subarray(0, split).toString("latin1").split("\r\n")
      let status = 200
      for (const header of headers) {
        const [name = "", value = ""] = header.split(/:\s*/, 2)
        if (name.toLowerCase() === "status") status = Number.parseInt(value, 10)
        else response.setHeader(name, value)
      }
      const body = all.subarray(split + 4)
      if (body.length > (options.stallAfter ?? Infinity)) {
        return void response.writeHead(status).write(body.subarray(0, options.stallAfter))
      }
      response.writeHead(status).end(body)
    })
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return Object.assign(state, { url: `http://127.0.0.1:${port}` })
}
