/** Checks backends that need a connection, and values of the admin login. */
import { Redacted } from "effect"
import { variable } from "../Credentials.ts"
import { redisUsers } from "../credentials/Environment.ts"
import type { Check } from "./Check.ts"
import { recordAt, textAt } from "./Tree.ts"

export const checkBackends: Check = (tree, { error, warning }, env) => {
  const missing = (path: ReadonlyArray<string>, who: string, either: { first?: string; other?: string } = {}): void =>
    error({ path, reason: { _tag: "NeededBy", who, ...either }, at: "value" })
  if (
    textAt(tree, "storage", "database", "kind") === "postgres" &&
    textAt(tree, "storage", "database", "postgres", "url_env") === undefined
  )
    missing(["storage", "database", "postgres", "url_env"], "storage.database.kind postgres")
  const users = redisUsers(tree)
  if (users.length > 0 && recordAt(tree, "storage", "cache", "redis")["url_env"] === undefined)
    missing(["storage", "cache", "redis", "url_env"], users.map((field) => `${field} redis`).join(", "))
  if (
    textAt(tree, "llm", "model_catalog", "cache", "backend") === "redis" &&
    textAt(tree, "storage", "cache", "kind") !== "redis"
  )
    error({
      path: ["llm", "model_catalog", "cache", "backend"],
      reason: { _tag: "RedisNeedsCache" },
      at: "value"
    })
  if (textAt(tree, "storage", "object", "kind") === "s3") {
    const s3 = recordAt(tree, "storage", "object", "s3")
    const who = "storage.object.kind s3"
    for (const key of ["bucket", "access_key_id_env", "secret_access_key_env"])
      if (s3[key] === undefined) missing(["storage", "object", "s3", key], who)
    if (s3["endpoint_url_env"] === undefined && s3["region_env"] === undefined)
      missing(["storage", "object", "s3", "endpoint_url_env"], who, {
        first: "endpoint_url_env",
        other: "region_env"
      })
  }
  if (textAt(tree, "queue", "kind") === "nats" && variable(env, "SVC_NATS_URL") === undefined)
    warning({
      path: ["queue", "kind"],
      reason: { _tag: "NatsWithoutConnection" },
      at: "value"
    })
  const hash = recordAt(tree, "admin")["password_hash"]
  if (Redacted.isRedacted(hash) && !/^sha256:[0-9a-f]{64}$/i.test(String(Redacted.value(hash))))
    error({
      path: ["admin", "password_hash"],
      reason: { _tag: "HashExpected" },
      at: "value"
    })
}
