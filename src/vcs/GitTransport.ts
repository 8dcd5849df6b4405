/** Settings of the connection of git to the host of a trigger: its `tls_ca_path` and `http_proxy`. Pure. */
import { Redacted } from "effect"
import type { TriggerProfile } from "../config/Snapshot.ts"

export const gitTransport = ({ settings: { http_proxy, tls_ca_path } }: Pick<TriggerProfile, "settings">) => ({
  tlsCaPath: tls_ca_path,
  proxy: http_proxy === undefined ? undefined : Redacted.make(http_proxy)
})
