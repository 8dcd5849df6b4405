/** Stores audit records in the table `config_audit`, and activations of nodes in `config_activations`. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ActivationStore } from "../../config/revisions/ActivationStore.ts"
import { AuditLog } from "../../config/revisions/AuditLog.ts"
import type { AuditLimits } from "../../config/revisions/AuditLog.ts"
import { parseActivation, parseAudit } from "../../config/revisions/StoredRecords.ts"
import { deleteInSteps } from "../../database/sql/DeleteInSteps.ts"
import { oncePer } from "../../database/sql/OncePer.ts"
import { parsed, sourceError } from "./StoredText.ts"

/** Greater than every id. */
const lastId = "~"

export const makeAudit = Effect.fnUntraced(function* (namespace: string, { records, surplus }: AuditLimits) {
  const sql = yield* SqlClient.SqlClient
  const prune = (since: number) =>
    deleteInSteps(
      (step) => sql`
        DELETE FROM config_audit WHERE namespace = ${namespace} AND id IN (
          SELECT id FROM config_audit WHERE namespace = ${namespace} AND (created_at < ${since} OR id <= (
            SELECT id FROM config_audit WHERE namespace = ${namespace} ORDER BY id DESC LIMIT 1 OFFSET ${records}))
          ORDER BY id LIMIT ${step})
        RETURNING id`
    )
  const trim = oncePer(surplus, prune(0))
  return AuditLog.of({
    append: (record) =>
      sql`INSERT INTO config_audit ${sql.insert({
        namespace,
        id: record.id,
        created_at: record.at,
        record: JSON.stringify(record)
      })}`.pipe(Effect.andThen(trim), sourceError("audit.append")),
    list: Effect.fnUntraced(function* ({ before = lastId, limit }) {
      const rows = yield* sql<{ record: string }>`
        SELECT record FROM config_audit WHERE namespace = ${namespace} AND id < ${before}
        ORDER BY id DESC LIMIT ${limit + 1}`
      const items = yield* Effect.forEach(rows.slice(0, limit), ({ record }) =>
        parsed("audit.list", parseAudit(record))
      )
      return { items, next: rows.length > limit ? items.at(-1)?.id : undefined }
    }, sourceError("audit.list")),
    prune: (since) => prune(since).pipe(Effect.asVoid, sourceError("audit.prune"))
  })
})

export const makeActivations = Effect.fnUntraced(function* (namespace: string) {
  const sql = yield* SqlClient.SqlClient
  return ActivationStore.of({
    report: (activation) =>
      sql`INSERT INTO config_activations ${sql.insert({
        namespace,
        node: activation.node,
        reported_at: activation.at,
        activation: JSON.stringify(activation)
      })} ON CONFLICT (namespace, node) DO UPDATE SET
        reported_at = excluded.reported_at, activation = excluded.activation`.pipe(
        Effect.asVoid,
        sourceError("activations.report")
      ),
    list: (since) =>
      sql<{ activation: string }>`
        SELECT activation FROM config_activations
        WHERE namespace = ${namespace} AND reported_at >= ${since} ORDER BY node`.pipe(
        Effect.flatMap((rows) =>
          Effect.forEach(rows, ({ activation }) => parsed("activations.list", parseActivation(activation)))
        ),
        sourceError("activations.list")
      ),
    prune: (since) =>
      sql`DELETE FROM config_activations WHERE namespace = ${namespace} AND reported_at < ${since}`.pipe(
        Effect.asVoid,
        sourceError("activations.prune")
      )
  })
})
