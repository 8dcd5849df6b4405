/** Maps errors of Postgres, its client and the network to the reasons of `effect/sql`. */
import { SqlError } from "effect/sql"
import type { ReasonTag } from "../../domain/Reason.ts"
import { withoutPeriod } from "../../domain/Text.ts"
import { DriverFailure } from "../sql/DriverFailure.ts"
import { StoreError } from "../StoreError.ts"

/**
 * Progress of a failed statement. `connect`: no connection, after waiting for one. `undone`: the statement had no effect: it was never
 * sent, only read, or its transaction ended with the connection. `statement`: an error, or an undetermined effect.
 */
export type Stage = "connect" | "undone" | "statement"

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : ""

/** Converts an error. `place` is the server, without credentials. */
export const toSqlError = (cause: unknown, place: string, stage: Stage): SqlError.SqlError => {
  const said = messageOf(cause)
  const code = codeOf(cause)
  const next = findNext(code, said)
  const why = { _tag: "PostgresFails", server: place, why: withoutPeriod(said) } as const
  const failure = new DriverFailure(next === undefined ? why : { ...why, next: { _tag: next } }, cause)
  const isVoid = isVoidPlan(cause)
  const operation: Stage = stage === "statement" && (neverSent.test(said) || isVoid) ? "undone" : stage
  const props = { cause: failure, message: failure.message, operation }
  return new SqlError.SqlError({ reason: isVoid ? new SqlError.ConnectionError(props) : classify(code, props) })
}

/** Returns whether the response to a statement was lost, so that its effect is undetermined. */
export const isResponseLost = (error: unknown): boolean =>
  SqlError.isSqlError(error) && isLost(error) && error.reason.operation === ("statement" satisfies Stage)

/** Returns whether everything may be repeated: nothing was done, or the server rolled it back. */
export const isUndone = (error: unknown): boolean => {
  if (error instanceof StoreError) return error.isUndone === true
  if (!SqlError.isSqlError(error)) return false
  const { _tag, operation } = error.reason
  return (
    _tag === "DeadlockError" ||
    _tag === "SerializationError" ||
    (_tag === "ConnectionError" && operation === ("undone" satisfies Stage))
  )
}

/** An error of several addresses has no message itself. */
const messageOf = (cause: unknown): string => {
  if (cause instanceof AggregateError && cause.message === "") return cause.errors.map(messageOf).join("; ")
  return cause instanceof Error ? cause.message : String(cause)
}

/** Returns whether a table has other columns than when the statement was planned on this connection; another connection plans it again. */
const isVoidPlan = (cause: unknown): boolean =>
  codeOf(cause) === "0A000" && cause instanceof Error && "routine" in cause && cause.routine === "RevalidateCachedQuery"

const neverSent = /is not queryable$/

const classify = (
  code: string,
  props: { readonly cause: DriverFailure; readonly message: string; readonly operation: string }
): SqlError.SqlErrorReason => {
  switch (code) {
    case "23505":
      return new SqlError.UniqueViolation({ ...props, constraint: constraintOf(props.cause.cause) })
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
  // Codes of five letters and digits are sent by the server, all others are errors of the connection.
  return /^[0-9A-Z]{5}$/.test(code) && !connectionErrors.test(code)
    ? new SqlError.UnknownError(props)
    : new SqlError.ConnectionError(props)
}

const constraintOf = (cause: unknown): string =>
  cause instanceof Error && "constraint" in cause && typeof cause.constraint === "string" ? cause.constraint : "unknown"

/** Codes for: connection lost, too many connections, server stopping or starting, idle for too long, server became a standby. */
const connectionErrors = /^(08|57P|53|25P03|25P04|25006)/

/** Returns whether the connection is unusable after this error. */
export const isLost = (error: SqlError.SqlError): boolean => error.reason._tag === "ConnectionError"

type PostgresNext = Extract<ReasonTag, `Postgres${string}Next`>

/** Returns the next step of the operator. */
const findNext = (code: string, said: string): PostgresNext | undefined =>
  code === "42501"
    ? (rights.find(([refusal]) => refusal.test(said))?.[1] ?? "PostgresRightsNext")
    : nextSteps.find(([codes]) => codes.test(code))?.[1]

/** Missing rights, by the message of the server. */
const rights: ReadonlyArray<readonly [RegExp, PostgresNext]> = [
  [/^permission denied for database /, "PostgresConnectNext"],
  [/^permission denied for schema /, "PostgresSchemaNext"],
  [/^must be owner of /, "PostgresOwnerNext"],
  [/^permission denied for (?:table|sequence) /, "PostgresTablesNext"]
]

const nextSteps: ReadonlyArray<readonly [RegExp, PostgresNext]> = [
  [/^28/, "PostgresUserNext"],
  [/^3D000$/, "PostgresDatabaseNext"],
  [/^53300$/, "PostgresConnectionsNext"],
  [/^53100$/, "PostgresDiskNext"],
  [/^25006$/, "PostgresStandbyNext"],
  [/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/, "PostgresAddressNext"]
]
