/** Schema of `server`: the HTTP listener and the global API key. */
import { Schema } from "effect"
import type { Resolved } from "../Field.ts"
import { defaulted, group, optional } from "../Field.ts"
import { EnvName, Flag, int, matching, Secret, Text, Url } from "../Scalars.ts"
import { TrustProxy } from "../formats/TrustProxy.ts"

export const ServerConfig = Schema.Struct({
  port: defaulted(int(1, 65_535), 8080, "HTTP port to listen on."),
  admin_port: optional(
    int(1, 65_535),
    "Port of its own for the dashboard and `/api/admin`, which `port` then does not serve. Probes are served on every port."
  ),
  metrics_port: optional(
    int(1, 65_535),
    "Port of its own for `/metrics`, which `port` then does not serve. May be the same as `admin_port`."
  ),
  hostname: defaulted(Text, "0.0.0.0", "Address to listen on."),
  trust_proxy: defaulted(
    TrustProxy,
    false,
    "Proxies whose `X-Forwarded-For` is used: `loopback`, `linklocal`, `uniquelocal` or a list of these and CIDR ranges. `true`: exactly the proxy before this server, whatever its address; for servers that only that proxy can reach."
  ),
  base_url: optional(
    Url,
    "External base URL. Links to the dashboard in comments, statuses and chats begin with it, and aicr doctor compares the webhooks of repositories with it."
  ),
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
  webhook_body_limit_mb: defaulted(int(1, 1024), 25, "Largest webhook or trigger body in MiB."),
  limits: group(
    {
      connections: defaulted(
        int(16, 65_535),
        2048,
        "Open connections. At the limit idle and slow ones are closed for new ones."
      ),
      connections_per_client: defaulted(
        int(1, 65_535),
        512,
        "Open connections of one client address, or of one /64 of IPv6 addresses. Proxies that `trust_proxy` names have no limit of their own."
      ),
      body_mb_per_client: defaulted(
        int(1, 65_536),
        64,
        "MiB of bodies of one client address that are received at once. One body of `webhook_body_limit_mb` always fits."
      ),
      body_min_rate: defaulted(
        int(0, 1_048_576),
        1024,
        "Minimum speed of a body in bytes per second, as an average after five seconds; a slower request gets 408. 0: no minimum."
      )
    },
    "Limits of what clients can hold without being verified."
  )
})
export type ServerConfig = Resolved<typeof ServerConfig>
