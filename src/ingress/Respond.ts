/** Writes an answer. Every answer carries `x-request-id`; the sender's own is not believed. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import type { Answer } from "./Answers.ts"

/** How long, and for how many bytes, an unread body is swallowed so that its sender gets to read the answer. */
const linger = { millis: 2000, bytes: 32 * 1024 * 1024 }

export const respond = (
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  answer: Answer,
  stopping: boolean
): void => {
  if (response.headersSent || response.destroyed || request.socket.writableEnded) return
  const close = answer.close === true || stopping
  // A string, not bytes: node sends it in one piece with the header.
  const { body } = answer
  response.writeHead(answer.status, {
    "content-type": answer.contentType,
    "content-length": Buffer.byteLength(body),
    "x-request-id": requestId,
    ...answer.headers,
    ...(close ? { connection: "close" } : undefined)
  })
  if (answer.close !== true || request.complete) {
    response.end(body)
    return
  }
  // Closing with unread data would reset the connection and could take the answer along.
  response.write(body)
  let swallowed = 0
  const end = () => {
    clearTimeout(timer)
    request.removeAllListeners("data")
    response.end()
  }
  const timer = setTimeout(end, linger.millis)
  request
    .on("data", (chunk: Buffer) => {
      swallowed += chunk.length
      if (swallowed > linger.bytes) end()
    })
    .once("end", end)
    .once("close", end)
    .resume()
}

/** For requests that node refused before there was a response object. */
export const respondRaw = (socket: Duplex, requestId: string, answer: Answer): void => {
  const body = Buffer.from(answer.body)
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ""}`,
    `content-type: ${answer.contentType}`,
    `content-length: ${body.length}`,
    `x-request-id: ${requestId}`,
    "connection: close"
  ]
  socket.end(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]))
}
