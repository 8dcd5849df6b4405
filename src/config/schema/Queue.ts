/** Schema of `queue`: storage of waiting work, concurrency, and retries. */
import { Schema } from "effect"
import type { Resolved } from "../Field.ts"
import { defaulted, group, nodeFile, optional } from "../Field.ts"
import { choice, Flag, int, map, named, PositiveInt, PositiveNumber, Text } from "../Scalars.ts"

export const QueueConfig = Schema.Struct({
  kind: defaulted(
    named("queueKind"),
    "memory",
    "Queue backend. `redis` uses the connection of storage.cache.redis; `nats` without a NATS connection warns and falls back to memory."
  ),
  sqlite: group(
    {
      path: defaulted(Text, "data/queue.db", "Path of the queue's database.", { fileOnly: nodeFile }),
      lock_ttl_seconds: defaulted(PositiveInt, 300, "Seconds after which the job of a lost worker is released.")
    },
    "SQLite queue."
  ),
  workers: group(
    {
      concurrency: defaulted(
        PositiveInt,
        4,
        "Reviews at the same time per executor node. Those that wait for a model do not count."
      ),
      per_workspace_concurrency: defaulted(
        PositiveInt,
        1,
        "Reviews at the same time per workspace, in the whole cluster. Those that wait for a model do not count."
      ),
      max_waiting_for_model: defaulted(
        int(0, 1000),
        16,
        "Maximum number of reviews per executor node that wait for a model, in addition to concurrency; each holds its change in memory. A workspace has at most half of them in the whole cluster. 0: they count towards concurrency."
      ),
      lock_ttl_seconds: defaulted(PositiveInt, 1800, "Lock expiry.", {
        reserved: "lock expiry is set by the backend (queue.sqlite.lock_ttl_seconds)"
      })
    },
    "Workers."
  ),
  rate_limit: group(
    { per_provider_rps: optional(map(PositiveNumber), "Requests per second per provider id, in the whole cluster.") },
    "Rate limits."
  ),
  retry: group(
    {
      attempts: defaulted(PositiveInt, 3, "Attempts of a run.", { aliases: ["max_attempts"] }),
      backoff: group(
        {
          kind: defaulted(choice("exponential", "linear", "constant"), "exponential", "How the wait grows."),
          base_ms: defaulted(int(0), 5000, "First wait in milliseconds. At most max_ms."),
          max_ms: defaulted(int(0), 60_000, "Longest wait in milliseconds."),
          jitter: defaulted(Flag, true, "Randomise each wait.")
        },
        "Waiting between attempts."
      )
    },
    "Retry of runs."
  ),
  dead_letter: group(
    {
      enabled: optional(Flag, "Keep dead entries aside.", { reserved: "not consumed at runtime" }),
      max_age_hours: optional(PositiveInt, "Hours a dead entry is kept.", { reserved: "not consumed at runtime" })
    },
    "Dead letters."
  ),
  limits: group(
    {
      per_workspace: defaulted(
        PositiveInt,
        10_000,
        "Maximum number of waiting reviews per workspace, and of waiting reports of Subversion and Perforce hooks per API key."
      ),
      total: defaulted(PositiveInt, 1_000_000, "Most waiting entries in all.")
    },
    "Bounds of the queue."
  )
})
export type QueueConfig = Resolved<typeof QueueConfig>
