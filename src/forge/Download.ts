/**
 * Downloads of files of a host, which it often redirects to a storage with a signed URL. The credential is sent to the origin of the
 * host only: after a redirect elsewhere no further request has it. The storage is named in no message, because its URL is a secret.
 */
import { BlockList, isIP } from "node:net"
import { request as requestHttp } from "undici"
import type { Dispatcher } from "undici"
import type { Download } from "./HostCi.ts"
import { flatHeaders } from "./HostResponse.ts"
import type { HostResponse } from "./HostResponse.ts"

export interface DownloadRequest {
  readonly url: string
  /** Headers with the credential. */
  readonly headers: Readonly<Record<string, string>>
  readonly dispatcher: Dispatcher | undefined
  /** Timeout of each response in milliseconds. */
  readonly timeout: number
  readonly maxBytes: number
}

/** `Refused`: by the host itself. */
export type Downloaded = Download | { readonly _tag: "Refused"; readonly response: HostResponse }

const maxRedirects = 3
const maxErrorBytes = 64 * 1024

export const download = async (sent: DownloadRequest, signal: AbortSignal): Promise<Downloaded> => {
  let url = new URL(sent.url)
  let headers = sent.headers
  for (let redirects = 0; ; redirects++) {
    const response = await requestHttp(url, {
      method: "GET",
      headers,
      signal: AbortSignal.any([signal, AbortSignal.timeout(sent.timeout)]),
      headersTimeout: sent.timeout,
      bodyTimeout: sent.timeout,
      ...(sent.dispatcher === undefined ? {} : { dispatcher: sent.dispatcher })
    })
    const { statusCode: status } = response
    const isElsewhere = headers !== sent.headers
    if (status >= 200 && status <= 299) return readBytes(response, sent.maxBytes)
    const body = await readText(response.body)
    const { location } = flatHeaders(response.headers)
    if (![301, 302, 303, 307, 308].includes(status) || typeof location !== "string") {
      // A refusal of the storage is none of the host: its rate limits and outages are its own.
      return isElsewhere
        ? { _tag: "Impossible", why: `the storage that the host names returned ${status}` }
        : { _tag: "Refused", response: { status, headers: flatHeaders(response.headers), body } }
    }
    if (redirects === maxRedirects) return { _tag: "Impossible", why: `more than ${maxRedirects} redirects` }
    const next = nextUrl(url, location, new URL(sent.url))
    if (typeof next === "string") return { _tag: "Impossible", why: next }
    if (next.origin !== url.origin) headers = { "user-agent": "aicr", accept: "*/*" }
    url = next
  }
}

const readBytes = async (response: Dispatcher.ResponseData, maxBytes: number): Promise<Download> => {
  const tooLarge = { _tag: "Impossible", why: `it is larger than ${maxBytes} bytes` } as const
  const announced = Number(flatHeaders(response.headers)["content-length"] ?? 0)
  if (announced > maxBytes) {
    response.body.destroy()
    return tooLarge
  }
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of response.body) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > maxBytes) {
      response.body.destroy()
      return tooLarge
    }
    chunks.push(bytes)
  }
  return { _tag: "Bytes", bytes: Buffer.concat(chunks) }
}

/** Reads the start of an error, and leaves the rest. */
const readText = async (body: Dispatcher.ResponseData["body"]): Promise<string> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(Buffer.from(chunk))
    size += chunk.length
    if (size > maxErrorBytes) {
      body.destroy()
      break
    }
  }
  return Buffer.concat(chunks).subarray(0, maxErrorBytes).toString("utf8")
}

const localOnly = new BlockList()
localOnly.addSubnet("127.0.0.0", 8, "ipv4")
localOnly.addSubnet("0.0.0.0", 8, "ipv4")
localOnly.addAddress("::1", "ipv6")
localOnly.addAddress("::", "ipv6")

const linkLocal = new BlockList()
linkLocal.addSubnet("169.254.0.0", 16, "ipv4")
linkLocal.addSubnet("fe80::", 10, "ipv6")

const bare = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "")

const isIn = (list: BlockList, url: URL): boolean => {
  const name = bare(url)
  const version = isIP(name)
  return version !== 0 && list.check(name, version === 4 ? "ipv4" : "ipv6")
}

const isLocal = (url: URL): boolean => bare(url) === "localhost" || isIn(localOnly, url)

/**
 * Returns where a redirect leads, or why it is not followed. `host` is the configured address: a host in the network of the service may
 * have its storage there, but none is at an address of this machine unless the host is, and none at the address of a cloud's metadata.
 */
export const nextUrl = (from: URL, location: string, host: URL): URL | string => {
  const target = URL.parse(location, from.href)
  if (target === null) return "the host redirects to no URL"
  if (target.protocol !== "https:" && target.protocol !== host.protocol)
    return `the host redirects to ${target.protocol}//`
  if (target.username !== "" || target.password !== "") return "the host redirects to a URL with a password"
  if (isIn(linkLocal, target) || (isLocal(target) && !isLocal(host)))
    return "the host redirects to an address that belongs to this machine or its network link"
  return target
}
