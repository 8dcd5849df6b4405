/** Stores the sealing of credentials in the table `config_reseals`. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ResealStore } from "../../config/revisions/ResealStore.ts"
import { parseReseal } from "../../config/revisions/StoredRecords.ts"
import { parsed, sourceError } from "./StoredText.ts"

export const makeReseals = Effect.fnUntraced(function* (namespace: string) {
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
