/**
 * Tables of catch-up (CatchUps): the last look at what a trigger missed and a requested one, and what was seen of each scope. `tips` is JSON.
 */
import type { Statements } from "./Dialect.ts"

export const catchUps: Statements = () => [
  `CREATE TABLE catch_ups (
    trigger_name TEXT PRIMARY KEY NOT NULL,
    requested_at BIGINT,
    requested_for TEXT,
    looked_at BIGINT,
    occasion TEXT,
    found_at BIGINT,
    found BIGINT,
    found_since BIGINT,
    skipped BIGINT,
    failure TEXT
  )`,
  `CREATE TABLE catch_up_marks (
    trigger_name TEXT NOT NULL,
    scope TEXT NOT NULL,
    first BIGINT NOT NULL,
    mark BIGINT NOT NULL,
    tips TEXT,
    PRIMARY KEY (trigger_name, scope)
  )`
]
