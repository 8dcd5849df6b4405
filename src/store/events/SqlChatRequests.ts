/** Stores requests from chat in the table `chat_requests`, and buttons of cards in `chat_actions`. */
import { Array as Arr, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import { openStatuses } from "../../domain/ChatRequest.ts"
import { toStorable } from "../../domain/Text.ts"
import { deleteInSteps } from "../../database/sql/DeleteInSteps.ts"
import * as GroupCommit from "../../database/sql/GroupCommit.ts"
import { StoreError } from "../../database/StoreError.ts"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import { direction, idConditions } from "../../database/sql/ListOrder.ts"
import { ChatAction, ChatRequest, ChatRequests } from "../ChatRequests.ts"
import type { ChatChange, NewChatRequest } from "../ChatRequests.ts"

const maxBatch = 256
/** Maximum number of messages waiting for their commit; further callbacks are refused, so that the platform delivers them again. */
const maxWaiting = 2000

type Service = ChatRequests["Service"]

const select = (operation: string) => (rows: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>) =>
  unavailable(operation)(selectAs(ChatRequest, operation, rows))

const insert = (sql: SqlClient.SqlClient) => (requests: ReadonlyArray<NewChatRequest>) =>
  Effect.gen(function* () {
    if (!Arr.isReadonlyArrayNonEmpty(requests)) return []
    const rows = Arr.map(requests, (request) =>
      ChatRequest.toRow({ ...request, status: "accepted", version: 0, updatedAt: request.receivedAt })
    )
    const stored = yield* sql<{ id: string }>`
      INSERT INTO chat_requests ${sql.insert(rows)} ON CONFLICT (connection, message_key) DO NOTHING RETURNING id`
    const ids = new Set(stored.map(({ id }) => id))
    return requests.map(({ id }): "stored" | "duplicate" => (ids.has(id) ? "stored" : "duplicate"))
  }).pipe(unavailable("chat_requests.add"))

const refuse = (why: "full" | "closed"): StoreError =>
  new StoreError({
    reason: "unavailable",
    operation: "chat_requests.add",
    why: why === "full" ? { _tag: "ChatMessagesBehind", count: maxWaiting } : { _tag: "ServiceStopping" }
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
      facts: ChatRequest.toColumn("facts", facts ?? request.facts),
      updated_at: now
    })} WHERE id = ${request.id} AND version = ${request.version} RETURNING *`.pipe(
      select("chat_requests.change"),
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
      select("chat_requests.list")
    )
  }

const actions = (sql: SqlClient.SqlClient): Pick<Service, "addActions" | "getAction" | "useAction"> => ({
  addActions: (added) =>
    Arr.isReadonlyArrayNonEmpty(added)
      ? sql`INSERT INTO chat_actions ${sql.insert(Arr.map(added, ChatAction.toRow))} ON CONFLICT DO NOTHING`.pipe(
          Effect.asVoid,
          unavailable("chat_requests.addActions")
        )
      : Effect.void,
  getAction: (id) =>
    selectAs(ChatAction, "chat_requests.getAction", sql`SELECT * FROM chat_actions WHERE id = ${toStorable(id)}`).pipe(
      Effect.map(([action]) => action),
      unavailable("chat_requests.getAction")
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
          select("chat_requests.get"),
          Effect.map(([found]) => found)
        ),
      open: (connection, limit) =>
        sql`SELECT * FROM chat_requests WHERE connection = ${connection} AND ${sql.in("status", openStatuses)}
          ORDER BY CASE WHEN status IN ('queued', 'running') THEN 1 ELSE 0 END, id LIMIT ${limit}`.pipe(
          select("chat_requests.open")
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
