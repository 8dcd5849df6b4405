/** Finds out after which statements a SQLite connection has committed a change that is not synced yet. */
import type { DatabaseSync, StatementSync } from "node:sqlite"

type StatementKind = "read" | "counted" | "control" | "rollback" | "other"

const kinds: Readonly<Record<string, StatementKind>> = {
  SELECT: "read",
  VALUES: "read",
  EXPLAIN: "read",
  INSERT: "counted",
  UPDATE: "counted",
  DELETE: "counted",
  REPLACE: "counted",
  WITH: "counted",
  BEGIN: "control",
  COMMIT: "control",
  SAVEPOINT: "control",
  RELEASE: "control",
  ROLLBACK: "rollback"
}

/** Returns the kind by the first word. A statement without a known one, such as CREATE, may change anything. */
export const statementKind = (sql: string): StatementKind =>
  kinds[/^\s*([a-z]+)/i.exec(sql)?.[1]?.toUpperCase() ?? ""] ?? "other"

export class SqliteChanges {
  readonly #db: DatabaseSync
  readonly #totalChanges: StatementSync
  #total: unknown
  /** Whether a statement was executed whose changes SQLite does not count. */
  #uncounted = false

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#totalChanges = db.prepare("SELECT total_changes() AS total")
    this.#total = this.#readTotal()
  }

  /** Returns, after each statement that is not a `read`, whether something was committed since the last call. */
  takeCommitted(kind: StatementKind): boolean {
    if (kind === "other") this.#uncounted = true
    if (!this.#db.isOpen || this.#db.isTransaction) return false
    const total = this.#readTotal()
    const changed = this.#uncounted || total !== this.#total
    this.#total = total
    this.#uncounted = false
    return changed && kind !== "rollback"
  }

  #readTotal(): unknown {
    return this.#totalChanges.get()?.["total"]
  }
}
