/**
 * Tables of runs: their records (Runs), changes whose automatic reviews are paused, verdicts of removed ones (HeadVerdicts), logs (RunLogs), passes of agent CLIs (AgentPasses); and of findings (Outcomes, ProjectRules, Lessons). `runs.change` and `runs.analysis` are JSON; `token` is the newest fencing token that has written the run. `runs.newest` marks the
 * newest run of each target, which lists of changes show: triggers keep it, and each filter of a list has an index of the marked ones, because
 * of a million runs most are older.
 */
import type { Dialect, Statements } from "./Dialect.ts"

const marks: Readonly<Record<Dialect, ReadonlyArray<string>>> = {
  sqlite: [
    `CREATE TRIGGER runs_inserted AFTER INSERT ON runs BEGIN
      UPDATE runs SET newest = 0 WHERE target_key = NEW.target_key AND newest = 1 AND id < NEW.id;
      UPDATE runs SET newest = 1 WHERE id = NEW.id
        AND NOT EXISTS (SELECT 1 FROM runs later WHERE later.target_key = NEW.target_key AND later.id > NEW.id);
    END`,
    `CREATE TRIGGER runs_deleted AFTER DELETE ON runs WHEN OLD.newest = 1 BEGIN
      UPDATE runs SET newest = 1 WHERE id = (SELECT MAX(id) FROM runs WHERE target_key = OLD.target_key);
    END`
  ],
  // The lock keeps two nodes that insert runs of one target from marking both.
  postgres: [
    `CREATE FUNCTION runs_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('runs-newest:' || NEW.target_key, 0));
      UPDATE runs SET newest = 0 WHERE target_key = NEW.target_key AND newest = 1 AND id < NEW.id;
      UPDATE runs SET newest = 1 WHERE id = NEW.id
        AND NOT EXISTS (SELECT 1 FROM runs later WHERE later.target_key = NEW.target_key AND later.id > NEW.id);
      RETURN NULL;
    END $$`,
    `CREATE FUNCTION runs_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE runs SET newest = 1 WHERE id = (SELECT MAX(id) FROM runs WHERE target_key = OLD.target_key);
      RETURN NULL;
    END $$`,
    "CREATE TRIGGER runs_inserted AFTER INSERT ON runs FOR EACH ROW EXECUTE FUNCTION runs_inserted()",
    "CREATE TRIGGER runs_deleted AFTER DELETE ON runs FOR EACH ROW WHEN (OLD.newest = 1) EXECUTE FUNCTION runs_deleted()"
  ]
}

/** Indexes of all runs by name and columns. */
const indexes = {
  entry: "entry_id",
  target: "target_key, head, id",
  newest: "target_key, id",
  workspace: "workspace, id",
  status: "status, id",
  workspace_status: "workspace, status, id",
  repo: "repo, id",
  trigger: "trigger_name, id",
  duration: "(COALESCE(finished_at - started_at, -1)), id",
  workspace_duration: "workspace, (COALESCE(finished_at - started_at, -1)), id",
  cost: "(COALESCE(cost_nanos, -1)), id",
  workspace_cost: "workspace, (COALESCE(cost_nanos, -1)), id",
  // Searches read the index only.
  search: "id, search"
}

/** Indexes of the newest run of each target. */
const changes = {
  changes: "id",
  changes_workspace: "workspace, id",
  changes_workspace_status: "workspace, status, id",
  changes_status: "status, id",
  changes_repo: "repo, id",
  changes_number: "number, id",
  changes_trigger: "trigger_name, id",
  changes_search: "id, search"
}

export const runs: Statements = (dialect) => [
  `CREATE TABLE runs (
    id TEXT PRIMARY KEY NOT NULL,
    entry_id TEXT NOT NULL,
    token BIGINT NOT NULL,
    workspace TEXT NOT NULL,
    team TEXT,
    target_key TEXT NOT NULL,
    change TEXT NOT NULL,
    head TEXT NOT NULL,
    base TEXT,
    status TEXT NOT NULL,
    reason TEXT,
    partial INTEGER NOT NULL,
    config_hash TEXT NOT NULL,
    analysis TEXT,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT,
    waiting_since BIGINT,
    waiting_until BIGINT,
    repo TEXT,
    number BIGINT,
    trigger_name TEXT,
    newest INTEGER NOT NULL DEFAULT 0,
    cost_nanos BIGINT,
    base_ref TEXT,
    verdict TEXT,
    search TEXT
  )`,
  ...Object.entries(indexes).map(([name, columns]) => `CREATE INDEX runs_${name} ON runs (${columns})`),
  "CREATE INDEX runs_number ON runs (number, id) WHERE number IS NOT NULL",
  "CREATE INDEX runs_verdicts ON runs (head) WHERE verdict IS NOT NULL",
  ...Object.entries(changes).map(
    ([name, columns]) => `CREATE INDEX runs_${name} ON runs (${columns}) WHERE newest = 1`
  ),
  ...marks[dialect],

  `CREATE TABLE head_verdicts (
    head TEXT NOT NULL,
    repo TEXT NOT NULL,
    target_key TEXT NOT NULL,
    base_ref TEXT NOT NULL,
    run_id TEXT NOT NULL,
    trigger_name TEXT NOT NULL,
    number BIGINT,
    verdict TEXT NOT NULL,
    finished_at BIGINT NOT NULL,
    PRIMARY KEY (head, repo, target_key, base_ref)
  )`,
  "CREATE INDEX head_verdicts_age ON head_verdicts (finished_at)",

  "CREATE TABLE paused_changes (target_key TEXT PRIMARY KEY NOT NULL, person TEXT NOT NULL, paused_at BIGINT NOT NULL)",

  `CREATE TABLE run_logs (
    id TEXT PRIMARY KEY NOT NULL, run_id TEXT NOT NULL, written_at BIGINT NOT NULL, bytes BIGINT NOT NULL,
    lines TEXT NOT NULL, spans TEXT)`,
  "CREATE INDEX run_logs_run ON run_logs (run_id, id)",
  "CREATE INDEX run_logs_age ON run_logs (written_at)",

  `CREATE TABLE agent_passes (
    id TEXT PRIMARY KEY, run_id TEXT NOT NULL, pass TEXT NOT NULL, written_at BIGINT NOT NULL, body TEXT NOT NULL)`,
  "CREATE INDEX agent_passes_run ON agent_passes (run_id, pass, id)",
  "CREATE INDEX agent_passes_age ON agent_passes (written_at)"
]

/** Outcomes of published findings (domain/FindingOutcome.ts), one row per pull request and finding; lessons, one per repository and finding. */
export const findings: Statements = () => [
  `CREATE TABLE finding_outcomes (
    target_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    repository TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    category TEXT NOT NULL,
    severity TEXT NOT NULL,
    path TEXT NOT NULL,
    title TEXT NOT NULL,
    anchor TEXT,
    code TEXT,
    evidence TEXT,
    rule TEXT,
    private TEXT,
    head TEXT NOT NULL,
    outcome TEXT NOT NULL,
    replied BIGINT NOT NULL,
    dismissed_by TEXT,
    settled TEXT, settled_at BIGINT,
    merged_by TEXT,
    settled_head TEXT,
    base_ref TEXT, shelf BIGINT,
    later TEXT,
    restricted BIGINT NOT NULL DEFAULT 0,
    forgotten BIGINT NOT NULL DEFAULT 0,
    project TEXT NOT NULL,
    team TEXT,
    found_in TEXT NOT NULL,
    found_at BIGINT NOT NULL,
    decided_in TEXT NOT NULL,
    decided_at BIGINT NOT NULL,
    PRIMARY KEY (target_key, fingerprint)
  )`,
  "CREATE INDEX finding_outcomes_rates ON finding_outcomes (repository, agent, model, outcome)",
  "CREATE INDEX finding_outcomes_judged ON finding_outcomes (repository, decided_at)",
  // Counts by group read the index only.
  "CREATE INDEX finding_outcomes_found ON finding_outcomes (found_at, outcome, category, severity, rule, repository, project, team)",
  "CREATE INDEX finding_outcomes_age ON finding_outcomes (decided_at)",
  "CREATE INDEX finding_outcomes_later ON finding_outcomes (settled_at) WHERE settled = 'merged' AND later IS NULL",
  "CREATE INDEX finding_outcomes_shelves ON finding_outcomes (shelf) WHERE shelf IS NOT NULL AND settled IS NULL",
  `CREATE TABLE settlements (
    target_key TEXT PRIMARY KEY NOT NULL, event_id TEXT NOT NULL, owner TEXT NOT NULL, claimed_until BIGINT NOT NULL,
    attempts BIGINT NOT NULL)`,
  "CREATE INDEX finding_outcomes_rule ON finding_outcomes (repository, rule) WHERE rule IS NOT NULL",

  `CREATE TABLE project_rules (
    repository TEXT NOT NULL,
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    severity TEXT NOT NULL,
    owner TEXT,
    floor DOUBLE PRECISION,
    used BIGINT NOT NULL,
    first_used_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    muted_at BIGINT,
    PRIMARY KEY (repository, id)
  )`,
  "CREATE INDEX project_rules_age ON project_rules (last_used_at)",
  "CREATE INDEX project_rules_muted ON project_rules (muted_at) WHERE muted_at IS NOT NULL",

  `CREATE TABLE lessons (
    repository TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    verdict TEXT NOT NULL,
    category TEXT NOT NULL,
    severity TEXT NOT NULL,
    path TEXT NOT NULL,
    title TEXT NOT NULL,
    quote TEXT NOT NULL,
    size BIGINT NOT NULL,
    learned_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (repository, fingerprint)
  )`,
  "CREATE INDEX lessons_recall ON lessons (repository, learned_at)",
  "CREATE INDEX lessons_expires ON lessons (expires_at)"
]
