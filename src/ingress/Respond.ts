/** Writes a response. Every response carries a new `x-request-id`; the sender's is not used. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import type { IngressResponse } from "./Responses.ts"
import type { Connections } from "./Connections.ts"
import { lingerMillis } from "./Connections.ts"

/**
 * Limits in bytes, and in share of the connection's remaining time, for discarding an unread body so that its sender reads the response.
 */
const swallow = { millis: lingerMillis * 0.75, bytes: 32 * 1024 * 1024 }

export const respond = (
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  reply: IngressResponse,
  { connections, stopping }: { readonly connections: Connections; readonly stopping: boolean }
): void => {
  if (response.headersSent || response.destroyed || request.socket.writableEnded) return
  const close = reply.close === true || stopping
  if (reply.stream !== undefined) {
    response.writeHead(reply.status, {
      "content-type": reply.contentType,
      "x-request-id": requestId,
      ...reply.headers,
      connection: "close"
    })
    connections.stream(response, reply.stream)
    return
  }
  // Node sends a string, unlike bytes, in one packet with the header.
  const body = reply.bytes ?? reply.body
  response.writeHead(reply.status, {
    "content-type": reply.contentType,
    "content-length": Buffer.byteLength(body),
    "x-request-id": requestId,
    ...reply.headers,
    ...(close ? { connection: "close" } : undefined)
  })
  if (reply.close === true) connections.closeSoon(request.socket)
  if (reply.close !== true || request.complete) {
    response.end(body)
    return
  }
  // Closing with unread data would reset the connection and could discard the response.
  response.write(body)
  const end = () => {
    clearTimeout(timer)
    request.removeAllListeners("data")
    response.end()
  }
  const timer = setTimeout(end, swallow.millis)
  request.once("end", end).once("close", end)
  if (reply.leavesBody === true) return
  let swallowed = 0
  request
    .on("data", (chunk: Buffer) => {
      swallowed += chunk.length
      if (swallowed > swallow.bytes) end()
    })
    .resume()
}

/** Responds to requests that node refused before it created a response object. */
export const respondRaw = (
  socket: Duplex,
  requestId: string,
  reply: IngressResponse,
  connections: Connections
): void => {
  const body = Buffer.from(reply.body)
  const head = [
    `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ""}`,
    `content-type: ${reply.contentType}`,
    `content-length: ${body.length}`,
    `x-request-id: ${requestId}`,
    "connection: close"
  ]
  // Node keeps the socket open until the client closes its half, which may never happen.
  connections.closeSoon(socket)
  socket.end(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]))
}
