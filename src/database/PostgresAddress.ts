/**
 * Parses a connection string of Postgres: `postgres://user:password@host:port/database?sslmode=…`. `sslmode` has the meaning of libpq:
 * `disable` (the default), `require` encrypts, `verify-ca` and `verify-full` check the server's certificate, against `sslrootcert` if
 * given. Modes that silently fall back to plain text are refused.
 *
 * Messages never contain the connection string and its password; they name `place`.
 */
import { Effect, Redacted } from "effect"
import { Client } from "pg"
import { StoreError } from "./StoreError.ts"

export interface PostgresAddress {
  /** Server as `host:port/database`. */
  readonly place: string
  readonly connectionString: string
}

const spelling = "postgres://user:password@host:5432/database"
const modes = ["disable", "require", "verify-ca", "verify-full"]

export const parseAddress = (url: Redacted.Redacted<string>): Effect.Effect<PostgresAddress, StoreError> =>
  Effect.try({
    try: () => parse(Redacted.value(url)),
    catch: (cause) =>
      new StoreError({
        reason: "unavailable",
        operation: "open",
        message:
          cause instanceof Refused
            ? `The connection string of storage.database.postgres: ${cause.message}`
            : `The connection string of storage.database.postgres cannot be read; write it as ${spelling}`
      })
  })

class Refused extends Error {}

const parse = (text: string): PostgresAddress => {
  if (!/^postgres(ql)?:\/\//.test(text)) throw new Refused(`not a postgres:// URL; write it as ${spelling}`)
  const url = new URL(text)
  const mode = url.searchParams.get("sslmode")
  if (mode !== null && !modes.includes(mode))
    throw new Refused(`sslmode ${mode} does not say whether to encrypt; use one of ${modes.join(", ")}`)
  const root = url.searchParams.get("sslrootcert")
  if (mode === "verify-ca" && root === null) throw new Refused("sslmode verify-ca needs sslrootcert, a file")
  if (mode !== null) url.searchParams.set("uselibpqcompat", "true")
  const connectionString = url.href
  const { host, port, database } = readable(() => new Client({ connectionString }))
  return { place: `${host}:${port}/${database ?? ""}`, connectionString }
}

/** Names a missing certificate; other errors might contain the address. */
const readable = <A>(read: () => A): A => {
  try {
    return read()
  } catch (cause) {
    const isFile = cause instanceof Error && "syscall" in cause && "path" in cause
    throw isFile ? new Refused(`the file ${String(cause.path)} cannot be read`) : cause
  }
}
