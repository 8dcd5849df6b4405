/** A TCP line to a server that can be cut and mended: while it is cut, connections end and new ones are refused. */
import { connect, createServer } from "node:net"
import type { Server, Socket } from "node:net"

interface LineState {
  cut: boolean
  cutAt: string | undefined
}

const cutLine = (state: LineState, sockets: Iterable<Socket>): void => {
  state.cut = true
  for (const socket of sockets) socket.destroy()
}

export class CutLine implements AsyncDisposable {
  readonly port: number
  readonly #server: Server
  readonly #sockets: Set<Socket>
  readonly #state: LineState

  private constructor(server: Server, port: number, sockets: Set<Socket>, state: LineState) {
    this.#server = server
    this.port = port
    this.#sockets = sockets
    this.#state = state
  }

  static async to(target: { readonly host: string; readonly port: number }): Promise<CutLine> {
    const sockets = new Set<Socket>()
    const state: LineState = { cut: false, cutAt: undefined }
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
      near.on("data", (chunk) => {
        if (state.cutAt === undefined || !chunk.includes(state.cutAt)) return void far.write(chunk)
        state.cutAt = undefined
        cutLine(state, sockets)
      })
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
    cutLine(this.#state, this.#sockets)
  }

  /** Cuts the line when a client sends this text, which does not arrive. */
  cutAt(text: string): void {
    this.#state.cutAt = text
  }

  /** Whether the line is cut. */
  isCut(): boolean {
    return this.#state.cut
  }

  mend(): void {
    this.#state.cut = false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
