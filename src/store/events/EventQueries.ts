/** Selects lists of event records, and counts them. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { foldRepo } from "../../domain/Change.ts"
import { EventDecision } from "../../domain/Decision.ts"
import { firstIdAt } from "../../domain/Ids.ts"
import { corrupt, selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import { direction, idConditions } from "../../database/sql/ListOrder.ts"
import { readEnd, selectFound } from "../../database/sql/SearchTexts.ts"
import { DeliverySource, StoredEvent } from "../Receipts.ts"
import type { EventFilter, Receipts } from "../Receipts.ts"

/** Decodes the rows of an operation; an unreadable one fails it. */
export const select = <E>(operation: string, rows: Effect.Effect<ReadonlyArray<object>, E>) =>
  Effect.flatMap(rows, (found) => Effect.mapError(StoredEvent.decodeRows(found), (error) => corrupt(operation, error)))

const clockMillis = 60_000

const conditions = (sql: SqlClient.SqlClient, filter: Omit<EventFilter, "limit">) =>
  sql.and([
    sql`1 = 1`,
    ...(filter.workspace === undefined ? [] : [sql`workspace = ${filter.workspace}`]),
    ...(filter.decision === undefined ? [] : [sql`decision = ${filter.decision}`]),
    ...(filter.reason === undefined ? [] : [sql`reason = ${filter.reason}`]),
    ...(filter.targetKey === undefined ? [] : [sql`target_key = ${filter.targetKey}`]),
    ...(filter.outcome === undefined ? [] : [sql`outcome = ${filter.outcome}`]),
    ...(filter.trigger === undefined ? [] : [sql`trigger_name = ${filter.trigger}`]),
    ...(filter.provider === undefined ? [] : [sql`provider = ${filter.provider}`]),
    ...(filter.repo === undefined ? [] : [sql`lower(repo) = ${foldRepo(filter.repo)}`]),
    ...(filter.number === undefined ? [] : [sql`number = ${filter.number}`]),
    // Ids are ordered by the time of receipt, except for what the clocks of nodes differ by.
    ...(filter.since === undefined
      ? []
      : [sql`received_at >= ${filter.since}`, sql`id >= ${firstIdAt(Math.max(filter.since - clockMillis, 0))}`]),
    ...(filter.until === undefined ? [] : [sql`received_at < ${filter.until}`]),
    ...idConditions(sql, filter)
  ])

export const list =
  (sql: SqlClient.SqlClient): Receipts["Service"]["list"] =>
  (filter) =>
    select(
      "receipts.list",
      // The inner query reads the index of lists alone: records are large.
      sql`
        SELECT * FROM events WHERE id IN
          (SELECT id FROM events WHERE ${conditions(sql, filter)} ORDER BY id ${direction(sql, filter)} LIMIT ${filter.limit})
        ORDER BY id ${direction(sql, filter)}`.pipe(unavailable("receipts.list"))
    )

/** Searches the next deliveries of a list. */
export const search = (sql: SqlClient.SqlClient): Receipts["Service"]["search"] =>
  Effect.fnUntraced(function* (wanted) {
    const { after: _after, before: _before, ...filter } = wanted
    const { since, until } = wanted
    const range = sql.and([
      sql`1 = 1`,
      ...(since === undefined ? [] : [sql`id >= ${firstIdAt(Math.max(since - clockMillis, 0))}`]),
      ...(until === undefined ? [] : [sql`id < ${firstIdAt(until + clockMillis)}`]),
      ...idConditions(sql, wanted)
    ])
    const searched = { table: "events", range, filter: conditions(sql, filter) } as const
    const rows = selectFound(sql, searched, wanted).pipe(unavailable("receipts.search"))
    const events = yield* select("receipts.search", rows)
    return { events, searchedTo: yield* readEnd(sql, "receipts.search", searched, wanted, events.length) }
  }, unavailable("receipts.search"))

export const pushers =
  (sql: SqlClient.SqlClient): Receipts["Service"]["pushers"] =>
  ({ head, number, repo, trigger }, limit) =>
    sql<{ pusher: string; heads: number }>`
      SELECT pusher, SUM(CASE WHEN head = ${head} THEN 1 ELSE 0 END) AS heads FROM events
      WHERE ${conditions(sql, { number, repo, trigger })} AND pusher IS NOT NULL
      GROUP BY pusher ORDER BY 2 DESC, 1 LIMIT ${limit + 1}`.pipe(
      Effect.map((rows) => ({
        usernames: rows.slice(0, limit).map(({ pusher }) => pusher),
        pushedHead: rows.some(({ heads }) => Number(heads) > 0),
        isPart: rows.length > limit
      })),
      unavailable("receipts.pushers")
    )

export const touches =
  (sql: SqlClient.SqlClient): Receipts["Service"]["touches"] =>
  (pull, actions) =>
    sql<{ sender: string; action: string; last_at: number }>`
      SELECT sender, action, MAX(received_at) AS last_at FROM events
      WHERE ${conditions(sql, { ...pull, reason: "own_event" })} AND ${sql.in("action", actions)} AND sender IS NOT NULL
      GROUP BY sender, action ORDER BY 3 DESC, 1, 2`.pipe(
      Effect.map((rows) => rows.map(({ action, last_at, sender }) => ({ sender, action, lastAt: Number(last_at) }))),
      unavailable("receipts.touches")
    )

export const sources =
  (sql: SqlClient.SqlClient): Receipts["Service"]["sources"] =>
  (trigger) =>
    selectAs(
      DeliverySource,
      "receipts.sources",
      sql`
        SELECT DISTINCT repo,
          CASE WHEN target_kind = 'push' AND decision NOT IN ('ignored', 'rejected') THEN branch END AS branch
        FROM events WHERE trigger_name = ${trigger} AND repo IS NOT NULL AND decision <> 'rejected'`
    ).pipe(unavailable("receipts.sources"))

/** Reasons in a result; there are fewer than this many literals, and the reasons of accepted deliveries are not counted apart. */
const maxReasons = 200

export const countDecisions =
  (sql: SqlClient.SqlClient): Receipts["Service"]["countDecisions"] =>
  (filter) =>
    sql<{ decision: string; why: string | null; deliveries: number; last_at: number }>`
      SELECT decision, CASE WHEN decision IN ('ignored', 'rejected') THEN reason END AS why,
        COUNT(*) AS deliveries, MAX(received_at) AS last_at
      FROM events WHERE ${conditions(sql, filter)}
      GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT ${maxReasons}`.pipe(
      Effect.map((rows) =>
        rows.flatMap(({ decision, deliveries, last_at, why }) => {
          const known = EventDecision.literals.find((name) => name === decision)
          const counted = { reason: why ?? undefined, count: Number(deliveries), lastAt: Number(last_at) }
          return known === undefined ? [] : [{ decision: known, ...counted }]
        })
      ),
      unavailable("receipts.countDecisions")
    )

interface ActivityRow {
  readonly trigger_name: string
  readonly last_at: number
  readonly accepted_at: number | null
  readonly recent: number
  readonly ignored: number
}

export const activity =
  (sql: SqlClient.SqlClient): Receipts["Service"]["activity"] =>
  ({ recentSince, since }) =>
    sql<ActivityRow>`
      SELECT trigger_name, MAX(received_at) AS last_at,
        MAX(CASE WHEN decision NOT IN ('ignored', 'rejected') THEN received_at END) AS accepted_at,
        SUM(CASE WHEN received_at >= ${recentSince} THEN 1 ELSE 0 END) AS recent,
        SUM(CASE WHEN received_at >= ${recentSince} AND decision IN ('ignored', 'rejected') THEN 1 ELSE 0 END) AS ignored
      FROM events WHERE id >= ${firstIdAt(since)} AND trigger_name IS NOT NULL AND event <> 'catch_up'
      GROUP BY trigger_name ORDER BY trigger_name`.pipe(
      Effect.map((rows) =>
        rows.map(({ accepted_at, ignored, last_at, recent, trigger_name }) => ({
          trigger: trigger_name,
          lastAt: Number(last_at),
          lastAcceptedAt: accepted_at === null ? undefined : Number(accepted_at),
          recent: Number(recent),
          recentIgnored: Number(ignored)
        }))
      ),
      unavailable("receipts.activity")
    )
