/** Schema of `config_sources`: sources of configuration in addition to this file. Never edited by the database source. */
import { Schema } from "effect"
import type { Resolved } from "../Field.ts"
import { defaulted, group, optional, required } from "../Field.ts"
import { EnvName, Flag, int, list, map, matching, named, Text } from "../Scalars.ts"

export const SecretRef = Schema.Struct({
  env: required(EnvName, "Environment variable that edits may refer to."),
  target: required(
    list(Text, { minItems: 1 }),
    "Exact path of the field, part by part; ids, names and aliases replace array indices."
  ),
  destinations: optional(map(Schema.Unknown), "Exact destination: kind, endpoints, linked trigger.")
})
export type SecretRef = Resolved<typeof SecretRef>

export const ConfigSourcesConfig = Schema.Struct({
  database: group(
    {
      enabled: defaulted(
        Flag,
        false,
        "Also read configuration from the database, which the dashboard, commands and the admin API edit."
      ),
      backend: defaulted(
        named("sourceBackend"),
        "storage",
        "`storage` uses storage.database, `redis` the connection of storage.cache.redis."
      ),
      namespace: defaulted(
        matching(
          /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
          "1 to 64 letters, digits, dots, underscores and hyphens, starting with a letter or digit"
        ),
        "default",
        "Namespace of the revisions."
      ),
      approvals: defaulted(
        int(0, 10),
        0,
        "Approvals that a draft needs before it is published, from administrators other than its owner. Direct publishing is refused if it is not 0."
      )
    },
    "Database source."
  ),
  runtime: group(
    {
      refresh_interval_seconds: defaulted(
        int(1, 3600),
        5,
        "Seconds between checks for a new revision. Each delivery also checks for one."
      )
    },
    "Refresh."
  ),
  secret_refs: defaulted(list(SecretRef), [], "Which environment variables database edits may use, and for what.")
})
export type ConfigSourcesConfig = Resolved<typeof ConfigSourcesConfig>
