/** Determines what an address reaches: a public network, a private one, this machine, or a service that no redirect may lead to. Pure. */
import { BlockList, isIP } from "node:net"

/** The later one is nearer to the service. */
export const reaches = ["public", "private", "machine"] as const
export type Reach = (typeof reaches)[number]

const v4 = (...ranges: ReadonlyArray<readonly [address: string, prefix: number]>): BlockList => {
  const list = new BlockList()
  for (const [address, prefix] of ranges) list.addSubnet(address, prefix, "ipv4")
  return list
}
const v6 = (...ranges: ReadonlyArray<readonly [address: string, prefix: number]>): BlockList => {
  const list = new BlockList()
  for (const [address, prefix] of ranges) list.addSubnet(address, prefix, "ipv6")
  return list
}

/** Links, metadata of clouds, multicast, and ranges that lead nowhere. */
const forbidden4 = v4(
  ["169.254.0.0", 16],
  ["100.100.100.200", 32],
  ["168.63.129.16", 32],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3]
)
const machine4 = v4(["127.0.0.0", 8], ["0.0.0.0", 8])
const private4 = v4(["10.0.0.0", 8], ["172.16.0.0", 12], ["192.168.0.0", 16], ["100.64.0.0", 10], ["198.18.0.0", 15])

const machine6 = v6(["::", 128], ["::1", 128])
/** Global addresses are in 2000::/3. The first range is the metadata of a cloud; the others of 2000::/3 are tunnels and documentation. */
const forbidden6 = v6(["fd00:ec2::", 32], ["2001::", 23], ["2001:db8::", 32], ["3fff::", 20])
const private6 = v6(["fc00::", 7], ["64:ff9b:1::", 48])
const public6 = v6(["2000::", 3])

/** Ranges whose addresses contain one of IPv4, with the group at which it begins. */
const embedded = [
  { list: v6(["::ffff:0:0", 96], ["::ffff:0:0:0", 96], ["64:ff9b::", 96], ["::", 96]), at: 6 },
  { list: v6(["2002::", 16]), at: 1 }
]

const reach4 = (address: string): Reach | undefined => {
  if (forbidden4.check(address, "ipv4")) return undefined
  if (machine4.check(address, "ipv4")) return "machine"
  return private4.check(address, "ipv4") ? "private" : "public"
}

/** Returns the eight groups of an address of IPv6. */
const groups = (address: string): ReadonlyArray<number> => {
  const [head = "", tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::")
  const read = (part: string | undefined) => (part ? part.split(":").map((group) => Number.parseInt(group, 16)) : [])
  const [start, end] = [read(head), read(tail)]
  return [...start, ...Array.from({ length: 8 - start.length - end.length }, () => 0), ...end]
}

const reach6 = (address: string): Reach | undefined => {
  if (machine6.check(address, "ipv6")) return "machine"
  const holder = embedded.find(({ list }) => list.check(address, "ipv6"))
  if (holder !== undefined) {
    const [high = 0, low = 0] = groups(address).slice(holder.at)
    return reach4([high >> 8, high & 255, low >> 8, low & 255].join("."))
  }
  if (forbidden6.check(address, "ipv6")) return undefined
  if (private6.check(address, "ipv6")) return "private"
  return public6.check(address, "ipv6") ? "public" : undefined
}

/** Returns undefined for an address that no redirect may lead to, and for what is no address. `own`: addresses of this machine. */
export const findReach = (address: string, own: ReadonlySet<string> = new Set()): Reach | undefined => {
  const [bare = ""] = address.replace(/^\[|\]$/g, "").split("%")
  const version = isIP(bare)
  if (version === 0) return undefined
  const reach = version === 4 ? reach4(bare) : reach6(bare)
  return reach !== undefined && own.has(bare) ? "machine" : reach
}

/** Returns whether a host of this reach may redirect to an address. */
export const mayReach = (host: Reach, address: string, own?: ReadonlySet<string>): boolean => {
  const reach = findReach(address, own)
  return reach !== undefined && reaches.indexOf(reach) <= reaches.indexOf(host)
}
