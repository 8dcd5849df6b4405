/** HTTP as bytes on a socket: for input that well-behaved clients do not send. */
import { connect } from "node:net"
import type { Socket } from "node:net"

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Returns the first complete response of a server. */
const answerIn = (received: string): RawAnswer | undefined => {
  const end = received.indexOf("\r\n\r\n")
  if (end === -1) return undefined
  const [line = "", ...fields] = received.slice(0, end).split("\r\n")
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(":")
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]
    })
  )
  const body = received.slice(end + 4)
  const status = Number(line.split(" ")[1])
  if (status === 100) return answerIn(body)
  return body.length < Number(headers["content-length"] ?? 0) ? undefined : { status, headers, body }
}

export interface RawConnection {
  readonly socket: Socket
  /** All data that the server sent so far. */
  readonly received: () => string
  /** The first final response; undefined if the server closed without one. */
  readonly answer: Promise<RawAnswer | undefined>
  readonly closed: Promise<void>
}

/** Opens a connection. `from`: an address on loopback, for clients that count as different ones. */
export const open = (port: number, from = "127.0.0.1"): RawConnection => {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from })
  let received = ""
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
  const answer = new Promise<RawAnswer | undefined>((resolve) => {
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1")
      const found = answerIn(received)
      if (found !== undefined) resolve(found)
    })
    socket.once("close", () => resolve(answerIn(received)))
  })
  // The server may reset the connection while data is being sent; the response, or its absence, decides.
  socket.on("error", () => undefined)
  return { socket, received: () => received, answer, closed }
}

export const send = async (port: number, bytes: string | Uint8Array): Promise<RawAnswer | undefined> => {
  const connection = open(port)
  connection.socket.write(bytes)
  const answer = await connection.answer
  connection.socket.destroy()
  return answer
}

export const post = (path: string, headers: Record<string, string | number>, body = ""): string =>
  [
    `POST ${path} HTTP/1.1`,
    "host: localhost",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    body
  ].join("\r\n")
