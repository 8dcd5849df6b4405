/**
 * Who a request is from. That is the socket's address; where it is a proxy that `server.trust_proxy` names, it is whom that proxy
 * says it was from (`x-forwarded-for`), and so on while proxies are trusted. With `true` everyone is believed.
 */
import { BlockList, isIP } from "node:net"
import type { Document } from "../config/Document.ts"

type TrustProxy = Document["server"]["trust_proxy"]

const named: Readonly<Record<string, ReadonlyArray<string>>> = {
  loopback: ["127.0.0.0/8", "::1/128"],
  linklocal: ["169.254.0.0/16", "fe80::/10"],
  uniquelocal: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]
}

const familyOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4")

/** Which addresses are proxies that are believed. */
export const trustOf = (trust: TrustProxy): ((address: string) => boolean) => {
  if (typeof trust === "boolean") return () => trust
  const list = new BlockList()
  for (const range of [trust].flat().flatMap((one) => named[one] ?? [one])) {
    const [address = "", bits] = range.split("/")
    const family = familyOf(address)
    list.addSubnet(address, bits === undefined ? (family === "ipv4" ? 32 : 128) : Number(bits), family)
  }
  return (address) => list.check(address, familyOf(address))
}

/** IPv4 in IPv6 is IPv4; a port goes. Undefined when it is no address. */
const plain = (text: string): string | undefined => {
  const trimmed = text.trim()
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address
  return isIP(mapped) === 0 ? undefined : mapped
}

export const clientAddress = (
  socket: string,
  forwarded: string | ReadonlyArray<string> | undefined,
  trusted: (address: string) => boolean
): string => {
  let client = plain(socket) ?? "unknown"
  const hops = [forwarded ?? []].flat().flatMap((header) => header.split(","))
  for (const hop of hops.toReversed()) {
    if (client === "unknown" || !trusted(client)) return client
    const next = plain(hop)
    if (next === undefined) return client
    client = next
  }
  return client
}

/** What attempts are counted by: an address, or the network that one owner of IPv6 addresses has (/64). */
export const clientKey = (address: string): string => {
  if (isIP(address) !== 6) return address
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::")
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
