/** Stores the outbox in the table `publications`. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import { PublisherToken } from "../../domain/FencingToken.ts"
import { isSameRepository, TargetKey } from "../../domain/Keys.ts"
import { DatedPublication, Publication, publicationLifecycle } from "../../domain/Publication.ts"
import type { PublicationStatus } from "../../domain/Publication.ts"
import { maxSent, Outbox } from "../Outbox.ts"
import { isResponseLost } from "../../database/postgres/PostgresFailure.ts"
import { insertPublications, rowsPerInsert } from "./InsertPublications.ts"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import { record } from "../../domain/Record.ts"

const select = (operation: string, rows: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>) =>
  unavailable(operation)(selectAs(Publication, operation, rows))

// Existing rows do not change, so that this may be repeated after a lost response.
const add =
  (sql: SqlClient.SqlClient): Outbox["Service"]["add"] =>
  (rows, now) =>
    rows.length > rowsPerInsert
      ? insertPublications(sql, rows, now).pipe(sql.withTransaction, unavailable("outbox.add"))
      : insertPublications(sql, rows, now).pipe(
          Effect.retry({ times: 1, while: isResponseLost }),
          unavailable("outbox.add")
        )

const open =
  (sql: SqlClient.SqlClient): Outbox["Service"]["open"] =>
  (targetKey) =>
    select(
      "outbox.open",
      sql`
        SELECT * FROM publications
        WHERE target_key = ${targetKey} AND status IN ('pending', 'sending', 'unknown')
        ORDER BY run_id, position, seq`
    )

const recorded =
  (sql: SqlClient.SqlClient): Outbox["Service"]["recorded"] =>
  (operationId) =>
    Effect.map(
      select("outbox.recorded", sql`SELECT * FROM publications WHERE operation_id = ${operationId}`),
      ([row]) => row
    )

const ofRun =
  (sql: SqlClient.SqlClient): Outbox["Service"]["ofRun"] =>
  (runId) =>
    select("outbox.ofRun", sql`SELECT * FROM publications WHERE run_id = ${runId} ORDER BY position, seq`)

const history =
  (sql: SqlClient.SqlClient): Outbox["Service"]["history"] =>
  (runId) =>
    selectAs(
      DatedPublication,
      "outbox.history",
      sql`SELECT * FROM publications WHERE run_id = ${runId} ORDER BY position, seq`
    ).pipe(unavailable("outbox.history"))

const takeOver =
  (sql: SqlClient.SqlClient): Outbox["Service"]["takeOver"] =>
  (targetKey, now) =>
    sql<{ token: number; starts: number }>`
      INSERT INTO publishers ${sql.insert({ target_key: targetKey, token: 1, updated_at: now, starts: 1 })}
      ON CONFLICT (target_key) DO UPDATE
      SET token = publishers.token + 1, updated_at = ${now}, starts = publishers.starts + 1
      RETURNING token, starts`.pipe(
      unavailable("outbox.takeOver"),
      Effect.map(([row]) => ({ token: PublisherToken.make(Number(row?.token)), starts: Number(row?.starts ?? 0) }))
    )

const progressed =
  (sql: SqlClient.SqlClient): Outbox["Service"]["progressed"] =>
  (targetKey, token) =>
    sql`UPDATE publishers SET starts = 0 WHERE target_key = ${targetKey} AND token = ${token}`.pipe(
      unavailable("outbox.progressed"),
      Effect.asVoid
    )

const holds =
  (sql: SqlClient.SqlClient): Outbox["Service"]["isOwner"] =>
  (targetKey, token) =>
    sql`SELECT 1 FROM publishers WHERE target_key = ${targetKey} AND token = ${token}`.pipe(
      unavailable("outbox.holds"),
      Effect.map((rows) => rows.length > 0)
    )

const move =
  (sql: SqlClient.SqlClient): Outbox["Service"]["move"] =>
  (
    id,
    from,
    { status, notBefore, hostId, url, error, isAttempt, ignoredDismissals, reactions, posted, listed },
    token,
    now
  ) =>
    publicationLifecycle.canMove(from, status)
      ? sql`
        UPDATE publications
        SET status = ${status}, attempts = attempts + ${isAttempt === true ? 1 : 0},
          not_before = ${notBefore ?? null}, error = ${Publication.toColumn("error", error)}, updated_at = ${now},
          host_id = COALESCE(${hostId ?? null}, host_id), url = COALESCE(${url ?? null}, url),
          ignored_dismissals = COALESCE(${Publication.toColumn("ignoredDismissals", ignoredDismissals)}, ignored_dismissals),
          reactions = COALESCE(${Publication.toColumn("reactions", reactions)}, reactions), posted = COALESCE(${Publication.toColumn("posted", posted)}, posted),
          listed = COALESCE(${Publication.toColumn("listed", listed)}, listed)
        WHERE id = ${id} AND status = ${from} AND EXISTS (
          SELECT 1 FROM publishers
          WHERE publishers.target_key = publications.target_key AND publishers.token = ${token})
        RETURNING id`.pipe(
          Effect.map((rows) => rows.length > 0),
          unavailable("outbox.move")
        )
      : Effect.die(new Error(`A publication cannot go from ${from} to ${status}`))

const startStatus = (sql: SqlClient.SqlClient): Outbox["Service"]["startStatus"] => {
  const isBeingWritten = (id: string) => sql`
    SELECT 1 FROM publications own JOIN publications other ON other.head = own.head AND other.id <> own.id
    WHERE own.id = ${id} AND other.status = 'sending'`
  const start = Effect.fnUntraced(function* (id: string, from: PublicationStatus, token: PublisherToken, now: number) {
    const moved = yield* sql`
      UPDATE publications SET status = 'sending', not_before = NULL, error = NULL, updated_at = ${now}
      WHERE id = ${id} AND status = ${from} AND EXISTS (
        SELECT 1 FROM publishers WHERE publishers.target_key = publications.target_key AND publishers.token = ${token})
        AND NOT EXISTS (
          SELECT 1 FROM publications other
          WHERE other.head = publications.head AND other.id <> publications.id AND other.status = 'sending')
      RETURNING id`
    if (moved.length > 0) return "started" as const
    return (yield* isBeingWritten(id)).length > 0 ? ("busy" as const) : ("lost" as const)
  })
  return ({ id }, from, token, now) =>
    publicationLifecycle.canMove(from, "sending")
      ? start(id, from, token, now).pipe(
          // Two nodes that start at the same time do not see each other: the index publications_writing admits one of them.
          Effect.catchIf(
            ({ reason }) => reason._tag === "UniqueViolation",
            () => Effect.succeed("busy" as const)
          ),
          unavailable("outbox.startStatus")
        )
      : Effect.die(new Error(`A publication cannot go from ${from} to sending`))
}

const StatusWrite = record({
  targetKey: Publication.fields.targetKey,
  status: Publication.fields.status,
  hostId: Publication.fields.hostId
})
/** Statuses of a commit that are read, the newest of them. */
const maxStatuses = 200

const writtenStatus =
  (sql: SqlClient.SqlClient): Outbox["Service"]["writtenStatus"] =>
  ({ id, targetKey }, head) =>
    selectAs(
      StatusWrite,
      "outbox.writtenStatus",
      sql`
        SELECT target_key, status, host_id FROM publications
        WHERE head = ${head} AND id <> ${id} AND status IN ('sent', 'unknown') ORDER BY seq DESC LIMIT ${maxStatuses}`
    ).pipe(
      unavailable("outbox.writtenStatus"),
      Effect.map((rows) => {
        const own = rows.filter((row) => isSameRepository(row.targetKey, targetKey))
        return {
          hostIds: own.flatMap(({ hostId, status }) => (status === "sent" && hostId !== undefined ? [hostId] : [])),
          isCertain: own.every(({ status }) => status === "sent")
        }
      })
    )

const targets = (sql: SqlClient.SqlClient): Outbox["Service"]["targets"] =>
  sql<{ target_key: string }>`
    SELECT DISTINCT target_key FROM publications WHERE status IN ('pending', 'sending', 'unknown')`.pipe(
    Effect.map((rows) => rows.map((row) => TargetKey.make(row.target_key))),
    unavailable("outbox.targets")
  )

const FailedPublication = record({ error: Publication.fields.error })
/** Waiting rows that are counted. */
const maxWaiting = 10_000

const awaitingCredentials = (sql: SqlClient.SqlClient): Outbox["Service"]["awaitingCredentials"] =>
  selectAs(
    FailedPublication,
    "outbox.awaitingCredentials",
    sql`
      SELECT error FROM publications
      WHERE status IN ('pending', 'sending', 'unknown') AND error IS NOT NULL LIMIT ${maxWaiting}`
  ).pipe(
    unavailable("outbox.awaitingCredentials"),
    Effect.map((rows) => {
      const counts = new Map<string, number>()
      for (const { error } of rows)
        if (error?._tag === "AwaitsCredential") counts.set(error.trigger, (counts.get(error.trigger) ?? 0) + 1)
      return counts
    })
  )

/** A first summary has the comments of its review. */
const isOfKind = (sql: SqlClient.SqlClient, kind: string) =>
  kind === "Review" ? sql`(kind = 'Review' OR (kind = 'Summary' AND posted IS NOT NULL))` : sql`kind = ${kind}`

const lastSent =
  (sql: SqlClient.SqlClient): Outbox["Service"]["lastSent"] =>
  (targetKey, kind, { channel, notOf = "" }) =>
    Effect.map(
      select(
        "outbox.lastSent",
        sql`
          SELECT * FROM publications
          WHERE target_key = ${targetKey} AND ${isOfKind(sql, kind)} AND status = 'sent' AND run_id <> ${notOf}
            ${channel === undefined ? sql.literal("") : sql`AND channel = ${channel}`}
          ORDER BY seq DESC LIMIT 1`
      ),
      (found) => found[0]
    )

const maxReviews = 100

// Without an index of its own: it is read once a minute at most, and for questions of people.
const sentReviews =
  (sql: SqlClient.SqlClient): Outbox["Service"]["sentReviews"] =>
  (channel, { since, url }) =>
    select(
      "outbox.sentReviews",
      sql`
        SELECT * FROM publications
        WHERE status = 'sent' AND channel = ${channel} AND kind IN ('Summary', 'Review') AND created_at >= ${since}
          AND ${url === undefined ? sql.literal("url IS NOT NULL") : sql`url = ${url}`}
        ORDER BY seq DESC LIMIT ${maxReviews}`
    )

const sentRows =
  (sql: SqlClient.SqlClient): Outbox["Service"]["sentRows"] =>
  ({ channel, runId, targetKey }, kind) =>
    select(
      "outbox.sentRows",
      sql`
        SELECT * FROM publications
        WHERE target_key = ${targetKey} AND channel = ${channel} AND ${isOfKind(sql, kind)} AND status = 'sent'
          AND run_id <> ${runId}
        ORDER BY seq DESC LIMIT ${maxSent[kind]}`
    )

export const layer: Layer.Layer<Outbox, never, SqlClient.SqlClient> = Layer.effect(
  Outbox,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Outbox.of({
      add: add(sql),
      open: open(sql),
      ofRun: ofRun(sql),
      recorded: recorded(sql),
      history: history(sql),
      together: (work) => sql.withTransaction(work).pipe(unavailable("outbox.together")),
      takeOver: takeOver(sql),
      progressed: progressed(sql),
      isOwner: holds(sql),
      move: move(sql),
      startStatus: startStatus(sql),
      writtenStatus: writtenStatus(sql),
      targets: targets(sql),
      awaitingCredentials: awaitingCredentials(sql),
      lastSent: lastSent(sql),
      sentReviews: sentReviews(sql),
      sentRows: sentRows(sql)
    })
  )
)
