/**
 * The open connections and the request that each last carried: who can be closed at once when the server stops (node itself
 * counts a connection that has not asked anything yet as busy), and who has been answered already when parsing fails.
 */
import type { Server, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

export class Connections {
  readonly #last = new Map<Duplex, ServerResponse | undefined>()

  constructor(server: Server) {
    server.on("connection", (socket) => {
      this.#last.set(socket, undefined)
      socket.once("close", () => this.#last.delete(socket))
    })
  }

  carries(socket: Duplex, response: ServerResponse): void {
    if (this.#last.has(socket)) this.#last.set(socket, response)
  }

  /** Whether an answer has begun that a second one would garble. */
  isAnswering(socket: Duplex): boolean {
    const response = this.#last.get(socket)
    return response !== undefined && response.headersSent && !response.writableFinished
  }

  closeIdle(): void {
    for (const [socket, response] of this.#last) {
      if (response === undefined || response.writableFinished) socket.destroy()
    }
  }
}
