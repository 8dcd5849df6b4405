/**
 * The outbox of notices to operators; states: domain/Notice.ts. A key and a channel have at most one row, so that storing a notice again,
 * from any node, adds nothing. One sender exists at a time: a sender that was frozen while another one took over holds an old token, with
 * which it changes nothing. The tables are `notices` and `notice_senders`.
 */
import { Context, Array as Arr, Effect, Layer, Schema } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import * as Field from "../domain/Field.ts"
import { record } from "../domain/Record.ts"
import type { RecordValues } from "../domain/Record.ts"
import { Notice, noticeLifecycle } from "../domain/Notice.ts"
import type { NewNotice, NoticeKind, NoticeStatus } from "../domain/Notice.ts"
import type { Reason } from "../domain/Reason.ts"
import { direction, idConditions } from "../database/sql/ListOrder.ts"
import type { IdRange } from "../database/sql/ListOrder.ts"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import { deleteInSteps } from "../database/sql/DeleteInSteps.ts"
import { isResponseLost } from "../database/postgres/PostgresFailure.ts"
import { selectAs, unavailable } from "../database/sql/StoreFailure.ts"

export interface NoticeUpdate {
  readonly status: NoticeStatus
  readonly notBefore?: number | undefined
  readonly error?: Reason | undefined
  /** True if it counts for `attempts`. */
  readonly isAttempt?: boolean | undefined
}

/** Deliveries that ended together without a review. */
const EndedDeliveries = record({
  outcome: Field.stored(Schema.Literals(["failed", "expired"])),
  /** The first of them. */
  eventId: Field.text,
  events: Field.integer,
  endedAt: Field.integer
})
export type EndedDeliveries = RecordValues<typeof EndedDeliveries>

interface NoticeFilter extends IdRange {
  readonly kind?: NoticeKind | undefined
  readonly status?: NoticeStatus | undefined
  readonly channel?: string | undefined
  readonly limit: number
}

export class Notices extends Context.Service<
  Notices,
  {
    /** Adds those that do not exist; returns how many. */
    readonly add: (notices: ReadonlyArray<NewNotice>, now: number) => Effect.Effect<number, StoreError>
    /** Makes the caller the only sender and returns its token. */
    readonly takeOver: Effect.Effect<number, StoreError>
    readonly isSender: (token: number) => Effect.Effect<boolean, StoreError>
    /** Returns whether there is an unsent row, also one that waits. */
    readonly hasOpen: Effect.Effect<boolean, StoreError>
    /** Returns the number of unsent rows by channel. */
    readonly waiting: Effect.Effect<ReadonlyMap<string, number>, StoreError>
    /** Returns the oldest unsent rows that need no longer wait. */
    readonly open: (now: number, limit: number) => Effect.Effect<ReadonlyArray<Notice>, StoreError>
    /** Compare-and-set. Returns false if the row is no longer in `from`, or another sender took over. */
    readonly move: (
      id: string,
      from: NoticeStatus,
      update: NoticeUpdate,
      token: number,
      now: number
    ) => Effect.Effect<boolean, StoreError>
    /** Returns the times of the messages of a channel since `since`, oldest first. */
    readonly sentSince: (channel: string, since: number) => Effect.Effect<ReadonlyArray<number>, StoreError>
    /** Lists rows, newest first unless `oldestFirst`. */
    readonly list: (filter: NoticeFilter) => Effect.Effect<ReadonlyArray<Notice>, StoreError>
    /** Returns deliveries that ended without a review after `after`, those that ended together as one, oldest first. */
    readonly ended: (
      after: Pick<EndedDeliveries, "endedAt" | "eventId">,
      limit: number
    ) => Effect.Effect<ReadonlyArray<EndedDeliveries>, StoreError>
    /** Time up to which ended deliveries were scanned. */
    readonly scannedTo: Effect.Effect<number | undefined, StoreError>
    /** Undefined forgets it. */
    readonly setScannedTo: (time: number | undefined) => Effect.Effect<void, StoreError>
    /** Removes ended rows beyond `maxCount` or from before `before`. Returns how many. */
    readonly prune: (keep: { readonly maxCount: number; readonly before: number }) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Notices") {}

/** The only row of `notice_senders`. */
const only = 1

const select = (operation: string, rows: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>) =>
  unavailable(operation)(selectAs(Notice, operation, rows))

/** Existing rows do not change, so that this may be repeated after a lost response. */
const add =
  (sql: SqlClient.SqlClient): Notices["Service"]["add"] =>
  (notices, now) => {
    if (!Arr.isReadonlyArrayNonEmpty(notices)) return Effect.succeed(0)
    const rows = Arr.map(notices, (notice) => ({
      ...Notice.toRow({ ...notice, status: "pending", attempts: 0, createdAt: now, updatedAt: now }),
      kind: notice.facts._tag
    }))
    return sql`INSERT INTO notices ${sql.insert(rows)} ON CONFLICT (notice_key, channel) DO NOTHING RETURNING id`.pipe(
      Effect.retry({ times: 1, while: isResponseLost }),
      Effect.map((added) => added.length),
      unavailable("notices.add")
    )
  }

const move =
  (sql: SqlClient.SqlClient): Notices["Service"]["move"] =>
  (id, from, { error, isAttempt, notBefore, status }, token, now) =>
    noticeLifecycle.canMove(from, status)
      ? sql`
        UPDATE notices
        SET status = ${status}, attempts = attempts + ${isAttempt === true ? 1 : 0}, not_before = ${notBefore ?? null},
          error = ${Notice.toColumn("error", error)}, updated_at = ${now}
        WHERE id = ${id} AND status = ${from}
          AND EXISTS (SELECT 1 FROM notice_senders WHERE id = ${only} AND token = ${token})
        RETURNING id`.pipe(
          Effect.map((rows) => rows.length > 0),
          unavailable("notices.move")
        )
      : Effect.die(new Error(`A notice cannot go from ${from} to ${status}`))

const takeOver = (sql: SqlClient.SqlClient): Notices["Service"]["takeOver"] =>
  sql<{ token: number }>`
    INSERT INTO notice_senders ${sql.insert({ id: only, token: 1 })}
    ON CONFLICT (id) DO UPDATE SET token = notice_senders.token + 1 RETURNING token`.pipe(
    Effect.map(([row]) => Number(row?.token)),
    unavailable("notices.takeOver")
  )

const list =
  (sql: SqlClient.SqlClient): Notices["Service"]["list"] =>
  ({ channel, kind, limit, status, ...range }) =>
    select(
      "notices.list",
      sql`SELECT * FROM notices WHERE ${sql.and([
        sql`1 = 1`,
        ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
        ...(status === undefined ? [] : [sql`status = ${status}`]),
        ...(channel === undefined ? [] : [sql`channel = ${channel}`]),
        ...idConditions(sql, range)
      ])} ORDER BY id ${direction(sql, range)} LIMIT ${limit}`
    )

/** Deliveries of one entry end in one operation, so that they have the same time, target and reason. */
const ended =
  (sql: SqlClient.SqlClient): Notices["Service"]["ended"] =>
  ({ eventId, endedAt }, limit) =>
    unavailable("notices.ended")(
      selectAs(
        EndedDeliveries,
        "notices.ended",
        sql`
      SELECT outcome, MIN(id) AS event_id, COUNT(*) AS events, outcome_at AS ended_at FROM events
      WHERE outcome IN ('failed', 'expired') AND outcome_at >= ${endedAt}
      GROUP BY outcome, outcome_at, target_key, outcome_reason
      HAVING outcome_at > ${endedAt} OR MIN(id) > ${eventId}
      ORDER BY outcome_at, event_id LIMIT ${limit}`
      )
    )

const prune =
  (sql: SqlClient.SqlClient): Notices["Service"]["prune"] =>
  ({ before, maxCount }) =>
    deleteInSteps(
      (step) => sql`
        DELETE FROM notices WHERE id IN (
          SELECT id FROM notices WHERE status NOT IN ('pending', 'sending') AND (updated_at < ${before}
            OR id <= (SELECT id FROM notices ORDER BY id DESC LIMIT 1 OFFSET ${maxCount}))
          ORDER BY id LIMIT ${step})
        RETURNING id`
    ).pipe(unavailable("notices.prune"))

export const layer: Layer.Layer<Notices, never, SqlClient.SqlClient> = Layer.effect(
  Notices,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Notices.of({
      add: add(sql),
      takeOver: takeOver(sql),
      isSender: (token) =>
        sql`SELECT 1 FROM notice_senders WHERE id = ${only} AND token = ${token}`.pipe(
          Effect.map((rows) => rows.length > 0),
          unavailable("notices.isSender")
        ),
      hasOpen: sql`SELECT 1 FROM notices WHERE status IN ('pending', 'sending') LIMIT 1`.pipe(
        Effect.map((rows) => rows.length > 0),
        unavailable("notices.hasOpen")
      ),
      waiting: sql<{ channel: string; count: number | string }>`
        SELECT channel, COUNT(*) AS count FROM notices WHERE status IN ('pending', 'sending') GROUP BY channel`.pipe(
        Effect.map((rows) => new Map(rows.map(({ channel, count }) => [channel, Number(count)]))),
        unavailable("notices.waiting")
      ),
      open: (now, limit) =>
        select(
          "notices.open",
          sql`SELECT * FROM notices WHERE status IN ('pending', 'sending') AND (not_before IS NULL OR not_before <= ${now})
            ORDER BY id LIMIT ${limit}`
        ),
      move: move(sql),
      sentSince: (channel, since) =>
        sql<{ updated_at: number }>`
          SELECT updated_at FROM notices
          WHERE channel = ${channel} AND status IN ('sent', 'unconfirmed') AND updated_at >= ${since}
          ORDER BY updated_at`.pipe(
          Effect.map((rows) => rows.map((row) => Number(row.updated_at))),
          unavailable("notices.sentSince")
        ),
      list: list(sql),
      ended: ended(sql),
      scannedTo: sql<{ scanned_to: number | null }>`SELECT scanned_to FROM notice_senders WHERE id = ${only}`.pipe(
        Effect.map(([row]) => (row?.scanned_to == null ? undefined : Number(row.scanned_to))),
        unavailable("notices.scannedTo")
      ),
      setScannedTo: (time) =>
        sql`INSERT INTO notice_senders ${sql.insert({ id: only, token: 0, scanned_to: time ?? null })}
          ON CONFLICT (id) DO UPDATE SET scanned_to = excluded.scanned_to`.pipe(
          Effect.asVoid,
          unavailable("notices.setScannedTo")
        ),
      prune: prune(sql)
    })
  )
)
