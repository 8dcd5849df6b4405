/** Schema of `server`: the HTTP listener and the global API key. */
import { Schema } from "effect"
import type { Resolved } from "../fields/Field.ts"
import { defaulted, group, optional } from "../fields/Field.ts"
import { EnvName, Flag, int, matching, Secret, Text, Url } from "../fields/Scalars.ts"
import { TrustProxy } from "../formats/TrustProxy.ts"

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
