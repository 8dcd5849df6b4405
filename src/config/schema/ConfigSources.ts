/** Schema of `config_sources`: sources of configuration in addition to this file. Never edited by the database source. */
import { Schema } from "effect"
import type { Resolved } from "../fields/Field.ts"
import { defaulted, group, optional, required } from "../fields/Field.ts"
import { EnvName, Flag, int, list, map, matching, named, Text } from "../fields/Scalars.ts"

const SecretRef = Schema.Struct({
  env: required(EnvName, "config_sources.secret_refs[].env"),
  target: required(list(Text, { minItems: 1 }), "config_sources.secret_refs[].target"),
  destinations: optional(map(Schema.Unknown), "config_sources.secret_refs[].destinations")
})
type SecretRef = Resolved<typeof SecretRef>

export const ConfigSourcesConfig = Schema.Struct({
  database: group(
    {
      enabled: defaulted(Flag, false, "config_sources.database.enabled"),
      backend: defaulted(named("sourceBackend"), "storage", "config_sources.database.backend"),
      namespace: defaulted(
        matching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { _tag: "NamespaceName" }),
        "default",
        "config_sources.database.namespace"
      ),
      approvals: defaulted(int(0, 10), 0, "config_sources.database.approvals")
    },
    "config_sources.database"
  ),
  runtime: group(
    {
      refresh_interval_seconds: defaulted(int(1, 3600), 5, "config_sources.runtime.refresh_interval_seconds")
    },
    "config_sources.runtime"
  ),
  secret_refs: defaulted(list(SecretRef), [], "config_sources.secret_refs")
})
export type ConfigSourcesConfig = Resolved<typeof ConfigSourcesConfig>
