/** Options of requests, which pass through the proxy of the environment unless they are to this machine. */
import { EnvHttpProxyAgent } from "undici"

const isLoopback = (url: string): boolean => /^(localhost|127\..*|\[::1\])$/.test(new URL(url).hostname)
let proxied: EnvHttpProxyAgent | undefined

export const throughProxy = (url: string): { readonly dispatcher?: EnvHttpProxyAgent } =>
  isLoopback(url) ? {} : { dispatcher: (proxied ??= new EnvHttpProxyAgent()) }
