/**
 * Tables of projects and of the statistics of ended runs, which remain when the runs are removed; of the ledger (Ledger); and of the model
 * catalog. `projects.host_id` is the id of the repository at its host, which stays when it is renamed. `rollups` holds sums per instance, team, workspace, project or model (`scope`, `subject`) and hour, day or all time (`grain`, `start_at`);
 * `rollup_durations` holds how many of their durations (`measure`: of runs, or until their first comments) are in each slot (domain/DurationHistogram.ts). `projects.team` is that of the newest run. `ledger_accounts.committed` is the sum of
 * spent and reserved amounts, in billionths of a US dollar; a reservation holds its estimate until it is settled with the real amount.
 */
import type { Statements } from "./Dialect.ts"

const counts = [
  ["runs_succeeded", "runs_failed", "runs_timeout", "runs_cancelled", "runs_skipped", "runs_partial"],
  ["problems_info", "problems_low", "problems_medium", "problems_high", "problems_critical", "issues_created"],
  ["files", "lines", "requests", "input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"],
  ["cost_nanos", "runs_priced", "runs_unpriced", "duration_ms", "duration_runs"],
  ["findings", "findings_fixed", "findings_dismissed", "findings_replied"],
  ["findings_partly", "findings_withdrawn", "findings_moved_away", "findings_open_at_merge"]
].flat()

export const statistics: Statements = () => [
  `CREATE TABLE projects (
    id TEXT PRIMARY KEY NOT NULL,
    workspace TEXT NOT NULL,
    trigger_name TEXT NOT NULL,
    repository TEXT NOT NULL,
    name TEXT NOT NULL,
    host_id BIGINT,
    team TEXT,
    created_at BIGINT NOT NULL,
    last_run_at BIGINT NOT NULL,
    deleted_at BIGINT,
    deleted_by TEXT
  )`,
  "CREATE UNIQUE INDEX projects_key ON projects (workspace, trigger_name, repository)",
  "CREATE INDEX projects_recent ON projects (last_run_at)",
  "CREATE INDEX projects_repository ON projects (repository, id)",
  "CREATE INDEX projects_host ON projects (host_id)",
  `CREATE TABLE rollups (
    scope TEXT NOT NULL,
    grain TEXT NOT NULL,
    start_at BIGINT NOT NULL,
    subject TEXT NOT NULL,
    ${counts.map((name) => `${name} BIGINT NOT NULL`).join(", ")},
    PRIMARY KEY (scope, grain, start_at, subject)
  )`,
  "CREATE INDEX rollups_subject ON rollups (scope, subject)",
  `CREATE TABLE rollup_durations (
    scope TEXT NOT NULL,
    grain TEXT NOT NULL,
    start_at BIGINT NOT NULL,
    subject TEXT NOT NULL,
    measure TEXT NOT NULL,
    slot INTEGER NOT NULL,
    runs BIGINT NOT NULL,
    PRIMARY KEY (scope, grain, start_at, subject, measure, slot)
  )`,
  "CREATE INDEX rollup_durations_subject ON rollup_durations (scope, subject)",

  "CREATE TABLE ledger_accounts (id TEXT PRIMARY KEY NOT NULL, committed BIGINT NOT NULL, updated_at BIGINT NOT NULL)",
  "CREATE INDEX ledger_accounts_updated ON ledger_accounts (updated_at)",
  // `author_account` is null without an author, `team_account` without a team.
  `CREATE TABLE ledger_reservations (
    id TEXT PRIMARY KEY NOT NULL,
    run_account TEXT NOT NULL,
    day_account TEXT NOT NULL,
    author_account TEXT,
    team_account TEXT,
    amount BIGINT NOT NULL,
    status TEXT NOT NULL,
    owner TEXT NOT NULL,
    reserved_at BIGINT NOT NULL
  )`,
  "CREATE INDEX ledger_reservations_status ON ledger_reservations (status, reserved_at)",
  // A cache of the catalog document.
  "CREATE TABLE catalog_models (id TEXT PRIMARY KEY NOT NULL, record TEXT NOT NULL, written_at BIGINT NOT NULL)",
  "CREATE TABLE catalog_state (id TEXT PRIMARY KEY NOT NULL, source TEXT NOT NULL, etag TEXT, checked_at BIGINT NOT NULL)"
]
