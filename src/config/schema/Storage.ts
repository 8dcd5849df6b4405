/** Schema of `storage`: database, cache, objects and retention of records. Connection strings are only named by environment variables. */
import { Schema } from "effect"
import type { Resolved } from "../fields/Field.ts"
import { defaulted, group, optional } from "../fields/Field.ts"
import { choice, EnvName, Flag, int, named, PositiveInt, Text } from "../fields/Scalars.ts"

/** Seconds that a response is cached where `storage.cache.ttl_seconds` has no value. */
export const cacheTtlSeconds = 3600

const retention = (of: "recent_runs" | "events" | "config_revisions" | "queue", count: number) =>
  group(
    {
      max_count: defaulted(int(1, 1_000_000), count, `storage.retention.${of}.max_count`),
      max_age_months: defaulted(int(1, 1200), 6, `storage.retention.${of}.max_age_months`)
    },
    `storage.retention.${of}`
  )

export const StorageConfig = Schema.Struct({
  database: group(
    {
      kind: defaulted(named("databaseKind"), "sqlite", "storage.database.kind"),
      sqlite: group(
        { path: defaulted(Text, "/app/data/svc.db", "storage.database.sqlite.path") },
        "storage.database.sqlite"
      ),
      postgres: group({ url_env: optional(EnvName, "storage.database.postgres.url_env") }, "storage.database.postgres"),
      migrate: defaulted(choice("auto", "verify"), "auto", "storage.database.migrate")
    },
    "storage.database"
  ),
  cache: group(
    {
      kind: defaulted(named("cacheKind"), "memory", "storage.cache.kind"),
      redis: group({ url_env: optional(EnvName, "storage.cache.redis.url_env") }, "storage.cache.redis"),
      ttl_seconds: optional(PositiveInt, "storage.cache.ttl_seconds", { runtimeDefault: cacheTtlSeconds })
    },
    "storage.cache"
  ),
  object: group(
    {
      kind: defaulted(named("objectKind"), "filesystem", "storage.object.kind"),
      filesystem: group(
        { root: defaulted(Text, "/app/data/objects", "storage.object.filesystem.root") },
        "storage.object.filesystem"
      ),
      s3: group(
        {
          endpoint_url_env: optional(EnvName, "storage.object.s3.endpoint_url_env"),
          region_env: optional(EnvName, "storage.object.s3.region_env"),
          access_key_id_env: optional(EnvName, "storage.object.s3.access_key_id_env"),
          secret_access_key_env: optional(EnvName, "storage.object.s3.secret_access_key_env"),
          bucket: optional(Text, "storage.object.s3.bucket"),
          force_path_style: optional(Flag, "storage.object.s3.force_path_style")
        },
        "storage.object.s3"
      )
    },
    "storage.object"
  ),
  retention: group(
    {
      deleted_project_grace_days: defaulted(int(0), 30, "storage.retention.deleted_project_grace_days"),
      recent_runs: retention("recent_runs", 2000),
      events: retention("events", 2000),
      payloads: group(
        {
          max_count: defaulted(int(0, 100_000), 500, "storage.retention.payloads.max_count"),
          max_age_days: defaulted(int(1, 3660), 14, "storage.retention.payloads.max_age_days"),
          max_kb: defaulted(int(1, 1024), 128, "storage.retention.payloads.max_kb")
        },
        "storage.retention.payloads"
      ),
      config_revisions: retention("config_revisions", 200),
      queue: retention("queue", 1000),
      statements: group(
        { max_age_months: defaulted(int(1, 1200), 24, "storage.retention.statements.max_age_months") },
        "storage.retention.statements"
      )
    },
    "storage.retention"
  )
})
export type StorageConfig = Resolved<typeof StorageConfig>
