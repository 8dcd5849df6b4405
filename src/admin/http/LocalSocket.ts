/**
 * Serves the administration on a socket file that only the user of this process may open, for commands on the same machine. A user who may open
 * it may also read and write the data folder, so no login is required. A node without a socket works: commands then use its URL.
 */
import { unlinkSync } from "node:fs"
import { createServer, request } from "node:http"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { pipeline } from "node:stream"
import { Effect, Layer } from "effect"
import { newId } from "../../domain/Ids.ts"
import { AdminApi, maxBodyBytes } from "../AdminApi.ts"
import type { AdminResponse } from "../AdminApi.ts"
import { adminPath } from "../api/AdminHttpApi.ts"
import type { Reason } from "../../domain/Reason.ts"
import { because } from "../api/Problems.ts"

/** Maximum length of a path of a socket on every supported system. */
const maxPathBytes = 103
const ownerOnly = 0o177
const refusal = (status: number, code: string, title: string, reason: Reason): AdminResponse => ({
  status,
  contentType: "application/problem+json",
  body: JSON.stringify({ type: "about:blank", title, status, code, ...because(reason) }),
  headers: {}
})

const notFound = refusal(404, "not_found", "Not Found", { _tag: "PathUnknown" })
const tooLarge = refusal(413, "body_too_large", "Content Too Large", { _tag: "BodyTooLarge", count: maxBodyBytes })

/** Reads the body; undefined if it exceeds the limit. */
const readBody = async (incoming: IncomingMessage): Promise<Uint8Array | undefined> => {
  const blocks: Array<Uint8Array> = []
  let bytes = 0
  for await (const block of incoming) {
    bytes += block.length
    if (bytes > maxBodyBytes) return undefined
    blocks.push(block)
  }
  return Buffer.concat(blocks)
}

const respond = (outgoing: ServerResponse, { body, contentType, headers, status, stream }: AdminResponse): void => {
  outgoing.writeHead(status, {
    ...headers,
    "content-type": contentType,
    "x-request-id": newId(),
    connection: "close"
  })
  if (stream === undefined) return void outgoing.end(body)
  // Fails when the client disconnects, which ends the stream.
  pipeline(stream, outgoing, () => {})
}

const handle = async (
  api: AdminApi["Service"],
  run: <A>(effect: Effect.Effect<A>) => Promise<A>,
  incoming: IncomingMessage,
  outgoing: ServerResponse
): Promise<void> => {
  const body = await readBody(incoming)
  if (body === undefined) return respond(outgoing, tooLarge)
  const url = new URL(incoming.url ?? "/", "http://local")
  if (url.pathname === "/api/openapi.json") return respond(outgoing, api.openApi(""))
  if (url.pathname === "/api/docs") return respond(outgoing, api.docs(""))
  if (!url.pathname.startsWith(`${adminPath}/`)) return respond(outgoing, notFound)
  const call = {
    method: incoming.method ?? "GET",
    path: url.pathname.slice(adminPath.length),
    query: url.searchParams,
    headers: incoming.headers,
    address: "local",
    client: "local",
    body
  }
  respond(outgoing, await run(api.handleLocal(call)))
}

/** Returns whether a process listens on the socket file. */
const isServed = (path: string): Promise<boolean> =>
  new Promise((done) => {
    const probe = request({ socketPath: path, path: "/", method: "HEAD", timeout: 1000 })
    probe.once("error", () => done(false))
    probe.once("timeout", () => {
      probe.destroy()
      done(true)
    })
    probe.once("response", (response) => {
      response.destroy()
      done(true)
    })
    probe.end()
  })

/** Binds the file. The mask is in effect while the file is created, which `listen` does before it returns. */
const listen = (server: Server, path: string): Promise<void> =>
  new Promise((done, failed) => {
    server.once("error", failed)
    const before = process.umask(ownerOnly)
    try {
      server.listen(path, () => {
        server.removeListener("error", failed)
        done()
      })
    } finally {
      process.umask(before)
    }
  })

const start = async (server: Server, path: string): Promise<string | undefined> => {
  if (Buffer.byteLength(path) > maxPathBytes) return `its path has more than ${maxPathBytes} bytes`
  if (await isServed(path)) return "another process serves it"
  try {
    // A killed process leaves its file.
    unlinkSync(path)
  } catch {
    // There is none.
  }
  await listen(server, path)
  return undefined
}

const stop = (server: Server): Promise<void> =>
  new Promise((done) => {
    if (!server.listening) return done()
    server.close(() => done())
    server.closeAllConnections()
  })

/** Serves the administration of this node at `path` while the layer lives. */
export const layer = (path: string) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const api = yield* AdminApi
      const run = Effect.runPromiseWith(yield* Effect.context<never>())
      const server = createServer((incoming, outgoing) => {
        handle(api, run, incoming, outgoing).catch(() => outgoing.destroy())
      })
      yield* Effect.addFinalizer(() => Effect.promise(() => stop(server)))
      const problem = yield* Effect.promise(() =>
        start(server, path).catch((cause: unknown) => (cause instanceof Error ? cause.message : String(cause)))
      )
      if (problem !== undefined) {
        yield* Effect.logWarning("local socket of the administration not opened, commands need its URL", {
          path,
          reason: problem
        })
      }
    })
  )
