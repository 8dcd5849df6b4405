/** Reads bodies of requests to the demo's servers. */
import type { IncomingMessage } from "node:http"

/** Returns undefined for a body of more than `maxBytes`. */
export const readBody = async (request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > maxBytes) return undefined
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}
