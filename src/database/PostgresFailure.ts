/** What Postgres, its client or the network says, as the reasons of `effect/sql`: in one place. */
import { SqlError } from "effect/sql"

/**
 * How far it got. `connect`: no connection, after waiting for one. `undone`: whatever the statement would have done, it is not done:
 * it was never sent, only reads, or its transaction ended with the connection. `statement`: what is left is an error, or unknown.
 */
export type Stage = "connect" | "undone" | "statement"

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : ""

/** `place` is the server, without credentials. */
export const toSqlError = (cause: unknown, place: string, stage: Stage): SqlError.SqlError => {
  const said = messageOf(cause)
  const code = codeOf(cause)
  const remedy = remedies.find(([codes]) => codes.test(code))?.[1]
  const message = `Postgres ${place}: ${said}.${remedy === undefined ? "" : ` ${remedy}`}`
  const isVoid = isVoidPlan(cause)
  const operation: Stage = stage === "statement" && (neverSent.test(said) || isVoid) ? "undone" : stage
  const props = { cause, message, operation }
  return new SqlError.SqlError({ reason: isVoid ? new SqlError.ConnectionError(props) : classify(code, props) })
}

/** Whether a statement was lost on the way: it may have been done or not. */
export const isAnswerLost = (error: unknown): boolean =>
  SqlError.isSqlError(error) && isLost(error) && error.reason.operation === ("statement" satisfies Stage)

/** Whether all of it may be done again: nothing of it was done, or the server undid it. */
export const isUndone = (error: unknown): boolean => {
  if (!SqlError.isSqlError(error)) return false
  const { _tag, operation } = error.reason
  return (
    _tag === "DeadlockError" ||
    _tag === "SerializationError" ||
    (_tag === "ConnectionError" && operation === ("undone" satisfies Stage))
  )
}

/** An error of several addresses tried says nothing itself. */
const messageOf = (cause: unknown): string => {
  if (cause instanceof AggregateError && cause.message === "") return cause.errors.map(messageOf).join("; ")
  return cause instanceof Error ? cause.message : String(cause)
}

/** A table has other columns than when the statement was planned on this connection: another one plans it anew. */
const isVoidPlan = (cause: unknown): boolean =>
  codeOf(cause) === "0A000" && cause instanceof Error && "routine" in cause && cause.routine === "RevalidateCachedQuery"

const neverSent = /is not queryable$/

const classify = (
  code: string,
  props: { readonly cause: unknown; readonly message: string; readonly operation: string }
): SqlError.SqlErrorReason => {
  switch (code) {
    case "23505":
      return new SqlError.UniqueViolation({ ...props, constraint: constraintOf(props.cause) })
    case "40P01":
      return new SqlError.DeadlockError(props)
    case "40001":
      return new SqlError.SerializationError(props)
    case "55P03":
      return new SqlError.LockTimeoutError(props)
    case "57014":
      return new SqlError.StatementTimeoutError(props)
    case "42501":
      return new SqlError.AuthorizationError(props)
    case "42601":
      return new SqlError.SqlSyntaxError(props)
  }
  if (code.startsWith("23")) return new SqlError.ConstraintError(props)
  if (code.startsWith("28")) return new SqlError.AuthenticationError(props)
  // Five letters and digits are the server's answer, anything else is the way to it.
  return /^[0-9A-Z]{5}$/.test(code) && !gone.test(code)
    ? new SqlError.UnknownError(props)
    : new SqlError.ConnectionError(props)
}

const constraintOf = (cause: unknown): string =>
  cause instanceof Error && "constraint" in cause && typeof cause.constraint === "string" ? cause.constraint : "unknown"

/** Connection lost, too many of them, stopping or starting, idle for too long, turned into a standby. */
const gone = /^(08|57P|53|25P03|25P04|25006)/

/** Whether the connection is of no use after this error. */
export const isLost = (error: SqlError.SqlError): boolean => error.reason._tag === "ConnectionError"

const remedies: ReadonlyArray<readonly [RegExp, string]> = [
  [/^28/, "Check the user and the password in the variable of storage.database.postgres.url_env."],
  [/^3D000$/, "Create the database, or name another one in storage.database.postgres."],
  [/^42501$/, "Give the user the right to use and create tables in its schema."],
  [/^53300$/, "Raise max_connections of the server, or run fewer nodes."],
  [/^53100$/, "The disk of the server is full; free some space."],
  [/^25006$/, "It is a standby; name the primary in storage.database.postgres."],
  [/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/, "Check the address and that it runs."]
]
