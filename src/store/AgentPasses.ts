/** Records of agent CLIs, per run and pass, appended when something happens. The table is `agent_passes`. */
import { Context, Effect, Layer, Schema } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import { AgentPassRecord } from "../domain/AgentPass.ts"
import { SqlClient } from "effect/sql"
import { deleteInSteps } from "../database/sql/DeleteInSteps.ts"
import { corrupt, unavailable } from "../database/sql/StoreFailure.ts"
import { newId } from "../domain/Ids.ts"

export class AgentPasses extends Context.Service<
  AgentPasses,
  {
    /** Appends a record. `pass` identifies the pass by its contents. If the response is lost, repeating it may add a second one. */
    readonly append: (
      runId: string,
      pass: string,
      record: AgentPassRecord,
      now: number
    ) => Effect.Effect<void, StoreError>
    /** Returns the records of a pass in these runs, in the order of their writing. */
    readonly list: (
      runIds: ReadonlyArray<string>,
      pass: string
    ) => Effect.Effect<ReadonlyArray<AgentPassRecord>, StoreError>
    /** Removes records written before this time. Returns their number. */
    readonly prune: (before: number) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/AgentPasses") {
  /** Stores nothing; for commands that print their result and exit. */
  static readonly layerNone: Layer.Layer<AgentPasses> = Layer.succeed(
    AgentPasses,
    AgentPasses.of({
      append: () => Effect.void,
      list: () => Effect.succeed([]),
      prune: () => Effect.succeed(0)
    })
  )
}

const encode = Schema.encodeSync(Schema.fromJsonString(AgentPassRecord))
const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ body: Schema.fromJsonString(AgentPassRecord) })))

export const layer: Layer.Layer<AgentPasses, never, SqlClient.SqlClient> = Layer.effect(
  AgentPasses,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return AgentPasses.of({
      append: (runId, pass, record, now) =>
        sql`INSERT INTO agent_passes ${sql.insert({
          id: newId(),
          run_id: runId,
          pass,
          written_at: now,
          body: encode(record)
        })}`.pipe(Effect.asVoid, unavailable("agent_passes.append")),
      list: (runIds, pass) =>
        runIds.length === 0
          ? Effect.succeed([])
          : sql`SELECT body FROM agent_passes WHERE ${sql.in("run_id", runIds)} AND pass = ${pass} ORDER BY id`.pipe(
              Effect.flatMap((rows) => Effect.mapError(decode(rows), (error) => corrupt("agent_passes.list", error))),
              Effect.map((rows) => rows.map(({ body }) => body)),
              unavailable("agent_passes.list")
            ),
      prune: (before) =>
        deleteInSteps(
          (limit) => sql`DELETE FROM agent_passes WHERE id IN (
            SELECT id FROM agent_passes WHERE written_at < ${before} ORDER BY written_at LIMIT ${limit}) RETURNING id`
        ).pipe(unavailable("agent_passes.prune"))
    })
  })
)
