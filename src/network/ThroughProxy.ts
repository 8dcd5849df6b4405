/** Requests to chat platforms and to providers of logins pass through the proxy of the environment unless they are to this machine, and responses are bounded. */
import { EnvHttpProxyAgent } from "undici"

const isLoopback = (url: string): boolean => /^(localhost|127\..*|\[::1\])$/.test(new URL(url).hostname)
let proxied: EnvHttpProxyAgent | undefined

/** Returns the options of a request to this URL. */
export const throughProxy = (url: string): { readonly dispatcher?: EnvHttpProxyAgent } =>
  isLoopback(url) ? {} : { dispatcher: (proxied ??= new EnvHttpProxyAgent()) }

/** Returns the text of a response; fails if it is longer. */
export const readBounded = async (body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxBytes) throw new Error("the response is too large")
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}
