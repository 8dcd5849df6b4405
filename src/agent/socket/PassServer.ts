/**
 * An HTTP server for the agent of one pass, on a unix socket in a folder that only this user may enter. Whatever the agent sends is bounded:
 * headers, bodies, connections, requests in progress, and the time in which a request arrives. A request without the token of the pass is
 * refused before its body is read. The server ends with the scope: requests in progress are interrupted, and connections are closed.
 */
import { chmod, readdir, rm } from "node:fs/promises"
import { createServer } from "node:http"
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from "node:http"
import { join } from "node:path"
import { Cause, Effect, Exit, Fiber, FiberSet } from "effect"
import type { Redacted } from "effect"
import { makeFolder } from "../../database/MakeFolder.ts"
import { findOwner, newMark } from "../../vcs/ProcessMark.ts"
import { AgentError } from "../Agent.ts"
import { sendsToken } from "./PassToken.ts"

/** Reads the body of a request to a server of a pass within limits: of one body, and of all bodies of the server together. */
type PassBody =
  | { readonly _tag: "Read"; readonly bytes: Buffer }
  | { readonly _tag: "TooLarge" }
  /** The client disconnected. */
  | { readonly _tag: "Aborted" }

interface PassBodyLimits {
  readonly bodyBytes: number
  readonly totalBytes: number
}

/** Bytes of the bodies that are being read or handled. */
class HeldBytes {
  bytes = 0
}

/**
 * The bytes count towards `held` until the caller subtracts them. `proceed` is called when the body will be read, for senders that wait
 * for it.
 */
const readPassBody = async (
  request: IncomingMessage,
  limits: PassBodyLimits,
  held: HeldBytes,
  proceed: () => void
): Promise<PassBody> => {
  const declared = Number(request.headers["content-length"] ?? 0)
  if (declared > limits.bodyBytes) return { _tag: "TooLarge" }
  proceed()
  const chunks: Array<Buffer> = []
  let size = 0
  const release = () => void (held.bytes -= size)
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const block: Buffer = chunk
      size += block.length
      held.bytes += block.length
      if (size > limits.bodyBytes || held.bytes > limits.totalBytes) {
        release()
        return { _tag: "TooLarge" }
      }
      chunks.push(block)
    }
  } catch {
    release()
    return { _tag: "Aborted" }
  }
  return { _tag: "Read", bytes: Buffer.concat(chunks, size) }
}

export interface PassExchange {
  readonly method: string
  /** Undecoded path, without the query, so that only exact paths exist. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly response: ServerResponse
}

/** Reason for which a request is refused before it is handled. */
export type PassRefusal = "unauthorized" | "too_large" | "busy" | "unsupported_encoding" | "failed"

interface PassServerOptions {
  /** Folder of the servers of all passes. */
  readonly root: string
  /** File name of the socket. */
  readonly name: string
  readonly token: Redacted.Redacted
  readonly maxBodyBytes: number
  /** Maximum number of requests in progress. Further ones are refused. */
  readonly maxConcurrent: number
  /** Returns status and body of the response to a refused request. */
  readonly refuse: (reason: PassRefusal) => { readonly status: number; readonly body: unknown }
  readonly onRefused?: (reason: PassRefusal) => void
}

/** Bytes of all bodies of one server together, as a multiple of one body. */
const totalBodies = 2
const maxHeaderBytes = 32 * 1024
const headersMillis = 10_000
const requestMillis = 60_000
const idleMillis = 30_000
const maxConnections = 64

/** Maximum length of the path of a socket on every supported system. */
const maxPathBytes = 103

const listen = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(path, () => {
      server.off("error", reject)
      resolve()
    })
  })

export const respondJson = (response: ServerResponse, status: number, body: unknown): void => {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const text = JSON.stringify(body)
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
  response.end(text)
}

/** Refuses and closes the connection, because the body of the request may still arrive. */
const refuse = (options: PassServerOptions, response: ServerResponse, reason: PassRefusal): void => {
  options.onRefused?.(reason)
  const { body, status } = options.refuse(reason)
  if (!response.headersSent) response.setHeader("connection", "close")
  respondJson(response, status, body)
}

type OnRequest = (request: IncomingMessage, response: ServerResponse, proceed: () => void) => Promise<void>

const createPassServer = (onRequest: OnRequest): Server => {
  const serve = (request: IncomingMessage, response: ServerResponse, proceed: () => void) =>
    void onRequest(request, response, proceed).catch(() => response.destroy())
  const server = createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersMillis,
      requestTimeout: requestMillis,
      keepAliveTimeout: idleMillis,
      connectionsCheckingInterval: 5_000,
      insecureHTTPParser: false
    },
    (request, response) => serve(request, response, () => {})
  )
  // Without a handler node sends `100-continue` before the token is checked.
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) =>
    serve(request, response, () => response.writeContinue())
  )
  server.maxConnections = maxConnections
  return server
}

/** Returns the path of the socket. */
export const openPassServer = Effect.fnUntraced(function* <R>(
  options: PassServerOptions,
  handle: (exchange: PassExchange) => Effect.Effect<void, never, R>
) {
  const fibers = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(fibers)<R>()
  const held = new HeldBytes()
  let inProgress = 0
  const onRequest: OnRequest = async (request, response, proceed) => {
    const [path = "/", search = ""] = (request.url ?? "/").split("?", 2)
    const query = new URLSearchParams(search)
    if (!sendsToken(options.token, request.headers, query)) return refuse(options, response, "unauthorized")
    const encoding = request.headers["content-encoding"] ?? "identity"
    if (encoding !== "identity") return refuse(options, response, "unsupported_encoding")
    if (inProgress >= options.maxConcurrent) return refuse(options, response, "busy")
    inProgress++
    const limits = { bodyBytes: options.maxBodyBytes, totalBytes: totalBodies * options.maxBodyBytes }
    const body = await readPassBody(request, limits, held, proceed)
    if (body._tag !== "Read") {
      inProgress--
      return body._tag === "TooLarge" ? refuse(options, response, "too_large") : void response.destroy()
    }
    const { headers, method = "GET" } = request
    const fiber = run(handle({ method, path, query, headers, body: body.bytes, response }))
    response.once("close", () => {
      // After a complete response there is nothing to interrupt.
      if (!response.writableFinished) Effect.runFork(Fiber.interrupt(fiber))
    })
    fiber.addObserver((exit) => {
      inProgress--
      held.bytes -= body.bytes.length
      if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) refuse(options, response, "failed")
      else if (!response.writableEnded) response.destroy()
    })
  }
  const server = createPassServer(onRequest)
  const folder = join(options.root, newMark())
  const socket = join(folder, options.name)
  if (Buffer.byteLength(socket) > maxPathBytes)
    return yield* new AgentError({
      reason: "failed",
      why: {
        _tag: "SocketPathTooLong",
        path: socket,
        limit: maxPathBytes - (socket.length - options.root.length)
      }
    })
  yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        makeFolder(folder)
        await listen(server, socket)
        // The program in the sandbox may be another user. The folder protects the socket from other programs.
        await chmod(socket, 0o666)
      },
      catch: (cause) =>
        new AgentError({
          reason: "failed",
          why: { _tag: "SocketFailed", folder, cause: String(cause) }
        })
    }),
    () =>
      Effect.promise(async () => {
        server.close()
        server.closeAllConnections()
        await rm(folder, { recursive: true, force: true })
      })
  )
  return socket
})

/** Removes the folders of servers of processes that no longer run. */
export const sweepPassServers = (root: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    const names = await readdir(root).catch(() => [])
    for (const name of names)
      if (findOwner(name) === "gone")
        await rm(join(root, name), { recursive: true, force: true }).catch(() => undefined)
  })
