/** The stores of the database source in the record database. */
import { Context, Effect, Layer } from "effect"
import { ActivationStore } from "../../config/revisions/ActivationStore.ts"
import { AuditLog, auditLimits } from "../../config/revisions/AuditLog.ts"
import {
  DraftStore,
  maxDrafts,
  maxDraftsPerOwner,
  maxOwnerBytes,
  maxTotalBytes
} from "../../config/revisions/DraftStore.ts"
import { ResealStore } from "../../config/revisions/ResealStore.ts"
import { operationLimits, RevisionStore } from "../../config/revisions/RevisionStore.ts"
import { makeRevisions } from "./SqlRevisions.ts"
import { SqlClient } from "effect/sql"
import { parseReseal, parseDraft, parseActivation, parseAudit } from "../../config/revisions/StoredRecords.ts"
import { parsed, sourceError } from "./StoredText.ts"
import type { ConfigDraft } from "../../config/revisions/DraftStore.ts"
import { lockNames } from "../../database/RowLocks.ts"
import type { AuditLimits } from "../../config/revisions/AuditLog.ts"
import { deleteInSteps } from "../../database/sql/DeleteInSteps.ts"
import { oncePer } from "../../database/sql/OncePer.ts"

/** Greater than every id. */
const lastId = "~"

/** Stores audit records in the table `config_audit`, and activations of nodes in `config_activations`. */
const makeAudit = Effect.fnUntraced(function* (namespace: string, { records, surplus }: AuditLimits) {
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

const makeActivations = Effect.fnUntraced(function* (namespace: string) {
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

/** Stores drafts in the table `config_drafts`. */
const makeDrafts = Effect.fnUntraced(function* (namespace: string) {
  const sql = yield* SqlClient.SqlClient
  const get = Effect.fnUntraced(function* (id: string) {
    const [row] = yield* sql<{ draft: string }>`
      SELECT draft FROM config_drafts WHERE namespace = ${namespace} AND id = ${id}`
    return row === undefined ? undefined : yield* parsed("drafts.get", parseDraft(row.draft))
  })
  /** Returns the limit that a draft of this size would exceed. */
  const exceeded = Effect.fnUntraced(function* ({ id, owner }: ConfigDraft, bytes: number, isNew: boolean) {
    const [row] = yield* sql<{ own: number; total: number; own_bytes: number; bytes: number }>`
      SELECT count(*) AS total, count(CASE WHEN owner = ${owner} THEN 1 END) AS own,
        COALESCE(sum(octet_length(draft)), 0) AS bytes,
        COALESCE(sum(CASE WHEN owner = ${owner} THEN octet_length(draft) END), 0) AS own_bytes
      FROM config_drafts WHERE namespace = ${namespace} AND id <> ${id}`
    if (isNew && Number(row?.own) >= maxDraftsPerOwner) return { _tag: "TooMany", limit: maxDraftsPerOwner } as const
    if (isNew && Number(row?.total) >= maxDrafts) return { _tag: "TooMany", limit: maxDrafts } as const
    if (Number(row?.own_bytes) + bytes > maxOwnerBytes) return { _tag: "TooLarge", limit: maxOwnerBytes } as const
    if (Number(row?.bytes) + bytes > maxTotalBytes) return { _tag: "TooLarge", limit: maxTotalBytes } as const
    return undefined
  })
  return DraftStore.of({
    get: (id) => sourceError("drafts.get")(get(id)),
    list: sql<{ draft: string }>`
      SELECT draft FROM config_drafts WHERE namespace = ${namespace} ORDER BY id DESC LIMIT ${maxDrafts}`.pipe(
      Effect.flatMap((rows) => Effect.forEach(rows, ({ draft }) => parsed("drafts.list", parseDraft(draft)))),
      sourceError("drafts.list")
    ),
    save: Effect.fnUntraced(
      function* (draft) {
        const { id, owner, version } = draft
        const current = yield* get(id)
        if ((current?.version ?? 0) !== version - 1) return { _tag: "Moved", current } as const
        const text = JSON.stringify(draft)
        const limit = yield* exceeded(draft, Buffer.byteLength(text), current === undefined)
        if (limit !== undefined) return limit
        yield* sql`
          INSERT INTO config_drafts ${sql.insert({ namespace, id, owner, version, draft: text })}
          ON CONFLICT (namespace, id) DO UPDATE SET version = excluded.version, draft = excluded.draft`
        return { _tag: "Saved" } as const
      },
      (effect) => sql.withTransaction(Effect.andThen(lockNames(sql, [`config-drafts:${namespace}`]), effect)),
      sourceError("drafts.save")
    ),
    remove: (id, version) =>
      sql`DELETE FROM config_drafts
        WHERE namespace = ${namespace} AND id = ${id} AND version = ${version} RETURNING id`.pipe(
        Effect.map((rows) => rows.length > 0),
        sourceError("drafts.remove")
      )
  })
})

/** Stores the sealing of credentials in the table `config_reseals`. */
const makeReseals = Effect.fnUntraced(function* (namespace: string) {
  const sql = yield* SqlClient.SqlClient
  return ResealStore.of({
    get: sql<{ job: string }>`SELECT job FROM config_reseals WHERE namespace = ${namespace}`.pipe(
      Effect.flatMap(([row]) =>
        row === undefined ? Effect.succeed(undefined) : parsed("reseals.get", parseReseal(row.job))
      ),
      sourceError("reseals.get")
    ),
    save: (job) => {
      const { version } = job
      const text = JSON.stringify(job)
      const saved =
        version === 1
          ? sql`INSERT INTO config_reseals ${sql.insert({ namespace, version, job: text })}
              ON CONFLICT (namespace) DO NOTHING RETURNING namespace`
          : sql`UPDATE config_reseals SET version = ${version}, job = ${text}
              WHERE namespace = ${namespace} AND version = ${version - 1} RETURNING namespace`
      return saved.pipe(
        Effect.map((rows) => rows.length > 0),
        sourceError("reseals.save")
      )
    }
  })
})

export type SourceStores = ActivationStore | AuditLog | DraftStore | ResealStore | RevisionStore

export const layerSql = (
  namespace: string,
  audit = auditLimits,
  operations = operationLimits
): Layer.Layer<SourceStores, never, SqlClient.SqlClient> =>
  Layer.effectContext(
    Effect.gen(function* () {
      return Context.make(RevisionStore, yield* makeRevisions(namespace, operations)).pipe(
        Context.add(DraftStore, yield* makeDrafts(namespace)),
        Context.add(AuditLog, yield* makeAudit(namespace, audit)),
        Context.add(ActivationStore, yield* makeActivations(namespace)),
        Context.add(ResealStore, yield* makeReseals(namespace))
      )
    })
  )
