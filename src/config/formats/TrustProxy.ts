/** Validates `server.trust_proxy`: a switch, a named range, or a list of named and CIDR ranges. */
import { Schema } from "effect"
import { isIP } from "node:net"
import { checked, choice, Flag, list } from "../fields/Scalars.ts"

const named = ["loopback", "linklocal", "uniquelocal"]

const isRange = (value: string): boolean => {
  if (named.includes(value)) return true
  const [address = "", bits, ...rest] = value.split("/")
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

const Range = checked({ _tag: "AddressRange" }, "cidr", isRange)

export const TrustProxy = Schema.Union([
  Flag,
  choice("loopback", "linklocal", "uniquelocal"),
  list(Range, { minItems: 1, maxItems: 256 })
])
