/**
 * Connects to a configured host, and to the servers to which it redirects downloads. The host may be anywhere. Another server may not be
 * nearer to the service than the host is: names are resolved here, every address is checked, and the connection uses the checked ones.
 */
import { lookup } from "node:dns"
import type { LookupAddress, LookupOptions } from "node:dns"
import { isIP } from "node:net"
import { networkInterfaces } from "node:os"
import { buildConnector } from "undici"
import { mayReach, findReach } from "./AddressReach.ts"
import type { Reach } from "./AddressReach.ts"
import { inEnglish } from "../../text/en.ts"

/** A redirect leads to an address that it may not reach. The address is not in the message, because the URL of a storage is a secret. */
export class RefusedAddress extends Error {
  constructor() {
    super(inEnglish({ _tag: "AddressRefused" }))
  }
}

const ownAddresses = (): ReadonlySet<string> =>
  new Set(Object.values(networkInterfaces()).flatMap((found) => (found ?? []).map(({ address }) => address)))

type Callback = (
  error: NodeJS.ErrnoException | null,
  address: string | ReadonlyArray<LookupAddress>,
  family?: number
) => void
export type Resolve = (hostname: string, options: LookupOptions & { readonly all: true }, callback: Callback) => void

/** A resolver that fails if one of the addresses is refused. */
const checkedLookup =
  (mayConnect: (address: string) => boolean, resolve: Resolve) =>
  (hostname: string, options: LookupOptions, callback: Callback): void =>
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, [])
      const addresses = typeof found === "string" ? [{ address: found, family: isIP(found) }] : found
      if (!addresses.every(({ address }) => mayConnect(address))) return callback(new RefusedAddress(), [])
      const [first] = addresses
      if (options.all === true || first === undefined) return callback(null, addresses)
      callback(null, first.address, first.family)
    })

/** `url`: the configured one. `tls`: options for all connections. */
export const checkedConnect = (
  url: string | undefined,
  tls: { readonly ca?: ReadonlyArray<string> },
  resolve: Resolve = lookup as Resolve
): buildConnector.connector => {
  const roots = tls.ca === undefined ? {} : { ca: [...tls.ca] }
  const host = url === undefined ? null : URL.parse(url)
  /** Reach of the host, by the address of the newest connection to it. */
  let reach: Reach = "public"
  const mayConnect = (address: string) => mayReach(reach, address, ownAddresses())
  const toHost = buildConnector(roots)
  const toOthers = buildConnector({ ...roots, lookup: checkedLookup(mayConnect, resolve) as never })
  return (options, callback) => {
    const { hostname, port, protocol } = options
    const bare = hostname.replace(/^\[|\]$/g, "")
    const isHost =
      host !== null &&
      protocol === host.protocol &&
      bare === host.hostname.replace(/^\[|\]$/g, "") &&
      (port || "") === host.port
    if (isHost)
      return toHost(options, (...result) => {
        const [, socket] = result
        if (socket?.remoteAddress !== undefined) reach = findReach(socket.remoteAddress, ownAddresses()) ?? "public"
        callback(...result)
      })
    if (isIP(bare) !== 0 && !mayConnect(bare)) return callback(new RefusedAddress(), null)
    toOthers(options, callback)
  }
}
