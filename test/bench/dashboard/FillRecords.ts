/** Writes a million runs and a hundred thousand deliveries directly into the tables, in the distribution of a large installation. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { dayMillis } from "../../../src/domain/StatisticsPeriods.ts"

export interface Sizes {
  readonly runs: number
  readonly deliveries: number
}

export const workspaces = 20
export const repositories = 200
const triggers = 5
/** Every change has so many runs in between, of which the last is its newest. */
const changes = 250_000
/** One run or delivery of so many is of the trigger and for the reason that is rare. */
const rare = 100_000
const liveRuns = 50
/** Records are of this period. */
const days = 90

const change = (n: string): string =>
  `'{"provider":"gitea","trigger":"host-' || (${n} % ${triggers}) || '","workspace":"team-' || (${n} % ${workspaces})
   || '","repo":{"fullName":"team/service-' || (${n} % ${repositories}) || '","cloneUrl":"https://git.example/team/service.git"},'
   || '"target":{"kind":"pull_request","number":' || (${n} % ${changes}) || '},"head":"0123456789012345678901234567890123456789",'
   || '"title":"Read each line of the input once and report the rest","author":{"name":"dana","username":"dana"},'
   || '"url":"https://git.example/team/service/pulls/1"}'`

const analysis = `'{"findings":[],"summary":"${"A sentence about the change. ".repeat(8)}","coverage":{"reviewed":["src/a.ts","src/b.ts"],'
  || '"skipped":[],"lines":120},"models":["provider/model"],"usage":{"requests":6,"inputTokens":60000,"outputTokens":4000,'
  || '"cachedTokens":30000},"notices":[]}'`

/** SQL that differs between the databases. */
interface Dialect {
  readonly series: (from: number, to: number) => string
  readonly hex: (value: string, digits: number) => string
}

const sqlite: Dialect = {
  series: (from, to) =>
    `(WITH RECURSIVE series(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM series WHERE n < ${to - 1}) SELECT n FROM series)`,
  hex: (value, digits) => `printf('%0${digits}x', ${value})`
}
const postgres: Dialect = {
  series: (from, to) => `(SELECT n::bigint AS n FROM generate_series(${from}, ${to - 1}) AS n)`,
  hex: (value, digits) => `lpad(to_hex((${value})::bigint), ${digits}, '0')`
}

/** Rows per statement, which must end before its timeout. */
const step = 5000

/** Inserts rows in steps. */
const inSteps = <E, R>(count: number, insert: (from: number, to: number) => Effect.Effect<unknown, E, R>) =>
  Effect.forEach(
    Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step),
    (from) => insert(from, Math.min(from + step, count)),
    { discard: true }
  )

/** Ids are ordered by time, as UUIDv7. */
const id = ({ hex }: Dialect, millis: string): string =>
  `substr(${hex(millis, 12)}, 1, 8) || '-' || substr(${hex(millis, 12)}, 9, 4) || '-7000-8000-' || ${hex("n", 12)}`

const status = (
  count: number
): string => `CASE WHEN n >= ${count - liveRuns} THEN 'analyzing' WHEN n % 100 < 90 THEN 'succeeded'
  WHEN n % 100 < 95 THEN 'failed' WHEN n % 100 < 96 THEN 'timeout' WHEN n % 100 < 99 THEN 'skipped' ELSE 'cancelled' END`

export const fillRecords = ({ deliveries, runs }: Sizes) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const dialect = sql.onDialectOrElse({ pg: () => postgres, orElse: () => sqlite })
    const now = Date.now()
    const at = (count: number) => `(${now - days * dayMillis} + n * ${Math.floor((days * dayMillis) / count)})`
    const trigger = `CASE WHEN n % ${rare} = 7 THEN 'rare' ELSE 'host-' || (n % ${triggers}) END`
    // The mark of the newest runs is written with them: rows of one statement would take a lock each.
    yield* sql.onDialectOrElse({
      pg: () => sql`ALTER TABLE runs DISABLE TRIGGER USER`,
      orElse: () => sql`DROP TRIGGER runs_inserted`
    })
    yield* inSteps(runs, (from, to) =>
      sql.unsafe(`INSERT INTO runs (id, entry_id, token, workspace, target_key, change, head, status, reason, partial,
        config_hash, analysis, created_at, started_at, finished_at, repo, number, trigger_name, newest, cost_nanos, search)
      SELECT ${id(dialect, at(runs))}, 'entry-' || n, 1, 'team-' || (n % ${workspaces}),
        'host-' || (n % ${triggers}) || ':team/service-' || (n % ${repositories}) || ':pull_request:' || (n % ${changes}),
        ${change("n")}, '0123456789012345678901234567890123456789', ${status(runs)}, NULL, 0, 'c0ffee',
        CASE WHEN n % 100 < 90 AND n < ${runs - liveRuns} THEN ${analysis} END, ${at(runs)}, ${at(runs)} + 2000,
        ${at(runs)} + 2000 + (n * 104729) % 600000, 'team/service-' || (n % ${repositories}), n % ${changes}, ${trigger},
        CASE WHEN n >= ${runs - changes} THEN 1 ELSE 0 END, (n * 7919) % 1000003 * 1000,
        'team/service-' || (n % ${repositories}) || '#' || (n % ${changes}) || ' 0123456789012345678901234567890123456789 team-' ||
        (n % ${workspaces}) || ' dana main read each line of the input once and report the rest'
      FROM ${dialect.series(from, to)} AS series`)
    )
    yield* inSteps(deliveries, (from, to) =>
      sql.unsafe(`INSERT INTO events (id, delivery_key, provider, event, action, trigger_name, workspace, target_kind, target_key,
        repo, number, decision, reason, work, received_at, outcome, outcome_at, author, sender, search, duplicates)
      SELECT ${id(dialect, at(deliveries))}, 'gitea:' || n, 'gitea', 'pull_request', 'synchronized', ${trigger},
        'team-' || (n % ${workspaces}), 'pull_request',
        'host-' || (n % ${triggers}) || ':team/service-' || (n % ${repositories}) || ':pull_request:' || (n % 25000),
        'Team/Service-' || (n % ${repositories}), n % 25000,
        CASE WHEN n % 10 < 4 THEN 'queued' WHEN n % 10 < 5 THEN 'coalesced' ELSE 'ignored' END,
        CASE WHEN n % 10 < 5 THEN NULL WHEN n % ${rare} = 7 THEN 'ambiguous_route' WHEN n % 3 = 0 THEN 'draft'
          ELSE 'unsupported_action' END,
        CASE WHEN n % 10 < 5 THEN '{"change":' || ${change("n")} || ',"configHash":"c0ffee","priority":10,"dueAt":1000}' END,
        ${at(deliveries)}, CASE WHEN n % 10 < 5 THEN 'executed' END, CASE WHEN n % 10 < 5 THEN ${at(deliveries)} END,
        'dana', 'dana', 'team/service-' || (n % ${repositories}) || '#' || (n % 25000) || ' 0123456789012345678901234567890123456789 team-' ||
        (n % ${workspaces}) || ' dana dana main read each line of the input once and report the rest', 0
      FROM ${dialect.series(from, to)} AS series`)
    )
    // The server does this by itself after a while.
    yield* sql.onDialectOrElse({
      pg: () => Effect.andThen(sql.unsafe("VACUUM ANALYZE runs"), sql.unsafe("VACUUM ANALYZE events")),
      orElse: () => Effect.void
    })
  })
