/** Schema of `storage`: database, cache, objects and retention of records. Connection strings are only named by environment variables. */
import { Schema } from "effect"
import type { Resolved } from "../Field.ts"
import { defaulted, group, optional } from "../Field.ts"
import { choice, EnvName, Flag, int, named, PositiveInt, Text } from "../Scalars.ts"

const retention = (count: number, what: string, since: string) =>
  group(
    {
      max_count: defaulted(int(1, 1_000_000), count, `${what} kept.`),
      max_age_months: defaulted(int(1, 1200), 6, `UTC calendar months kept, from ${since}.`)
    },
    `Retention: ${what.toLowerCase()}.`
  )

export const StorageConfig = Schema.Struct({
  database: group(
    {
      kind: defaulted(named("databaseKind"), "sqlite", "Database backend."),
      sqlite: group({ path: defaulted(Text, "/app/data/svc.db", "Path of the database.") }, "SQLite database."),
      postgres: group(
        { url_env: optional(EnvName, "Environment variable that holds the connection string.") },
        "Postgres database."
      ),
      migrate: defaulted(
        choice("auto", "verify"),
        "auto",
        "`auto` applies migrations at start, `verify` only checks that they are applied."
      )
    },
    "Database."
  ),
  cache: group(
    {
      kind: defaulted(
        named("cacheKind"),
        "memory",
        "Cache for responses of hosts and models: in each process, in Redis for all nodes, or none."
      ),
      redis: group(
        { url_env: optional(EnvName, "Environment variable that holds the connection string.") },
        "Redis connection, shared with queue, catalog cache and configuration source where those use redis."
      ),
      ttl_seconds: optional(PositiveInt, "Seconds that a response is cached. Default: 3600.")
    },
    "Cache."
  ),
  object: group(
    {
      kind: defaulted(named("objectKind"), "filesystem", "Object backend."),
      filesystem: group({ root: defaulted(Text, "/app/data/objects", "Directory of the objects.") }, "Files."),
      s3: group(
        {
          endpoint_url_env: optional(EnvName, "Environment variable that holds the endpoint's URL."),
          region_env: optional(EnvName, "Environment variable that holds the region."),
          access_key_id_env: optional(EnvName, "Environment variable that holds the access key id."),
          secret_access_key_env: optional(EnvName, "Environment variable that holds the secret access key."),
          bucket: optional(Text, "Bucket."),
          force_path_style: optional(
            Flag,
            "Address buckets by path instead of by host name. Default: by path at a configured endpoint, by host name at AWS."
          )
        },
        "S3-compatible storage."
      )
    },
    "Objects."
  ),
  retention: group(
    {
      deleted_project_grace_days: defaulted(
        int(0),
        30,
        "Days after which a project whose workspace or trigger is no longer configured, or that an administrator deleted, is removed with its statistics."
      ),
      recent_runs: retention(2000, "Run details", "the run's start; statistics remain"),
      events: retention(2000, "Received events", "receipt"),
      payloads: group(
        {
          max_count: defaulted(int(0, 100_000), 500, "Bodies kept, the newest ones. 0 keeps none."),
          max_age_days: defaulted(int(1, 3660), 14, "Days kept, from receipt."),
          max_kb: defaulted(int(1, 1024), 128, "Size of a kept body in KiB; the rest of a larger one is cut off.")
        },
        "Retention: bodies of deliveries, with `[redacted]` in place of credentials, for `/api/admin/events/:id/payload` and replays."
      ),
      config_revisions: retention(
        200,
        "Revisions of the database's configuration",
        "publication; the newest 10 and those that unfinished work uses are protected. Audit records and results of operations have the same age"
      ),
      queue: retention(1000, "Ended automatic-commit batches", "creation; active and retrying work is protected")
    },
    "How long records are kept."
  )
})
export type StorageConfig = Resolved<typeof StorageConfig>
