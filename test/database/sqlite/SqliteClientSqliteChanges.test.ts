import { DatabaseSync } from "node:sqlite"
import { expect, it } from "vitest"
import { SqliteChanges, statementKind } from "../../../src/database/sqlite/SqliteClient.ts"

const open = () => {
  const db = new DatabaseSync(":memory:")
  db.exec("CREATE TABLE t (n INTEGER UNIQUE); INSERT INTO t VALUES (1)")
  const changes = new SqliteChanges(db)
  return (sql: string): boolean => {
    db.exec(sql)
    const kind = statementKind(sql)
    return kind !== "read" && changes.takeCommitted(kind)
  }
}

it.each([
  ["SELECT n FROM t", false],
  ["VALUES (1)", false],
  ["EXPLAIN DELETE FROM t", false],
  ["  insert into t VALUES (2)", true],
  ["INSERT OR IGNORE INTO t VALUES (1)", false],
  ["INSERT INTO t VALUES (2) RETURNING n", true],
  ["UPDATE t SET n = 2", true],
  ["UPDATE t SET n = 2 WHERE n = 7", false],
  ["DELETE FROM t", true],
  ["REPLACE INTO t VALUES (1)", true],
  ["WITH x AS (SELECT 3 AS n) INSERT INTO t SELECT n FROM x", true],
  ["WITH x AS (SELECT 3 AS n) SELECT n FROM x", false],
  ["CREATE TABLE u (n INTEGER)", true],
  ["ALTER TABLE t RENAME TO u", true],
  ["DROP TABLE t", true],
  ["PRAGMA user_version = 3", true],
  ["/* unknown first word */ INSERT INTO t VALUES (2)", true]
])("finds out whether %j commits something", (sql, committed) => {
  expect(open()(sql)).toBe(committed)
})

it.each([
  ["a commit of changes", ["BEGIN", "INSERT INTO t VALUES (2)", "COMMIT"], [false, false, true]],
  ["a commit of a new table", ["BEGIN", "CREATE TABLE u (n INTEGER)", "COMMIT"], [false, false, true]],
  ["a commit without changes", ["BEGIN", "DELETE FROM t WHERE n = 7", "COMMIT"], [false, false, false]],
  ["the outermost savepoint", ["SAVEPOINT a", "DELETE FROM t", "RELEASE a"], [false, false, true]],
  [
    "an inner savepoint that is rolled back",
    ["BEGIN", "DELETE FROM t", "SAVEPOINT a", "ROLLBACK TO a", "RELEASE a", "COMMIT"],
    [false, false, false, false, false, true]
  ],
  [
    "a rollback, after which nothing waits",
    ["BEGIN", "DROP TABLE t", "ROLLBACK", "DELETE FROM t WHERE n = 7"],
    [false, false, false, false]
  ],
  ["a second statement without changes", ["DELETE FROM t", "DELETE FROM t"], [true, false]]
])("finds out what commits: %s", (_, statements, committed) => {
  const execute = open()
  expect(statements.map(execute)).toEqual(committed)
})

it("finds nothing in a closed database", () => {
  const db = new DatabaseSync(":memory:")
  const changes = new SqliteChanges(db)
  db.close()
  expect(changes.takeCommitted("other")).toBe(false)
})
