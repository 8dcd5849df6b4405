/**
 * Parses a connection string of Postgres: `postgres://user:password@host:port/database?sslmode=…`. `sslmode` has the meaning of libpq:
 * `disable` (the default), `require` encrypts, `verify-ca` and `verify-full` check the server's certificate, against `sslrootcert` if
 * given. Modes that silently fall back to plain text are refused.
 *
 * Messages never contain the connection string and its password; they name `place`.
 */
import { Effect, Redacted } from "effect"
import { Client } from "pg"
import type { Reason } from "../../domain/Reason.ts"
import { StoreError } from "../StoreError.ts"

export interface PostgresAddress {
  /** Server as `host:port/database`. */
  readonly place: string
  readonly connectionString: string
}

const modes = ["disable", "require", "verify-ca", "verify-full"]

export const parseAddress = (url: Redacted.Redacted<string>): Effect.Effect<PostgresAddress, StoreError> =>
  Effect.try({
    try: () => parse(Redacted.value(url)),
    catch: (cause) =>
      new StoreError({
        reason: "unavailable",
        operation: "open",
        why:
          cause instanceof Refused ? { _tag: "PostgresUrlRefused", why: cause.why } : { _tag: "PostgresUrlUnreadable" }
      })
  })

class Refused extends Error {
  readonly why: Reason
  constructor(why: Reason) {
    super()
    this.why = why
  }
}

const parse = (text: string): PostgresAddress => {
  if (!/^postgres(ql)?:\/\//.test(text)) throw new Refused({ _tag: "PostgresUrlExpected" })
  const url = new URL(text)
  const mode = url.searchParams.get("sslmode")
  if (mode !== null && !modes.includes(mode)) throw new Refused({ _tag: "SslModeUnclear", mode, modes })
  const root = url.searchParams.get("sslrootcert")
  if (mode === "verify-ca" && root === null) throw new Refused({ _tag: "SslRootMissing" })
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
    throw isFile ? new Refused({ _tag: "CertificateUnreadable", path: String(cause.path) }) : cause
  }
}
