/** A process is killed between every two statements that end a run: the run has ended and counts, or neither; continuing counts it once. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Client } from "pg"
import { Runs } from "../../src/store/Runs.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { bundledScript, compiledCode } from "../harness/BundledScript.ts"
import { waitUntil } from "../harness/Wait.ts"
import { freshDatabase, postgresAt } from "./Databases.ts"
import type { Database } from "./Databases.ts"
import { settle, token } from "./EndedRuns.ts"
import { folder } from "./Folder.ts"

const script = bundledScript(join(import.meta.dirname, "StatisticsChild.ts"))

/** Runs the child; returns the statements that it began. */
const runChild = async (args: ReadonlyArray<string>, isKilled: boolean): Promise<ReadonlyArray<string>> => {
  const started = ["--disable-warning=ExperimentalWarning", await script, ...args]
  return new Promise((done, failed) => {
    execFile(
      process.execPath,
      started,
      { env: { NODE_COMPILE_CACHE: compiledCode, ...process.env } },
      (error, out, err) => {
        const ended = error === null ? "by itself" : (error.signal ?? `with ${error.code}`)
        if (ended === (isKilled ? "SIGKILL" : "by itself")) done(out.trim().split("\n"))
        else failed(new Error(`the child ended ${ended}: ${err}`))
      }
    )
  })
}

/** Chooses statements to be killed at: all if there may be as many kills, else evenly spread ones and each COMMIT. */
const chooseKills = (statements: ReadonlyArray<string>): ReadonlyArray<number> => {
  const every = Math.max(1, Math.ceil(statements.length / Number(process.env["AICR_TEST_KILLS"] ?? 12)))
  return statements.flatMap((text, at) => (at % every === 0 || text === "COMMIT" ? [at + 1] : []))
}

/** Waits until the server has ended the connections of the killed process, whose COMMIT it may still be executing. */
const untilDisconnected = async (url: string): Promise<void> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const others = `SELECT pid, query FROM pg_stat_activity
      WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`
    await waitUntil(async () => (await client.query(others)).rows.length === 0, {
      describe: () => "the connections of a killed process remain"
    })
  } finally {
    await client.end()
  }
}

/** Reads records and statistics in one statement. */
const compare = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Record<string, number>>`SELECT
    (SELECT COUNT(*) FROM runs WHERE status = 'failed') AS failed,
    (SELECT COUNT(*) FROM runs WHERE status = 'succeeded') AS succeeded,
    (SELECT COUNT(*) FROM finding_outcomes) AS findings,
    (SELECT runs_failed FROM rollups WHERE scope = 'instance' AND grain = 'all') AS counted_failed,
    (SELECT runs_succeeded FROM rollups WHERE scope = 'project' AND grain = 'all') AS counted_succeeded,
    (SELECT findings FROM rollups WHERE scope = 'model' AND grain = 'all') AS counted_findings,
    (SELECT issues_created FROM rollups WHERE scope = 'instance' AND grain = 'day') AS issues,
    (SELECT SUM(runs) FROM rollup_durations WHERE scope = 'instance' AND grain = 'hour') AS durations`
  const {
    counted_failed,
    counted_findings,
    counted_succeeded,
    durations,
    failed = 0,
    findings,
    issues,
    succeeded = 0
  } = row ?? {}
  assert.deepStrictEqual(
    { counted_failed: counted_failed ?? 0, counted_succeeded: counted_succeeded ?? 0, durations: durations ?? 0 },
    { counted_failed: failed, counted_succeeded: succeeded, durations: failed + succeeded }
  )
  assert.deepStrictEqual([counted_findings ?? 0, issues ?? 0], [findings, succeeded])
  return failed + succeeded
})

/** Ends what the killed process left, as its successor does, twice. */
const continueRuns = Effect.gen(function* () {
  const runs = yield* Runs
  for (const { id, status } of yield* runs.list({ limit: 1000 })) {
    if (status === "preparing") assert.isTrue(yield* runs.move(id, token, "failed", 5000))
    if (status === "publishing") assert.isTrue(yield* settle(id, 6000))
    assert.isFalse(yield* runs.move(id, token, "failed", 7000))
    assert.isFalse(yield* settle(id, 7000))
  }
})

const check = (database: Database) =>
  Effect.gen(function* () {
    yield* compare
    yield* continueRuns
    return yield* compare
  }).pipe(Effect.provide(database), Effect.runPromise)

describe("ending a run", () => {
  it("in SQLite", { timeout: 240_000 }, async () => {
    await Effect.gen(function* () {
      const path = join(yield* folder, "svc.db")
      const database = () => Store.layerSqlite({ path, migrate: "auto" })
      const statements = yield* Effect.promise(() => runChild(["sqlite", path], false))
      assert.isAbove(statements.length, 15)
      for (const [index, at] of chooseKills(statements).entries()) {
        yield* Effect.promise(() => runChild(["sqlite", path, String(at)], true))
        // A process that is killed before it publishes its run leaves both.
        assert.strictEqual(yield* Effect.promise(() => check(database())), 4 + index * 2)
      }
    }).pipe(Effect.scoped, Effect.runPromise)
  })

  it("in Postgres, also while the response to its COMMIT is lost", { timeout: 240_000 }, async () => {
    const url = await freshDatabase()
    const statements = await runChild(["postgres", url], false)
    const commits = statements.flatMap((text, at) => (text === "COMMIT" ? [at + 1] : []))
    assert.strictEqual(commits.length, 2)
    const kills = commits.flatMap((at) => [
      [at - 1, "before"],
      [at, "before"],
      [at, "sent"]
    ])
    for (const [index, [at, when]] of kills.entries()) {
      await runChild(["postgres", url, String(at), String(when)], true)
      await untilDisconnected(url)
      assert.strictEqual(await check(postgresAt(url)), 4 + index * 2)
    }
  })
})
