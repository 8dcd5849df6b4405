/** Stores requests from chat in the table `chat_requests`, and buttons of cards in `chat_actions`. */
import { Array as Arr, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { openStatuses } from "../domain/ChatRequest.ts"
import { toStorable } from "../domain/Text.ts"
import { deleteInSteps } from "../database/DeleteInSteps.ts"
import * as GroupCommit from "../database/GroupCommit.ts"
import { StoreError } from "../database/StoreError.ts"
import { unavailable } from "../database/StoreFailure.ts"
import { encodeFacts, fromRows, toRow } from "./ChatRequestRow.ts"
import { direction, idConditions } from "./ListOrder.ts"
import { ChatRequests } from "./ChatRequests.ts"
import type { ChatButton, ChatChange, ChatRequest, NewChatRequest } from "./ChatRequests.ts"

const maxBatch = 256
/** Maximum number of messages waiting for their commit; further callbacks are refused, so that the platform delivers them again. */
const maxWaiting = 2000

type Service = ChatRequests["Service"]

const insert = (sql: SqlClient.SqlClient) => (requests: ReadonlyArray<NewChatRequest>) =>
  Effect.gen(function* () {
    const rows = requests.map(toRow)
    if (!Arr.isReadonlyArrayNonEmpty(rows)) return []
    const stored = yield* sql<{ id: string }>`
      INSERT INTO chat_requests ${sql.insert(Arr.map(rows, (row) => ({ ...row })))} ON CONFLICT (connection, message_key) DO NOTHING RETURNING id`
    const ids = new Set(stored.map(({ id }) => id))
    return requests.map(({ id }): "stored" | "duplicate" => (ids.has(id) ? "stored" : "duplicate"))
  }).pipe(unavailable("chat_requests.add"))

const refuse = (why: "full" | "closed"): StoreError =>
  new StoreError({
    reason: "unavailable",
    operation: "chat_requests.add",
    message:
      why === "full"
        ? `${maxWaiting} chat messages wait to be stored; the database does not keep up with what comes in`
        : "the service is stopping"
  })

interface Changing {
  readonly request: ChatRequest
  readonly change: ChatChange
  readonly now: number
}

const updateOne =
  (sql: SqlClient.SqlClient) =>
  ({
    change: { command, facts, status, workspace },
    now,
    request
  }: Changing): Effect.Effect<ChatRequest | undefined, StoreError> =>
    sql`UPDATE chat_requests SET ${sql.update({
      status,
      version: request.version + 1,
      command: command ?? request.command ?? null,
      workspace: workspace ?? request.workspace ?? null,
      facts: encodeFacts(facts ?? request.facts),
      updated_at: now
    })} WHERE id = ${request.id} AND version = ${request.version} RETURNING *`.pipe(
      unavailable("chat_requests.change"),
      Effect.flatMap((rows) => fromRows("chat_requests.change", rows)),
      Effect.map(([changed]) => changed)
    )

/**
 * Changes of several requests share a transaction, because each commit is synced to disk and blocks the event loop. In the order of
 * ids, so that two nodes lock rows in the same order.
 */
const update = (sql: SqlClient.SqlClient) => (changes: ReadonlyArray<Changing>) =>
  Effect.gen(function* () {
    const results = new Map<Changing, ChatRequest | undefined>()
    for (const one of changes.toSorted((a, b) => (a.request.id < b.request.id ? -1 : 1)))
      results.set(one, yield* updateOne(sql)(one))
    return changes.map((one) => results.get(one))
  }).pipe(
    sql.withTransaction,
    Effect.catchTag("SqlError", (error) => Effect.fail(error).pipe(unavailable("chat_requests.change")))
  )

const count =
  (sql: SqlClient.SqlClient): Service["count"] =>
  ({ command, connection, conversation, sender, since, statuses, upTo }) =>
    sql<{ count: number }>`SELECT COUNT(*) AS count FROM chat_requests WHERE ${sql.and([
      sql`connection = ${connection}`,
      sql`received_at > ${since}`,
      ...(command === undefined ? [] : [sql`command = ${command}`]),
      ...(sender === undefined ? [] : [sql`sender = ${toStorable(sender.id)}`, sql`sender_type = ${sender.type}`]),
      ...(conversation === undefined ? [] : [sql`conversation = ${toStorable(conversation.id)}`]),
      ...(statuses === undefined ? [] : [sql.in("status", statuses)]),
      ...(upTo === undefined ? [] : [sql`id <= ${upTo}`])
    ])}`.pipe(
      unavailable("chat_requests.count"),
      Effect.map(([row]) => Number(row?.count ?? 0))
    )

const list =
  (sql: SqlClient.SqlClient): Service["list"] =>
  ({ connection, limit, status, workspace, ...range }) => {
    const conditions = [
      ...(connection === undefined ? [] : [sql`connection = ${connection}`]),
      ...(status === undefined ? [] : [sql`status = ${status}`]),
      ...(workspace === undefined ? [] : [sql`workspace = ${workspace}`]),
      ...idConditions(sql, range)
    ]
    const where = conditions.length === 0 ? sql`` : sql`WHERE ${sql.and(conditions)}`
    return sql`SELECT * FROM chat_requests ${where} ORDER BY id ${direction(sql, range)} LIMIT ${limit}`.pipe(
      unavailable("chat_requests.list"),
      Effect.flatMap((rows) => fromRows("chat_requests.list", rows))
    )
  }

interface ActionRow {
  readonly id: string
  readonly connection: string
  readonly conversation: string
  readonly request_id: string
  readonly kind: ChatButton["kind"]
  readonly subject: string
  readonly expires_at: number | string
  readonly used_by: string | null
}

const actions = (sql: SqlClient.SqlClient): Pick<Service, "addActions" | "getAction" | "useAction"> => ({
  addActions: (added) => {
    const rows = added.map(({ expiresAt, requestId, ...rest }) => ({
      ...rest,
      request_id: requestId,
      expires_at: expiresAt,
      used_by: null
    }))
    return Arr.isReadonlyArrayNonEmpty(rows)
      ? sql`INSERT INTO chat_actions ${sql.insert(Arr.map(rows, (row) => ({ ...row })))} ON CONFLICT DO NOTHING`.pipe(
          Effect.asVoid,
          unavailable("chat_requests.addActions")
        )
      : Effect.void
  },
  getAction: (id) =>
    sql<ActionRow>`SELECT * FROM chat_actions WHERE id = ${toStorable(id)}`.pipe(
      unavailable("chat_requests.getAction"),
      Effect.map(([row]) => {
        if (row === undefined) return undefined
        const { expires_at, request_id, used_by, ...rest } = row
        return { ...rest, requestId: request_id, expiresAt: Number(expires_at), usedBy: used_by ?? undefined }
      })
    ),
  useAction: (id, requestId, now) =>
    sql<{ id: string }>`UPDATE chat_actions SET used_by = ${requestId}
      WHERE id = ${toStorable(id)} AND expires_at > ${now} AND (used_by IS NULL OR used_by = ${requestId})
      RETURNING id`.pipe(
      unavailable("chat_requests.useAction"),
      Effect.map((rows) => rows.length > 0)
    )
})

const prune =
  (sql: SqlClient.SqlClient): Service["prune"] =>
  ({ before, keptSince, maxCount }, now) =>
    Effect.gen(function* () {
      yield* deleteInSteps(
        (limit) => sql`DELETE FROM chat_actions WHERE id IN (
          SELECT id FROM chat_actions WHERE expires_at <= ${now} LIMIT ${limit}) RETURNING id`
      )
      const [beyond] = yield* sql<{ id: string }>`
        SELECT id FROM chat_requests ORDER BY id DESC LIMIT 1 OFFSET ${maxCount}`
      return yield* deleteInSteps(
        (limit) => sql`DELETE FROM chat_requests WHERE id IN (
          SELECT id FROM chat_requests
          WHERE (received_at < ${before} OR id <= ${beyond?.id ?? ""}) AND received_at < ${keptSince} AND NOT ${sql.in("status", openStatuses)}
          LIMIT ${limit}) RETURNING id`
      )
    }).pipe(unavailable("chat_requests.prune"))

export const layer: Layer.Layer<ChatRequests, never, SqlClient.SqlClient> = Layer.effect(
  ChatRequests,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const group = yield* GroupCommit.make({ commit: insert(sql), maxBatch, maxWaiting, refuse })
    const changes = yield* GroupCommit.make({ commit: update(sql), maxBatch, maxWaiting, refuse })
    return ChatRequests.of({
      add: group.submit,
      change: (request, change, now) => changes.submit({ request, change, now }),
      get: (id) =>
        sql`SELECT * FROM chat_requests WHERE id = ${toStorable(id)}`.pipe(
          unavailable("chat_requests.get"),
          Effect.flatMap((rows) => fromRows("chat_requests.get", rows)),
          Effect.map(([found]) => found)
        ),
      open: (connection, limit) =>
        sql`SELECT * FROM chat_requests WHERE connection = ${connection} AND ${sql.in("status", openStatuses)}
          ORDER BY CASE WHEN status IN ('queued', 'running') THEN 1 ELSE 0 END, id LIMIT ${limit}`.pipe(
          unavailable("chat_requests.open"),
          Effect.flatMap((rows) => fromRows("chat_requests.open", rows))
        ),
      openConnections: sql<{ connection: string; count: number }>`
        SELECT connection, COUNT(*) AS count FROM chat_requests WHERE ${sql.in("status", openStatuses)}
        GROUP BY connection`.pipe(
        unavailable("chat_requests.openConnections"),
        Effect.map((rows) => new Map(rows.map(({ connection, count: open }) => [connection, Number(open)])))
      ),
      list: list(sql),
      count: count(sql),
      waiting: (workspace) =>
        sql<{ count: number }>`SELECT COUNT(*) AS count FROM chat_requests
          WHERE workspace = ${workspace} AND status = 'queued'`.pipe(
          unavailable("chat_requests.waiting"),
          Effect.map(([row]) => Number(row?.count ?? 0))
        ),
      ...actions(sql),
      prune: prune(sql)
    })
  })
)
