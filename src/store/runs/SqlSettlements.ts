/** Stores claims of ended changes in the table `settlements`. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { foldRepo } from "../../domain/Change.ts"
import { OutcomeRecord } from "../../domain/FindingOutcome.ts"
import * as Field from "../../domain/Field.ts"
import { TargetKey } from "../../domain/Keys.ts"
import { record } from "../../domain/Record.ts"
import { RunStatus, runLifecycle } from "../../domain/Run.ts"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import { ClaimedEnd, OpenShelf, Settlements } from "../Settlements.ts"
import type { LaterFindings } from "../Settlements.ts"
import { countSettled } from "./CountRun.ts"
import { isUndecided } from "./SqlOutcomes.ts"

const endedStatuses = RunStatus.literals.filter(runLifecycle.isTerminal)

const claim = (sql: SqlClient.SqlClient): Settlements["Service"]["claim"] =>
  Effect.fnUntraced(function* ({ gone, limit, now, owner, since, until }) {
    const isFree = (table: string) =>
      gone.size === 0
        ? sql`${sql(table)}.claimed_until <= ${now}`
        : sql`(${sql(table)}.claimed_until <= ${now} OR ${sql(table)}.owner IN ${sql.in([...gone])})`
    const claimed = yield* sql<{ event_id: string }>`
      INSERT INTO settlements (target_key, event_id, owner, claimed_until, attempts)
      SELECT events.target_key, MAX(events.id), ${owner}, ${until}, 0 FROM events
      WHERE events.reason = 'closed' AND events.outcome IS NULL AND events.received_at >= ${since}
        AND EXISTS (
          SELECT 1 FROM finding_outcomes
          WHERE finding_outcomes.target_key = events.target_key AND ${isUndecided(sql, sql`events.received_at`)})
        AND NOT EXISTS (
          SELECT 1 FROM settlements held WHERE held.target_key = events.target_key AND NOT ${isFree("held")})
      GROUP BY events.target_key ORDER BY 2 LIMIT ${limit}
      ON CONFLICT (target_key) DO UPDATE SET
        event_id = excluded.event_id, owner = excluded.owner, claimed_until = excluded.claimed_until
      WHERE ${isFree("settlements")}
      RETURNING event_id`
    if (claimed.length === 0) return []
    const ids = claimed.map((row) => row.event_id)
    return yield* selectAs(
      ClaimedEnd,
      "settlements.claim",
      sql`
        SELECT events.target_key, events.id AS event_id, provider, trigger_name, workspace, repo, number, head, branch,
          received_at, attempts
        FROM events JOIN settlements ON settlements.event_id = events.id
        WHERE ${sql.in("events.id", ids)} AND workspace IS NOT NULL AND repo IS NOT NULL AND number IS NOT NULL`
    )
  }, unavailable("settlements.claim"))

const undecided =
  (sql: SqlClient.SqlClient): Settlements["Service"]["undecided"] =>
  ({ receivedAt, targetKey }) =>
    selectAs(
      OutcomeRecord,
      "settlements.undecided",
      sql`
        SELECT * FROM finding_outcomes WHERE target_key = ${targetKey} AND ${isUndecided(sql, sql`${receivedAt}`)}
        ORDER BY decided_at DESC, fingerprint`
    ).pipe(unavailable("settlements.undecided"))

const maxShelves = 1000

const openShelves =
  (sql: SqlClient.SqlClient): Settlements["Service"]["openShelves"] =>
  (trigger, numbers) =>
    selectAs(
      OpenShelf,
      "settlements.openShelves",
      sql`
        SELECT target_key, projects.workspace AS workspace, projects.name AS repo, MAX(decided_at) AS decided_at
        FROM finding_outcomes JOIN projects ON projects.id = finding_outcomes.project
        WHERE settled IS NULL AND shelf IS NOT NULL AND trigger_name = ${trigger}
          ${numbers === undefined ? sql.literal("") : sql`AND ${sql.in("shelf", numbers)}`}
        GROUP BY target_key, projects.workspace, projects.name ORDER BY 4 DESC, target_key LIMIT ${maxShelves}`
    ).pipe(unavailable("settlements.openShelves"))

const isReviewed =
  (sql: SqlClient.SqlClient): Settlements["Service"]["isReviewed"] =>
  (targetKey: TargetKey) =>
    sql`
      SELECT 1 AS one FROM runs
      WHERE target_key = ${targetKey} AND NOT (${sql.in("status", endedStatuses)})
      UNION ALL
      SELECT 1 FROM events
      WHERE target_key = ${targetKey} AND target_kind = 'commit' AND work IS NOT NULL AND outcome IS NULL LIMIT 1`.pipe(
      Effect.map((rows) => rows.length > 0),
      unavailable("settlements.isReviewed")
    )

const settle = (sql: SqlClient.SqlClient): Settlements["Service"]["settle"] =>
  Effect.fnUntraced(
    function* (end, records, now) {
      const { eventId, targetKey } = end
      const changed = yield* countSettled(sql, end, records, now)
      yield* sql`
        UPDATE events SET outcome = ${records.length === 0 ? "skipped" : "executed"}, outcome_at = ${now}
        WHERE reason = 'closed' AND outcome IS NULL AND target_key = ${targetKey} AND id <= ${eventId}`
      yield* sql`DELETE FROM settlements WHERE target_key = ${targetKey}`
      return changed
    },
    sql.withTransaction,
    unavailable("settlements.settle")
  )

const LaterRow = record({
  ...OutcomeRecord.fields,
  targetKey: Field.stored(TargetKey),
  trigger: Field.named("trigger_name", Field.text),
  repo: Field.text
})
const maxLater = 200

/**
 * Returns the newest commit of a branch that a review of a pull request was compared with, or that was itself reviewed after its submit; where no
 * such run is kept, that of the newest merge into it.
 */
const findTip = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { baseRef, repo, trigger }: { readonly baseRef: string; readonly repo: string; readonly trigger: string }
) {
  const [compared] = yield* sql<{ base: string }>`
    SELECT base FROM runs
    WHERE repo = ${repo} AND trigger_name = ${trigger} AND base_ref = ${baseRef} AND base IS NOT NULL
    ORDER BY id DESC LIMIT 1`
  if (compared !== undefined) return compared.base
  const [submitted] = yield* sql<{ head: string }>`
    SELECT head FROM runs WHERE target_key = ${`${trigger}:${repo}:push:${baseRef}`} ORDER BY id DESC LIMIT 1`
  if (submitted !== undefined) return submitted.head
  const [merged] = yield* sql<{ settled_head: string }>`
    SELECT settled_head FROM finding_outcomes JOIN projects ON projects.id = finding_outcomes.project
    WHERE settled = 'merged' AND projects.repository = ${repo} AND trigger_name = ${trigger} AND base_ref = ${baseRef}
    ORDER BY settled_at DESC LIMIT 1`
  return merged?.settled_head
})

const later = (sql: SqlClient.SqlClient): Settlements["Service"]["later"] =>
  Effect.fnUntraced(function* ({ since, until }) {
    const rows = yield* selectAs(
      LaterRow,
      "settlements.later",
      sql`
        SELECT finding_outcomes.*, projects.trigger_name, projects.name AS repo
        FROM finding_outcomes JOIN projects ON projects.id = finding_outcomes.project
        WHERE settled = 'merged' AND later IS NULL AND settled_at < ${until} AND settled_at >= ${since}
          AND outcome IN ('open_at_merge', 'partly', 'moved_away', 'dismissed')
          AND settled_head IS NOT NULL AND base_ref IS NOT NULL
        ORDER BY settled_at LIMIT ${maxLater}`
    )
    const found: Array<LaterFindings> = []
    for (const [, records] of Map.groupBy(rows, (row) =>
      JSON.stringify([row.trigger, row.repo, row.settledHead, row.baseRef])
    )) {
      const [{ baseRef = "", repo = "", settledHead = "", trigger = "" } = {}] = records
      const tip = yield* findTip(sql, { trigger, repo: foldRepo(repo), baseRef })
      if (tip !== undefined && tip !== settledHead) found.push({ trigger, repo, settledHead, baseRef, tip, records })
    }
    return found
  }, unavailable("settlements.later"))

const storeLater = (sql: SqlClient.SqlClient): Settlements["Service"]["storeLater"] =>
  Effect.fnUntraced(function* (changes) {
    for (const { fingerprint, later: change, targetKey } of changes)
      yield* sql`
        UPDATE finding_outcomes SET later = ${change}
        WHERE target_key = ${targetKey} AND fingerprint = ${fingerprint} AND settled = 'merged' AND later IS NULL`
  }, unavailable("settlements.storeLater"))

export const layer: Layer.Layer<Settlements, never, SqlClient.SqlClient> = Layer.effect(
  Settlements,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Settlements.of({
      claim: claim(sql),
      owners: Effect.map(sql<{ owner: string }>`SELECT DISTINCT owner FROM settlements`, (rows) =>
        rows.map(({ owner }) => owner)
      ).pipe(unavailable("settlements.owners")),
      renew: (owner, until) =>
        sql`UPDATE settlements SET claimed_until = ${until} WHERE owner = ${owner}`.pipe(
          unavailable("settlements.renew"),
          Effect.asVoid
        ),
      undecided: undecided(sql),
      openShelves: openShelves(sql),
      isReviewed: isReviewed(sql),
      postpone: ({ targetKey }, owner, until, isAttempt) =>
        sql`
          UPDATE settlements SET owner = '', claimed_until = ${until}, attempts = attempts + ${isAttempt ? 1 : 0}
          WHERE target_key = ${targetKey} AND owner = ${owner}`.pipe(
          unavailable("settlements.postpone"),
          Effect.asVoid
        ),
      settle: settle(sql),
      later: later(sql),
      storeLater: storeLater(sql)
    })
  )
)
