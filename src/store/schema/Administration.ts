/**
 * Tables of administration: sessions, tokens of programs, failed logins, actions of administrators, saved views, times at which the nodes of a cluster were last alive, and the
 * configuration: documents that work is pinned to (Configurations, without any secret in clear) and the database source (revisions with results
 * of operations, drafts, audit records, activations of nodes, the latest sealing of credentials with another key). `admin_sessions.digest` is
 * the SHA-256 of a session's token, which is stored nowhere; so is `service_tokens.digest` of a token of a program; `login_attempts.subject` is a client or the digest of a user name.
 */
import type { Statements } from "./Dialect.ts"

export const administration: Statements = () => [
  `CREATE TABLE admin_sessions (
    digest TEXT PRIMARY KEY NOT NULL, id TEXT NOT NULL, purpose TEXT NOT NULL, username TEXT NOT NULL, role TEXT NOT NULL, origin TEXT,
    created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL)`,
  "CREATE INDEX admin_sessions_expires ON admin_sessions (expires_at)",
  `CREATE TABLE service_tokens (
    id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL, scopes TEXT NOT NULL, repositories TEXT NOT NULL,
    role TEXT, created_by TEXT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, revoked_at BIGINT, last_used_at BIGINT)`,
  "CREATE UNIQUE INDEX service_tokens_digest ON service_tokens (digest)",
  "CREATE UNIQUE INDEX service_tokens_name ON service_tokens (name) WHERE revoked_at IS NULL",
  "CREATE TABLE login_attempts (id TEXT NOT NULL, subject TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (id, subject))",
  "CREATE INDEX login_attempts_subject ON login_attempts (subject, at)",
  "CREATE INDEX login_attempts_at ON login_attempts (at)",
  `CREATE TABLE admin_actions (
    id TEXT PRIMARY KEY NOT NULL, at BIGINT NOT NULL, actor TEXT NOT NULL, address TEXT NOT NULL, action TEXT NOT NULL,
    target TEXT NOT NULL, reason TEXT, outcome TEXT NOT NULL)`,
  `CREATE TABLE saved_views (
    id TEXT PRIMARY KEY NOT NULL, owner TEXT NOT NULL, page TEXT NOT NULL, name TEXT NOT NULL, query TEXT NOT NULL, saved_at BIGINT NOT NULL)`,
  "CREATE UNIQUE INDEX saved_views_name ON saved_views (owner, page, name)",
  // `owner` is the process (NodeIdentity).
  "CREATE TABLE heartbeats (owner TEXT NOT NULL PRIMARY KEY, seen_at BIGINT NOT NULL)",

  "CREATE TABLE configurations (hash TEXT PRIMARY KEY NOT NULL, document TEXT NOT NULL, kept_at BIGINT NOT NULL)",
  "CREATE INDEX configurations_age ON configurations (kept_at)",
  `CREATE TABLE config_revisions (
    namespace TEXT NOT NULL, number BIGINT NOT NULL, hash TEXT NOT NULL, document TEXT NOT NULL, facts TEXT NOT NULL,
    diff TEXT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (namespace, number))`,
  `CREATE TABLE config_operations (
    namespace TEXT NOT NULL, operation_id TEXT NOT NULL, operation TEXT NOT NULL, revision BIGINT,
    created_at BIGINT NOT NULL, PRIMARY KEY (namespace, operation_id))`,
  "CREATE INDEX config_operations_age ON config_operations (namespace, created_at)",
  `CREATE TABLE config_drafts (
    namespace TEXT NOT NULL, id TEXT NOT NULL, owner TEXT NOT NULL, version BIGINT NOT NULL, draft TEXT NOT NULL,
    PRIMARY KEY (namespace, id))`,
  `CREATE TABLE config_audit (
    namespace TEXT NOT NULL, id TEXT NOT NULL, created_at BIGINT NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (namespace, id))`,
  `CREATE TABLE config_activations (
    namespace TEXT NOT NULL, node TEXT NOT NULL, reported_at BIGINT NOT NULL, activation TEXT NOT NULL,
    PRIMARY KEY (namespace, node))`,
  "CREATE TABLE config_reseals (namespace TEXT PRIMARY KEY NOT NULL, version BIGINT NOT NULL, job TEXT NOT NULL)"
]
