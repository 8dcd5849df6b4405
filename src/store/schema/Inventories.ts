/**
 * Tables of the inventory (Inventories): the last check of each trigger and a requested one, and the state of the webhook of each repository, or
 * of a wider one. `problem` is JSON.
 */
import type { Statements } from "./Dialect.ts"

export const inventories: Statements = () => [
  `CREATE TABLE inventories (
    trigger_name TEXT PRIMARY KEY NOT NULL,
    requested_at BIGINT,
    changed_at BIGINT,
    checked_at BIGINT,
    repositories BIGINT,
    served BIGINT,
    created BIGINT,
    repaired BIGINT,
    failure TEXT,
    token BIGINT,
    held_by TEXT,
    held_until BIGINT
  )`,
  `CREATE TABLE inventory_hooks (
    trigger_name TEXT NOT NULL,
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    problem TEXT,
    hook_id TEXT,
    secret_digest TEXT,
    wanted TEXT NOT NULL,
    broken_since BIGINT,
    checked_at BIGINT NOT NULL,
    PRIMARY KEY (trigger_name, scope)
  )`
]
