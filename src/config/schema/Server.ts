/** Schema of `server`: the HTTP listener and the global API key. */
import { isIP } from "node:net"
import { Schema } from "effect"
import { defaulted, group, optional } from "../fields/Field.ts"
import type { Resolved } from "../fields/Field.ts"
import { checked, choice, EnvName, Flag, int, list, matching, Secret, Text, Url } from "../fields/Scalars.ts"

/** Validates `server.trust_proxy`: a switch, a named range, or a list of named and CIDR ranges. */

const named = ["loopback", "linklocal", "uniquelocal"]

const isRange = (value: string): boolean => {
  if (named.includes(value)) return true
  const [address = "", bits, ...rest] = value.split("/")
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

const Range = checked({ _tag: "AddressRange" }, "cidr", isRange)

const TrustProxy = Schema.Union([
  Flag,
  choice("loopback", "linklocal", "uniquelocal"),
  list(Range, { minItems: 1, maxItems: 256 })
])

export const ServerConfig = Schema.Struct({
  port: defaulted(int(1, 65_535), 8080, "server.port"),
  admin_port: optional(int(1, 65_535), "server.admin_port"),
  metrics_port: optional(int(1, 65_535), "server.metrics_port"),
  hostname: defaulted(Text, "0.0.0.0", "server.hostname"),
  trust_proxy: defaulted(TrustProxy, false, "server.trust_proxy"),
  base_url: optional(Url, "server.base_url"),
  path_prefix: optional(
    matching(/^\/[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*\/?$/, { _tag: "PathPrefix" }),
    "server.path_prefix"
  ),
  auth: group(
    {
      api_key_env: optional(EnvName, "server.auth.api_key_env"),
      api_key: optional(Secret, "server.auth.api_key", { winsOver: "api_key_env" }),
      enabled: defaulted(Flag, true, "server.auth.enabled")
    },
    "server.auth"
  ),
  statements: group(
    {
      private_key_env: optional(EnvName, "server.statements.private_key_env"),
      private_key: optional(Secret, "server.statements.private_key", { exclusive: ["private_key_env"] })
    },
    "server.statements"
  ),
  links: group(
    {
      key_env: optional(EnvName, "server.links.key_env"),
      key: optional(Secret, "server.links.key", { exclusive: ["key_env"] }),
      days: defaulted(int(1, 366), 14, "server.links.days"),
      in_summaries: defaulted(Flag, false, "server.links.in_summaries")
    },
    "server.links"
  ),
  metrics: group({ enabled: defaulted(Flag, true, "server.metrics.enabled") }, "server.metrics"),
  webhook_body_limit_mb: defaulted(int(1, 1024), 25, "server.webhook_body_limit_mb"),
  limits: group(
    {
      connections: defaulted(int(16, 65_535), 2048, "server.limits.connections"),
      connections_per_client: defaulted(int(1, 65_535), 512, "server.limits.connections_per_client"),
      body_mb_per_client: defaulted(int(1, 65_536), 64, "server.limits.body_mb_per_client"),
      body_min_rate: defaulted(int(0, 1_048_576), 1024, "server.limits.body_min_rate")
    },
    "server.limits"
  )
})
export type ServerConfig = Resolved<typeof ServerConfig>
