/** `server`: the HTTP listener and the global API key. */
import { Schema } from "effect"
import type { Resolved } from "../Field.ts"
import { defaulted, group, optional } from "../Field.ts"
import { EnvName, Flag, int, matching, Secret, Text, Url } from "../Scalars.ts"
import { TrustProxy } from "../formats/TrustProxy.ts"

export const ServerConfig = Schema.Struct({
  port: defaulted(int(1, 65_535), 8080, "HTTP port to listen on."),
  hostname: defaulted(Text, "0.0.0.0", "Address to listen on."),
  trust_proxy: defaulted(
    TrustProxy,
    false,
    "Proxies whose forwarded addresses are believed: true, false, `loopback`, `linklocal`, `uniquelocal` or a list of these and CIDR ranges."
  ),
  base_url: optional(Url, "External base URL."),
  path_prefix: optional(
    matching(/^\/[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*\/?$/, "a path such as /aicr"),
    "Path prefix of a reverse proxy."
  ),
  auth: group(
    {
      api_key_env: optional(EnvName, "Environment variable that holds the global API key."),
      api_key: optional(Secret, "Literal global API key.", { winsOver: "api_key_env" }),
      enabled: defaulted(Flag, true, "Whether the global key opens anything.")
    },
    "Global API key for /triggers/*."
  ),
  metrics: group({ enabled: defaulted(Flag, true, "Serve /metrics.") }, "Metrics."),
  webhook_body_limit_mb: defaulted(int(1, 1024), 25, "Largest webhook or trigger body in MiB.")
})
export type ServerConfig = Resolved<typeof ServerConfig>
