/** A TCP line to a server that can be cut and mended: while it is cut, connections end and new ones are refused. */
import { connect, createServer } from "node:net"
import type { Server, Socket } from "node:net"

export class CutLine implements AsyncDisposable {
  readonly port: number
  readonly #server: Server
  readonly #sockets: Set<Socket>
  readonly #state: { cut: boolean }

  private constructor(server: Server, port: number, sockets: Set<Socket>, state: { cut: boolean }) {
    this.#server = server
    this.port = port
    this.#sockets = sockets
    this.#state = state
  }

  static async to(target: { readonly host: string; readonly port: number }): Promise<CutLine> {
    const sockets = new Set<Socket>()
    const state = { cut: false }
    const keep = (socket: Socket): void => {
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
      // The other end went away, which is what a cut is.
      socket.on("error", () => socket.destroy())
    }
    const server = createServer((near) => {
      if (state.cut) return void near.destroy()
      keep(near)
      const far = connect({ ...target, noDelay: true })
      keep(far)
      near.setNoDelay(true)
      near.pipe(far)
      far.pipe(near)
      near.once("close", () => far.destroy())
      far.once("close", () => near.destroy())
    })
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve)
    })
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("no port")
    return new CutLine(server, address.port, sockets, state)
  }

  cut(): void {
    this.#state.cut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  mend(): void {
    this.#state.cut = false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
