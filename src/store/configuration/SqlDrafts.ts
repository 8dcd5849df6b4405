/** Stores drafts in the table `config_drafts`. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  DraftStore,
  maxDrafts,
  maxDraftsPerOwner,
  maxOwnerBytes,
  maxTotalBytes
} from "../../config/revisions/DraftStore.ts"
import type { ConfigDraft } from "../../config/revisions/DraftStore.ts"
import { parseDraft } from "../../config/revisions/StoredRecords.ts"
import { lockNames } from "../../database/RowLocks.ts"
import { parsed, sourceError } from "./StoredText.ts"

export const makeDrafts = Effect.fnUntraced(function* (namespace: string) {
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
