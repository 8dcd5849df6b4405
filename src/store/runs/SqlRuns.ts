/**
 * Stores runs in the table `runs`. Every write is a compare-and-set in one UPDATE: the allowed previous status (domain/Run.ts) and, for
 * workers, the token are in its WHERE clause, and the number of returned rows is the result.
 */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import { afterEveryLease, noLease } from "../../domain/FencingToken.ts"
import type { LeaseToken } from "../../domain/FencingToken.ts"
import { endVerdict, unpublishedVerdict } from "../../domain/HeadVerdict.ts"
import { newId } from "../../domain/Ids.ts"
import { toNanos } from "../../domain/Money.ts"
import { RunStatus, runLifecycle } from "../../domain/Run.ts"
import { searchText } from "../../domain/SearchText.ts"
import * as Field from "../../domain/Field.ts"
import { record } from "../../domain/Record.ts"
import { deleteInSteps } from "../../database/sql/DeleteInSteps.ts"
import { insertPublications } from "../publications/InsertPublications.ts"
import { forUpdate, lockNames } from "../../database/RowLocks.ts"
import { countEndedRun, countRuling } from "./CountRun.ts"
import type { RemovedRun } from "./HeadVerdicts.ts"
import { headVerdicts, keepVerdicts, pruneVerdicts, reviewed, reviewedHeads } from "./HeadVerdicts.ts"
import { list, newest, replies, search } from "./RunQueries.ts"
import { newRunRow, RunRow } from "./RunRow.ts"
import { Run, Runs } from "../Runs.ts"
import type { BegunRun } from "../Runs.ts"
import { pruneRules } from "../ProjectRules.ts"
import { removeRunLogs } from "../RunLogs.ts"
import { pruneOutcomes } from "./SqlOutcomes.ts"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"

const endedStatuses = RunStatus.literals.filter(runLifecycle.isTerminal)

/** Returns the first run that a query finds. */
const first = (operation: string, rows: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>) =>
  unavailable(operation)(Effect.map(selectAs(Run, operation, rows), ([run]): Run | undefined => run))

const insert = (
  sql: SqlClient.SqlClient,
  run: Parameters<Runs["Service"]["begin"]>[0],
  status: "queued" | "preparing",
  token: LeaseToken,
  now: number
) => sql`INSERT INTO runs ${sql.insert(newRunRow({ ...run, id: newId() }, status, token, now)).returning("*")}`

const open = (sql: SqlClient.SqlClient): Runs["Service"]["open"] =>
  Effect.fnUntraced(
    function* (run, token, now) {
      yield* lockNames(sql, [`runs:${run.entryId}`])
      const earlier = yield* selectAs(
        RunRow,
        "runs.open",
        sql`SELECT * FROM runs WHERE entry_id = ${run.entryId} ORDER BY id DESC`
      )
      if (earlier.some((row) => row.token > token)) return undefined
      const unfinished = earlier.find((row) => !runLifecycle.isTerminal(row.status))
      if (unfinished !== undefined && unfinished.token !== noLease) return unfinished
      const rows =
        unfinished === undefined
          ? yield* insert(sql, run, "queued", token, now)
          : yield* sql`UPDATE runs SET token = ${token}, created_at = ${now} WHERE id = ${unfinished.id} RETURNING *`
      const [opened] = yield* selectAs(Run, "runs.open", Effect.succeed(rows))
      return opened
    },
    sql.withTransaction,
    unavailable("runs.open")
  )

const openUnreviewed = (sql: SqlClient.SqlClient): Runs["Service"]["openUnreviewed"] =>
  Effect.fnUntraced(
    function* (run, plan, now) {
      yield* lockNames(sql, [`runs:${run.entryId}`])
      const [last] = yield* selectAs(
        Run,
        "runs.openUnreviewed",
        sql`SELECT * FROM runs WHERE entry_id = ${run.entryId} ORDER BY id DESC LIMIT 1`
      )
      if (last !== undefined && (last.status !== "queued" || last.verdict !== undefined)) return undefined
      const rows =
        last === undefined
          ? yield* insert(sql, run, "queued", noLease, now)
          : yield* sql`UPDATE runs SET verdict = ${Run.toColumn("verdict", run.verdict)} WHERE id = ${last.id} RETURNING *`
      const [opened] = yield* selectAs(Run, "runs.openUnreviewed", Effect.succeed(rows))
      if (opened !== undefined) yield* insertPublications(sql, plan(opened.id), now)
      return opened
    },
    sql.withTransaction,
    unavailable("runs.openUnreviewed")
  )

const replacePending = (sql: SqlClient.SqlClient): Runs["Service"]["replacePending"] =>
  Effect.fnUntraced(
    function* (runId, pending, verdict, shown, now) {
      const replaced = yield* sql`
        UPDATE runs SET verdict = ${Run.toColumn("verdict", verdict)}
        WHERE id = ${runId} AND verdict = ${Run.toColumn("verdict", pending)}
          AND status IN ('queued', 'preparing', 'analyzing') RETURNING id`
      if (replaced.length === 0) return false
      yield* insertPublications(sql, [shown], now)
      return true
    },
    sql.withTransaction,
    unavailable("runs.replacePending")
  )

/** Returns whether a run has a verdict about another head or base branch, which a run that begins now does not replace. */
const isElsewhere = (row: Run, run: BegunRun): boolean =>
  row.verdict !== undefined && (row.head !== run.head || row.change.baseRef !== run.change.baseRef)

const begin = (sql: SqlClient.SqlClient): Runs["Service"]["begin"] => {
  const endRun = end(sql)
  return Effect.fnUntraced(
    function* (run, token, now) {
      yield* lockNames(sql, [`runs:${run.entryId}`])
      const earlier = yield* selectAs(
        RunRow,
        "runs.begin",
        sql`SELECT * FROM runs WHERE entry_id = ${run.entryId} ORDER BY id`
      )
      if (earlier.some((row) => row.token > token)) return undefined
      const queued = earlier.find((row) => row.status === "queued")
      const isReplaced = queued !== undefined && isElsewhere(queued, run)
      if (isReplaced) yield* endRun(queued.id, afterEveryLease, "skipped", now, { _tag: "SupersededRun" })
      const unfinished =
        earlier.find(
          (row) => row.head === run.head && row.status !== "queued" && !runLifecycle.isTerminal(row.status)
        ) ?? (isReplaced ? undefined : queued)
      const rows =
        unfinished === undefined
          ? yield* insert(sql, run, "preparing", token, now)
          : yield* sql`UPDATE runs SET token = ${token}, status = ${resumed(unfinished.status)}, workspace = ${run.workspace}, team = ${run.team ?? null}, head = ${run.head},
              base = ${run.base ?? null}, base_ref = ${run.change.baseRef ?? null}, change = ${JSON.stringify(run.change)},
              search = ${searchText(run.change, run.workspace, run.head)},
              verdict = ${unfinished.status === "publishing" ? sql`verdict` : Run.toColumn("verdict", run.verdict)}, reason = NULL,
              started_at = COALESCE(started_at, ${now}), waiting_until = NULL
            WHERE id = ${unfinished.id} RETURNING *`
      const [begun] = yield* selectAs(Run, "runs.begin", Effect.succeed(rows))
      return begun
    },
    sql.withTransaction,
    unavailable("runs.begin")
  )
}

const complete = (sql: SqlClient.SqlClient): Runs["Service"]["complete"] =>
  Effect.fnUntraced(
    function* (runId, token, analysis, publications, now, verdict) {
      const { costUsd } = analysis.usage
      const moved = yield* sql`
        UPDATE runs SET status = 'publishing', token = ${token}, analysis = ${Run.toColumn("analysis", analysis)},
          cost_nanos = ${costUsd === undefined ? null : toNanos(costUsd)}, verdict = ${Run.toColumn("verdict", verdict)}
        WHERE id = ${runId} AND token <= ${token} AND ${sql.in("status", runLifecycle.listSources("publishing"))} RETURNING id`
      if (moved.length === 0) return false
      yield* insertPublications(sql, publications, now)
      return true
    },
    sql.withTransaction,
    unavailable("runs.complete")
  )

const wait =
  (sql: SqlClient.SqlClient): Runs["Service"]["wait"] =>
  (runId, token, { since, until, reason }) =>
    sql`
      UPDATE runs SET status = 'queued', token = ${token}, reason = ${Run.toColumn("reason", reason)},
        waiting_since = ${since}, waiting_until = ${until}
      WHERE id = ${runId} AND token <= ${token} AND ${sql.in("status", runLifecycle.listSources("queued"))} RETURNING id`.pipe(
      Effect.map((rows) => rows.length > 0),
      unavailable("runs.wait")
    )

const move = (sql: SqlClient.SqlClient): Runs["Service"]["move"] => {
  const endRun = end(sql)
  return (runId, token, to, now, reason, verdict) => {
    if (runLifecycle.isTerminal(to)) return endRun(runId, token, to, now, reason, verdict)
    // Only `complete` enters publishing, together with the publications.
    if (to === "publishing") return Effect.succeed(false)
    return sql`
      UPDATE runs
      SET status = ${to}, token = ${token}, reason = ${Run.toColumn("reason", reason)}, finished_at = NULL,
        waiting_until = NULL, waiting_since = ${to === "preparing" ? sql`waiting_since` : null}
      WHERE id = ${runId} AND token <= ${token} AND ${sql.in("status", runLifecycle.listSources(to))} RETURNING id`.pipe(
      Effect.map((rows) => rows.length > 0),
      unavailable("runs.move")
    )
  }
}

/** Returns the states in which a run may end without its publisher: what was decided before its analysis was stored no longer counts. */
const listUnpublished = (to: RunStatus) => runLifecycle.listSources(to).filter((from) => from !== "publishing")

/** Ends a run that is not published, and adds it to the statistics. */
const end = (sql: SqlClient.SqlClient): Runs["Service"]["move"] =>
  Effect.fnUntraced(
    function* (runId, token, to, now, reason, verdict) {
      const [before] = yield* selectAs(
        Run,
        "runs.move",
        sql`
          SELECT * FROM runs
          WHERE id = ${runId} AND token <= ${token} AND ${sql.in("status", listUnpublished(to))} ${forUpdate(sql)}`
      )
      if (before === undefined) return false
      const [ended] = yield* selectAs(
        Run,
        "runs.move",
        sql`
          UPDATE runs
          SET status = ${to}, token = ${token}, reason = ${Run.toColumn("reason", reason)}, finished_at = ${now}, waiting_until = NULL,
            waiting_since = NULL,
            verdict = ${Run.toColumn("verdict", verdict ?? endVerdict(before.verdict, to, reason))}
          WHERE id = ${runId} RETURNING *`
      )
      if (ended === undefined) return false
      yield* countEndedRun(sql, ended, { mayHaveCalled: before.status === "analyzing", hasOutcomes: false }, now)
      return true
    },
    sql.withTransaction,
    unavailable("runs.move")
  )

/** Returns the verdict of a review that could not be published. */
const unpublished = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, runId: string) {
  const [run] = yield* selectAs(Run, "runs.settle", sql`SELECT * FROM runs WHERE id = ${runId}`)
  return unpublishedVerdict(run?.verdict)
})

const settle = (sql: SqlClient.SqlClient): Runs["Service"]["settle"] =>
  Effect.fnUntraced(
    function* (runId, to, { partial, reason, by }, now) {
      const verdict = to === "failed" ? yield* unpublished(sql, runId) : undefined
      const moved = yield* sql`
        UPDATE runs SET status = ${to}, partial = ${partial ? 1 : 0}, reason = ${Run.toColumn("reason", reason)}, finished_at = ${now},
          verdict = ${verdict === undefined ? sql`verdict` : Run.toColumn("verdict", verdict)}
        WHERE id = ${runId} AND status = 'publishing' RETURNING *`
      const [settled] = yield* selectAs(Run, "runs.settle", Effect.succeed(moved))
      if (settled === undefined) return false
      // People have not seen the findings of a review in shadow.
      const hasOutcomes = to === "succeeded" && reason?._tag !== "InShadow"
      yield* countEndedRun(sql, settled, { mayHaveCalled: true, by, hasOutcomes }, now)
      return true
    },
    sql.withTransaction,
    unavailable("runs.settle")
  )

const rule = (sql: SqlClient.SqlClient): Runs["Service"]["rule"] =>
  Effect.fnUntraced(
    function* (runId, token, { analysis, dismissedBy, fingerprint, outcome, publications, verdict }, now) {
      const ruled = yield* sql`
        UPDATE runs SET analysis = ${Run.toColumn("analysis", analysis)},
          verdict = ${verdict === undefined ? sql`verdict` : Run.toColumn("verdict", verdict)}
        WHERE id = ${runId} AND status IN ('publishing', 'succeeded') AND EXISTS (
          SELECT 1 FROM publishers WHERE publishers.target_key = runs.target_key AND publishers.token = ${token})
        RETURNING *`
      const [run] = yield* selectAs(Run, "runs.rule", Effect.succeed(ruled))
      if (run === undefined) return false
      yield* insertPublications(sql, publications, now)
      yield* countRuling(sql, run, { dismissedBy, fingerprint, outcome }, now)
      return true
    },
    sql.withTransaction,
    unavailable("runs.rule")
  )

const get =
  (sql: SqlClient.SqlClient): Runs["Service"]["get"] =>
  (runId) =>
    first("runs.get", sql`SELECT * FROM runs WHERE id = ${runId}`)

const PausedBy = record({ pausedBy: Field.optional(Field.text) })

const findReview = (sql: SqlClient.SqlClient): Runs["Service"]["findReview"] =>
  Effect.fnUntraced(function* (targetKey, head) {
    // One statement for both, because every review executes it.
    const rows = yield* sql<{ readonly id: string | null }>`
      SELECT runs.*, paused_changes.person AS paused_by FROM (SELECT 1 AS one) AS single
      LEFT JOIN paused_changes ON paused_changes.target_key = ${targetKey}
      LEFT JOIN runs ON runs.id = (
        SELECT id FROM runs WHERE target_key = ${targetKey} AND head = ${head} AND status IN ('publishing', 'succeeded')
        ORDER BY id DESC LIMIT 1)`
    const found = rows.filter(({ id }) => id !== null)
    const [earlier] = yield* selectAs(Run, "runs.findReview", Effect.succeed(found))
    const [pause] = yield* selectAs(PausedBy, "runs.findReview", Effect.succeed(rows))
    return { earlier, pausedBy: pause?.pausedBy }
  }, unavailable("runs.findReview"))

const pause =
  (sql: SqlClient.SqlClient): Runs["Service"]["pause"] =>
  (targetKey, person, now) =>
    sql`
      INSERT INTO paused_changes ${sql.insert({ target_key: targetKey, person, paused_at: now })}
      ON CONFLICT (target_key) DO UPDATE SET person = excluded.person, paused_at = excluded.paused_at`.pipe(
      unavailable("runs.pause"),
      Effect.asVoid
    )

const resume =
  (sql: SqlClient.SqlClient): Runs["Service"]["resume"] =>
  (targetKey) =>
    sql`DELETE FROM paused_changes WHERE target_key = ${targetKey}`.pipe(unavailable("runs.resume"), Effect.asVoid)

const latestAnalysis =
  (sql: SqlClient.SqlClient): Runs["Service"]["latestAnalysis"] =>
  (targetKey) =>
    first(
      "runs.latestAnalysis",
      sql`SELECT * FROM runs WHERE target_key = ${targetKey} AND analysis IS NOT NULL ORDER BY id DESC LIMIT 1`
    )

const prune =
  (sql: SqlClient.SqlClient): Runs["Service"]["prune"] =>
  ({ maxCount, before }) =>
    Effect.gen(function* () {
      const removed = yield* deleteInSteps((step) => sql.withTransaction(removeRuns(sql, { maxCount, before, step })))
      yield* deleteInSteps(
        (step) => sql`
          DELETE FROM publications WHERE seq IN (
            SELECT seq FROM publications WHERE status = 'sent' AND updated_at < ${before}
              AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = publications.run_id)
            LIMIT ${step})
          RETURNING seq`
      )
      yield* deleteInSteps(
        (step) => sql`
          DELETE FROM publishers WHERE target_key IN (
            SELECT target_key FROM publishers WHERE updated_at < ${before} LIMIT ${step})
          RETURNING target_key`
      )
      yield* sql`DELETE FROM paused_changes WHERE paused_at < ${before}`
      yield* pruneVerdicts(sql, before)
      yield* pruneOutcomes(sql, before)
      yield* pruneRules(sql, before)
      return removed
    }).pipe(unavailable("runs.prune"))

/**
 * Removes ended runs, with their publications, except the newest sent one of each target, channel and kind: it contains the location of a
 * managed summary, and is only removed by age. A summary does not replace one that has the comments of a review.
 */
const removeRuns = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  keep: { readonly maxCount: number; readonly before: number; readonly step: number }
) {
  const removed = yield* sql<RemovedRun>`
    DELETE FROM runs WHERE id IN (
      SELECT id FROM runs WHERE ${sql.in("status", endedStatuses)}
        AND (COALESCE(started_at, created_at) < ${keep.before}
          OR id <= (SELECT id FROM runs ORDER BY id DESC LIMIT 1 OFFSET ${keep.maxCount}))
      ORDER BY id LIMIT ${keep.step})
    RETURNING id, head, repo, target_key, trigger_name, number, base_ref, verdict, finished_at`
  if (removed.length === 0) return removed
  yield* keepVerdicts(sql, removed)
  yield* removeRunLogs(
    sql,
    removed.map(({ id }) => id)
  )
  yield* sql`
    DELETE FROM publications
    WHERE ${sql.in(
      "run_id",
      removed.map((run) => run.id)
    )} AND (status IN ('failed', 'dropped', 'nothing_to_do', 'quarantined') OR status = 'sent' AND EXISTS (
      SELECT 1 FROM publications newer
      WHERE newer.target_key = publications.target_key AND newer.channel = publications.channel
        AND newer.kind = publications.kind AND newer.status = 'sent' AND newer.seq > publications.seq
        AND (publications.posted IS NULL OR newer.posted IS NOT NULL)))`
  return removed
})

/**
 * Returns the status of a run that continues after its worker was lost: preparing, unless its analysis is stored, which is never repeated.
 */
const resumed = (status: RunStatus): RunStatus => (status === "publishing" ? "publishing" : "preparing")

export const layer: Layer.Layer<Runs, never, SqlClient.SqlClient> = Layer.effect(
  Runs,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Runs.of({
      open: open(sql),
      openUnreviewed: openUnreviewed(sql),
      replacePending: replacePending(sql),
      begin: begin(sql),
      wait: wait(sql),
      move: move(sql),
      complete: complete(sql),
      settle: settle(sql),
      rule: rule(sql),
      get: get(sql),
      findReview: findReview(sql),
      pause: pause(sql),
      resume: resume(sql),
      reviewed: reviewed(sql),
      headVerdicts: headVerdicts(sql),
      reviewedHeads: reviewedHeads(sql),
      latestAnalysis: latestAnalysis(sql),
      list: list(sql),
      newest: newest(sql),
      search: search(sql),
      replies: replies(sql),
      prune: prune(sql)
    })
  )
)
