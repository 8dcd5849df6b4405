/**
 * Reads request bodies within bounds: each up to a limit, all together up to a budget, so that many large bodies cannot use
 * up the memory. A body over its limit is known by its declared length before it is read, or cut off while it is.
 */
import type { IncomingMessage } from "node:http"

export type Body =
  | { readonly _tag: "Read"; readonly bytes: Uint8Array }
  | { readonly _tag: "TooLarge" }
  | { readonly _tag: "Busy" }
  /** The sender went away, or the request timed out and was answered by the server. */
  | { readonly _tag: "Aborted" }

const tooLarge: Body = { _tag: "TooLarge" }
const busy: Body = { _tag: "Busy" }
const aborted: Body = { _tag: "Aborted" }

/** Whether the declared length alone rules the body out. */
export const declaresMore = (request: IncomingMessage, limit: number): boolean => {
  const declared = request.headers["content-length"]
  return declared !== undefined && Number(declared) > limit
}

export class BodyReader {
  readonly #budget: number
  #held = 0

  /** @param budget bytes of unfinished bodies that may be held at once */
  constructor(budget: number) {
    this.#budget = budget
  }

  /** Resolves once; never rejects. After anything but `Read` the rest of the request is unread. */
  read(request: IncomingMessage, limit: number): Promise<Body> {
    if (declaresMore(request, limit)) return Promise.resolve(tooLarge)
    return new Promise((resolve) => {
      const chunks: Array<Buffer> = []
      let size = 0
      const finish = (body: Body) => {
        this.#held -= size
        request.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose)
        if (body._tag !== "Read") request.pause()
        resolve(body)
      }
      const onData = (chunk: Buffer) => {
        size += chunk.length
        this.#held += chunk.length
        if (size > limit) finish(tooLarge)
        else if (this.#held > this.#budget) finish(busy)
        else chunks.push(chunk)
      }
      const onEnd = () => {
        const [first] = chunks
        finish({
          _tag: "Read",
          bytes: first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, size)
        })
      }
      const onClose = () => finish(aborted)
      request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose)
    })
  }
}
