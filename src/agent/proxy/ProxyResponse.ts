/** Writes a response to the agent, as fast as it reads. */
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import type { WireSink } from "../../llm/WireGateway.ts"

/** Settles when the agent can take more, or is gone: what it does not read ends with its request. */
const write = async (response: ServerResponse, bytes: Uint8Array | string): Promise<void> => {
  if (response.destroyed || response.write(bytes)) return
  const closed = new AbortController()
  await Promise.race([
    once(response, "drain", { signal: closed.signal }).catch(() => {}),
    once(response, "close", { signal: closed.signal }).catch(() => undefined)
  ])
  closed.abort()
}

export const makeSink = (response: ServerResponse): WireSink => ({
  begin: (contentType) => {
    if (response.headersSent || response.destroyed) return
    response.writeHead(200, { "content-type": contentType, "cache-control": "no-cache" })
  },
  write: (bytes) => write(response, bytes)
})
