/**
 * Downloads of files of a host, which it often redirects to a storage with a signed URL. The credential is sent to the origin of the
 * host only: after a redirect elsewhere no further request has it. The storage is named in no message, because its URL is a secret.
 */
import { isIP } from "node:net"
import { request as requestHttp } from "undici"
import type { Dispatcher } from "undici"
import type { Download } from "../hosts/HostCi.ts"
import { findReach, reaches } from "./AddressReach.ts"
import type { Reach } from "./AddressReach.ts"
import { RefusedAddress } from "./CheckedConnect.ts"
import { flatHeaders } from "../HostResponse.ts"
import type { HostResponse } from "../HostResponse.ts"
import type { Reason } from "../../domain/Reason.ts"

interface DownloadRequest {
  readonly url: string
  /** Headers with the credential. */
  readonly headers: Readonly<Record<string, string>>
  readonly dispatcher: Dispatcher | undefined
  /** Timeout of each response in milliseconds. */
  readonly timeout: number
  readonly maxBytes: number
}

/** `Refused`: by the host itself. */
type Downloaded = Download | { readonly _tag: "Refused"; readonly response: HostResponse }

const maxRedirects = 3
const maxErrorBytes = 64 * 1024

/** Sends one request; the address of the server may be refused. */
const send = async (
  url: URL,
  options: NonNullable<Parameters<typeof requestHttp<null>>[1]>
): Promise<Dispatcher.ResponseData | RefusedAddress> => {
  try {
    return await requestHttp<null>(url, options)
  } catch (error) {
    if (error instanceof RefusedAddress) return error
    throw error
  }
}

export const download = async (sent: DownloadRequest, signal: AbortSignal): Promise<Downloaded> => {
  let url = new URL(sent.url)
  let headers = sent.headers
  for (let redirects = 0; ; redirects++) {
    const response = await send(url, {
      method: "GET",
      headers,
      signal: AbortSignal.any([signal, AbortSignal.timeout(sent.timeout)]),
      headersTimeout: sent.timeout,
      bodyTimeout: sent.timeout,
      ...(sent.dispatcher === undefined ? {} : { dispatcher: sent.dispatcher })
    })
    if (response instanceof RefusedAddress) return { _tag: "Impossible", why: { _tag: "AddressRefused" } }
    const { statusCode: status } = response
    const isElsewhere = headers !== sent.headers
    if (status >= 200 && status <= 299) return readBytes(response, sent.maxBytes)
    const body = await readText(response.body)
    const { location } = flatHeaders(response.headers)
    if (![301, 302, 303, 307, 308].includes(status) || typeof location !== "string") {
      // A refusal of the storage is none of the host: its rate limits and outages are its own.
      return isElsewhere
        ? { _tag: "Impossible", why: { _tag: "StorageRefused", status } }
        : { _tag: "Refused", response: { status, headers: flatHeaders(response.headers), body } }
    }
    if (redirects === maxRedirects)
      return { _tag: "Impossible", why: { _tag: "TooManyRedirects", limit: maxRedirects } }
    const next = nextUrl(url, location, new URL(sent.url))
    if ("_tag" in next) return { _tag: "Impossible", why: next }
    if (next.origin !== url.origin) headers = { "user-agent": "aicr", accept: "*/*" }
    url = next
  }
}

const readBytes = async (response: Dispatcher.ResponseData, maxBytes: number): Promise<Download> => {
  const tooLarge = { _tag: "Impossible", why: { _tag: "ArtifactTooLarge", limit: maxBytes } } as const
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

/** Returns what a URL reaches by its address alone; undefined for a name. */
const literalReach = ({ hostname }: URL): Reach | "forbidden" | undefined => {
  if (/^(?:.*\.)?localhost\.?$/.test(hostname)) return "machine"
  return isIP(hostname.replace(/^\[|\]$/g, "")) === 0 ? undefined : (findReach(hostname) ?? "forbidden")
}

/**
 * Returns where a redirect leads, or why it is not followed. `host` is the configured address. Names, and addresses in the network of a host
 * that is a name, are checked when the connection is made (CheckedConnect.ts); through a proxy the proxy resolves them.
 */
export const nextUrl = (from: URL, location: string, host: URL): URL | Reason => {
  const target = URL.parse(location, from.href)
  if (target === null) return { _tag: "RedirectWithoutUrl" }
  const isDowngrade = from.protocol === "https:" || host.protocol !== target.protocol
  if (target.protocol !== "https:" && isDowngrade) return { _tag: "RedirectProtocol", protocol: target.protocol }
  if (target.username !== "" || target.password !== "") return { _tag: "RedirectWithPassword" }
  if (target.origin === host.origin) return target
  const [reach, hostReach] = [literalReach(target), literalReach(host)]
  if (reach === "forbidden" || (reach === "machine" && hostReach !== "machine") || isNearer(reach, hostReach))
    return { _tag: "AddressRefused" }
  return target
}

const isNearer = (reach: Reach | undefined, host: Reach | "forbidden" | undefined): boolean =>
  reach !== undefined && host !== undefined && (host === "forbidden" || reaches.indexOf(reach) > reaches.indexOf(host))
