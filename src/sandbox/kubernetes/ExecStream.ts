/**
 * A program that is started in a container through the API, over a WebSocket: its stdin and stdout as one stream. The first byte of a
 * message is its channel. Output is not in the logs of the cluster, in contrast to that of a container's main program.
 */
import { once } from "node:events"
import { Duplex } from "node:stream"
import { Redacted } from "effect"
import type { RawData, WebSocket } from "ws"
import { apiUrl } from "./ClusterApi.ts"
import type { ClusterAccess } from "./ClusterAccess.ts"

const channels = { stdin: 0, stdout: 1, stderr: 2 }
const protocols = ["v5.channel.k8s.io", "v4.channel.k8s.io"]
const handshakeMillis = 10_000
/** Load balancers end connections that are idle. */
const pingMillis = 30_000
const maxMessageBytes = 4_194_304
const maxStderrChars = 2000

const toBuffer = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? Buffer.from(data) : data

export class ExecStream extends Duplex {
  readonly #socket: WebSocket
  readonly #pings: NodeJS.Timeout
  #stderr = ""

  constructor(socket: WebSocket) {
    super()
    this.#socket = socket
    this.#pings = setInterval(() => socket.ping(), pingMillis)
    socket
      .on("message", (data) => this.#receive(toBuffer(data)))
      .on("error", (cause) => this.destroy(cause))
      .on("close", () => {
        clearInterval(this.#pings)
        this.push(null)
      })
  }

  /** Returns the beginning of what the program wrote to stderr. */
  stderr(): string {
    return this.#stderr
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.send(Buffer.concat([Buffer.from([channels.stdin]), chunk]), done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearInterval(this.#pings)
    this.#socket.terminate()
    done(error)
  }

  #receive(message: Buffer): void {
    const content = message.subarray(1)
    if (message[0] === channels.stdout && content.length > 0) {
      if (!this.push(content)) this.#socket.pause()
    } else if (message[0] === channels.stderr) {
      this.#stderr = (this.#stderr + content.toString()).slice(0, maxStderrChars)
    }
  }
}

/** Starts a program. Rejects if the API refuses. Loads the client on first use. */
export const openExec = async (
  access: ClusterAccess,
  pod: string,
  container: string,
  command: ReadonlyArray<string>
): Promise<ExecStream> => {
  const query = new URLSearchParams({ container, stdin: "true", stdout: "true", stderr: "true" })
  for (const word of command) query.append("command", word)
  const path = `/api/v1/namespaces/${encodeURIComponent(access.namespace)}/pods/${pod}/exec?${query}`
  const { WebSocket: Client } = await import("ws")
  const socket = new Client(`${apiUrl("wss", access)}${path}`, protocols, {
    ca: access.authority,
    headers: { authorization: `Bearer ${Redacted.value(await access.token())}` },
    handshakeTimeout: handshakeMillis,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    followRedirects: false
  })
  // Messages may arrive together with the handshake.
  const stream = new ExecStream(socket)
  stream.on("error", () => {})
  await once(socket, "open")
  return stream
}
