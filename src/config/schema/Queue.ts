/** Schema of `queue`: storage of waiting work, concurrency, and retries. */
import { Schema } from "effect"
import type { Resolved } from "../fields/Field.ts"
import { defaulted, group, nodeFile, optional } from "../fields/Field.ts"
import { choice, Flag, int, map, named, PositiveInt, PositiveNumber, Text } from "../fields/Scalars.ts"

export const QueueConfig = Schema.Struct({
  kind: defaulted(named("queueKind"), "memory", "queue.kind"),
  sqlite: group(
    {
      path: defaulted(Text, "data/queue.db", "queue.sqlite.path", { fileOnly: nodeFile }),
      lock_ttl_seconds: defaulted(PositiveInt, 300, "queue.sqlite.lock_ttl_seconds")
    },
    "queue.sqlite"
  ),
  workers: group(
    {
      concurrency: defaulted(PositiveInt, 4, "queue.workers.concurrency"),
      per_workspace_concurrency: defaulted(PositiveInt, 1, "queue.workers.per_workspace_concurrency"),
      max_waiting_for_model: defaulted(int(0, 1000), 16, "queue.workers.max_waiting_for_model", {
        // A limit that an operator sets holds strictly.
        defaultNextTo: { fields: ["concurrency", "per_workspace_concurrency"], value: 0 }
      }),
      replies: defaulted(int(1, 1000), 4, "queue.workers.replies"),
      lock_ttl_seconds: defaulted(PositiveInt, 1800, "queue.workers.lock_ttl_seconds", {
        reserved: { _tag: "BackendSetsExpiry" }
      })
    },
    "queue.workers"
  ),
  rate_limit: group(
    { per_provider_rps: optional(map(PositiveNumber), "queue.rate_limit.per_provider_rps", { refers: "provider" }) },
    "queue.rate_limit"
  ),
  retry: group(
    {
      attempts: defaulted(PositiveInt, 3, "queue.retry.attempts", { aliases: ["max_attempts"] }),
      backoff: group(
        {
          kind: defaulted(choice("exponential", "linear", "constant"), "exponential", "queue.retry.backoff.kind"),
          base_ms: defaulted(int(0), 5000, "queue.retry.backoff.base_ms"),
          max_ms: defaulted(int(0), 60_000, "queue.retry.backoff.max_ms"),
          jitter: defaulted(Flag, true, "queue.retry.backoff.jitter")
        },
        "queue.retry.backoff"
      )
    },
    "queue.retry"
  ),
  dead_letter: group(
    {
      enabled: optional(Flag, "queue.dead_letter.enabled", { reserved: { _tag: "NotConsumed" } }),
      max_age_hours: optional(PositiveInt, "queue.dead_letter.max_age_hours", { reserved: { _tag: "NotConsumed" } })
    },
    "queue.dead_letter"
  ),
  limits: group(
    {
      per_workspace: defaulted(PositiveInt, 10_000, "queue.limits.per_workspace"),
      total: defaulted(PositiveInt, 1_000_000, "queue.limits.total")
    },
    "queue.limits"
  )
})
export type QueueConfig = Resolved<typeof QueueConfig>
