/**
 * Creates projects and the statistics of ended runs, which remain when the runs are removed. `rollups` holds sums per instance, project or
 * model (`scope`, `subject`) and hour, day or all time (`grain`, `start_at`); `rollup_durations` holds how many of their durations are in each
 * slot (domain/DurationHistogram.ts). `runs.counted` and `finding_outcomes.project` mark what the sums contain: rows of earlier versions are
 * added later.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const counts = [
  ["runs_succeeded", "runs_failed", "runs_timeout", "runs_cancelled", "runs_skipped", "runs_partial"],
  ["problems_info", "problems_low", "problems_medium", "problems_high", "problems_critical", "issues_created"],
  ["files", "lines", "requests", "input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"],
  ["cost_nanos", "runs_priced", "runs_unpriced", "duration_ms", "duration_runs"],
  ["findings", "findings_fixed", "findings_dismissed", "findings_replied"]
].flat()

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE projects (
    id TEXT PRIMARY KEY NOT NULL,
    workspace TEXT NOT NULL,
    trigger_name TEXT NOT NULL,
    repository TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_run_at BIGINT NOT NULL,
    deleted_at BIGINT
  )`
  yield* sql`CREATE UNIQUE INDEX projects_key ON projects (workspace, trigger_name, repository)`
  yield* sql`CREATE INDEX projects_recent ON projects (last_run_at)`
  yield* sql`CREATE TABLE rollups (
    scope TEXT NOT NULL,
    grain TEXT NOT NULL,
    start_at BIGINT NOT NULL,
    subject TEXT NOT NULL,
    ${sql.literal(counts.map((name) => `${name} BIGINT NOT NULL`).join(", "))},
    PRIMARY KEY (scope, grain, start_at, subject)
  )`
  yield* sql`CREATE INDEX rollups_subject ON rollups (scope, subject)`
  yield* sql`CREATE TABLE rollup_durations (
    scope TEXT NOT NULL,
    grain TEXT NOT NULL,
    start_at BIGINT NOT NULL,
    subject TEXT NOT NULL,
    slot INTEGER NOT NULL,
    runs BIGINT NOT NULL,
    PRIMARY KEY (scope, grain, start_at, subject, slot)
  )`
  yield* sql`CREATE INDEX rollup_durations_subject ON rollup_durations (scope, subject)`
  yield* sql`ALTER TABLE runs ADD COLUMN counted INTEGER NOT NULL DEFAULT 0`
  yield* sql`CREATE INDEX runs_uncounted ON runs (status, id) WHERE counted = 0`
  yield* sql`ALTER TABLE finding_outcomes ADD COLUMN project TEXT`
  yield* sql`CREATE INDEX finding_outcomes_uncounted ON finding_outcomes (target_key) WHERE project IS NULL`
})
