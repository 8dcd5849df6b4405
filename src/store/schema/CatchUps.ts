/** Tables of catch-up (CatchUps): the last search for each trigger and a requested one, and the progress in each scope. `tips` is JSON. */
import type { Statements } from "./Dialect.ts"

export const catchUps: Statements = () => [
  `CREATE TABLE catch_ups (
    trigger_name TEXT PRIMARY KEY NOT NULL,
    requested_at BIGINT,
    requested_for TEXT,
    searched_at BIGINT,
    occasion TEXT,
    found_at BIGINT,
    found BIGINT,
    found_since BIGINT,
    found_for TEXT,
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
