/** A chat platform behind the webhook of a bot, or the receiver of a plain webhook, with faults on demand. */
import { createServer } from "node:http"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import type { Fault } from "../../demo/DemoForge.ts"

export interface ChatPlatform {
  readonly url: string
  readonly got: Array<string>
  /** Headers of the messages of `got`. */
  readonly headers: Array<IncomingHttpHeaders>
  /** Called for each message that arrives. */
  decide: () => Fault | undefined
  readonly stop: () => Promise<void>
}

/** A chat platform that keeps the messages it accepted. */
export const startChatPlatform = async (): Promise<ChatPlatform> => {
  const got: Array<string> = []
  const headers: Array<IncomingHttpHeaders> = []
  const ids = new Set<string>()
  /** A receiver of plain webhooks recognises a repeated request by its id. */
  const keep = (request: IncomingMessage, text: string) => {
    const id = request.headers["webhook-id"]
    if (typeof id === "string" && ids.has(id)) return
    if (typeof id === "string") ids.add(id)
    got.push(text)
    headers.push(request.headers)
  }
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const fault = platform.decide()
      if (fault?.kind === "cut") return void request.socket.destroy()
      if (fault?.kind === "answer") {
        const { body, headers: given, status } = fault.answer
        return void response
          .writeHead(status, { "content-type": "application/json", ...given })
          .end(JSON.stringify(body))
      }
      keep(request, Buffer.concat(chunks).toString("utf8"))
      if (fault?.kind === "lost") return void request.socket.destroy()
      if (fault?.kind === "hung") return
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ code: 0, errcode: 0 }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const platform: ChatPlatform = {
    url: `http://127.0.0.1:${port}/hook/key`,
    got,
    headers,
    decide: () => undefined,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
  return platform
}
