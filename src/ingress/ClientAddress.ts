/**
 * Determines the client address of a request: that of the socket, or the one that a trusted proxy reports in `x-forwarded-for`
 * (`server.trust_proxy`). With ranges, hops are followed while they are trusted. With `true` only the last hop is used, the address that
 * the proxy before this server has seen, because the client controls all earlier ones.
 */
import { BlockList, isIP } from "node:net"
import type { ConfigStore } from "../config/ConfigStore.ts"
import type { Document } from "../config/Document.ts"

type TrustProxy = Document["server"]["trust_proxy"]

/** Maximum number of hops that are followed. */
const maxHops = 32

const named: Readonly<Record<string, ReadonlyArray<string>>> = {
  loopback: ["127.0.0.0/8", "::1/128"],
  linklocal: ["169.254.0.0/16", "fe80::/10"],
  uniquelocal: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]
}

const familyOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4")

/**
 * Normalises an address: an IPv4 address in IPv6 becomes IPv4; a port and a zone, which may have any length, are removed. Returns undefined
 * if it is not an address.
 */
const plain = (text: string): string | undefined => {
  const trimmed = text.trim()
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed
  if (isIP(address) === 0) return undefined
  const [withoutZone = address] = address.split("%")
  return /^::ffff:([\d.]+)$/i.exec(withoutZone)?.[1] ?? withoutZone
}

export interface ClientAddresses {
  /** Returns whether the socket belongs to a proxy, so that its connections are those of many clients. */
  readonly isProxy: (socket: string) => boolean
  readonly clientOf: (socket: string, forwarded: string | ReadonlyArray<string> | undefined) => string
}

const isTrustedBy = (ranges: Exclude<TrustProxy, boolean>): ((address: string) => boolean) => {
  const list = new BlockList()
  for (const range of [ranges].flat().flatMap((one) => named[one] ?? [one])) {
    const [address = "", bits] = range.split("/")
    const family = familyOf(address)
    list.addSubnet(address, bits === undefined ? (family === "ipv4" ? 32 : 128) : Number(bits), family)
  }
  return (address) => list.check(address, familyOf(address))
}

export const clientAddresses = (trust: TrustProxy): ClientAddresses => {
  const isTrusted = typeof trust === "boolean" ? () => trust : isTrustedBy(trust)
  const hopLimit = trust === true ? 1 : maxHops
  return {
    isProxy: (socket) => isTrusted(plain(socket) ?? ""),
    clientOf: (socket, forwarded) => {
      let client = plain(socket) ?? "unknown"
      if (trust === false || forwarded === undefined) return client
      const hops = [forwarded].flat().join(",").split(",").slice(-hopLimit)
      for (const hop of hops.toReversed()) {
        if (client === "unknown" || !isTrusted(client)) return client
        const next = plain(hop)
        if (next === undefined) return client
        client = next
      }
      return client
    }
  }
}

/** Returns the key of limits per client: an address, or the network of one owner of IPv6 addresses (/64). */
export const clientKey = (address: string): string => {
  const client = plain(address) ?? address
  if (isIP(client) !== 6) return client
  const [head = "", tail] = client.split("::")
  const groups = (part: string | undefined) => (part === undefined || part === "" ? [] : part.split(":"))
  const [left, right] = [groups(head), groups(tail)]
  const all =
    tail === undefined
      ? left
      : [...left, ...Array.from({ length: 8 - left.length - right.length }, () => "0"), ...right]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`
}

/** Returns client addresses according to the current configuration. */
export const currentClients = (config: ConfigStore["Service"]): (() => ClientAddresses) => {
  const known = new WeakMap<object, ClientAddresses>()
  return () => {
    const { server } = config.current().document
    const addresses = known.get(server) ?? clientAddresses(server.trust_proxy)
    known.set(server, addresses)
    return addresses
  }
}
