/**
 * Stores the tokens of programs, shared by all nodes: the one record of service tokens. Only the digest of a token is stored. A revocation
 * holds from the next request on, on every node, because each request reads the record. The table is `service_tokens`.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { StoreError } from "../database/StoreError.ts"
import { selectAs, unavailable } from "../database/sql/StoreFailure.ts"
import { ServiceToken } from "../domain/ServiceToken.ts"

/** Revoked and expired tokens are kept for so long. */
const keptMillis = 90 * 24 * 60 * 60 * 1000
const maxListed = 1000
const usePrecisionMillis = 60 * 60 * 1000

export class ServiceTokens extends Context.Service<
  ServiceTokens,
  {
    /** Stores a token. Returns false if another one with its name is not revoked. */
    readonly create: (token: ServiceToken) => Effect.Effect<boolean, StoreError>
    /** Returns the newest tokens first, also those that were revoked or have expired in the last 90 days. */
    readonly list: Effect.Effect<ReadonlyArray<ServiceToken>, StoreError>
    /** Returns the token with this digest, also if it was revoked or has expired. */
    readonly find: (digest: string) => Effect.Effect<ServiceToken | undefined, StoreError>
    /** Records a use, at most once per hour. */
    readonly use: (token: ServiceToken, now: number) => Effect.Effect<void, StoreError>
    /** Revokes a token and returns it. Undefined if no such token exists; a revoked one does not change. */
    readonly revoke: (id: string, now: number) => Effect.Effect<ServiceToken | undefined, StoreError>
  }
>()("aicr/store/ServiceTokens") {}

const first = ([token]: ReadonlyArray<ServiceToken>): ServiceToken | undefined => token

export const layer: Layer.Layer<ServiceTokens, never, SqlClient.SqlClient> = Layer.effect(
  ServiceTokens,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return ServiceTokens.of({
      create: Effect.fnUntraced(
        function* (token) {
          const before = token.createdAt - keptMillis
          yield* sql`DELETE FROM service_tokens WHERE expires_at <= ${before} OR revoked_at <= ${before}`
          const added = yield* sql`
            INSERT INTO service_tokens ${sql.insert(ServiceToken.toRow(token))} ON CONFLICT DO NOTHING RETURNING id`
          return added.length > 0
        },
        sql.withTransaction,
        unavailable("tokens.create")
      ),
      list: selectAs(
        ServiceToken,
        "tokens.list",
        sql`SELECT * FROM service_tokens ORDER BY id DESC LIMIT ${maxListed}`
      ).pipe(unavailable("tokens.list")),
      find: (digest) =>
        selectAs(ServiceToken, "tokens.find", sql`SELECT * FROM service_tokens WHERE digest = ${digest}`).pipe(
          Effect.map(first),
          unavailable("tokens.find")
        ),
      use: ({ id, lastUsedAt = 0 }, now) =>
        now - lastUsedAt < usePrecisionMillis
          ? Effect.void
          : sql`UPDATE service_tokens SET last_used_at = ${now - (now % usePrecisionMillis)} WHERE id = ${id}`.pipe(
              Effect.asVoid,
              unavailable("tokens.use")
            ),
      revoke: (id, now) =>
        selectAs(
          ServiceToken,
          "tokens.revoke",
          sql`UPDATE service_tokens SET revoked_at = coalesce(revoked_at, ${now}) WHERE id = ${id} RETURNING *`
        ).pipe(Effect.map(first), unavailable("tokens.revoke"))
    })
  })
)
