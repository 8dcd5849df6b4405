/**
 * Calls of commands to the administration: of the running service, or of this process over the stores where none runs. Both go through the
 * client of its definition (src/admin/api), so that a command prints the same in either case.
 */
import { Effect, Option, SchemaIssue } from "effect"
import type { Schema } from "effect"
import { Flag } from "effect/cli"
import type { Prompt } from "effect/cli"
import type { HttpClientError } from "effect/http"
import type { HttpApiClient } from "effect/http-api"
import type { AdminHttpApi } from "../admin/api/AdminHttpApi.ts"
import { ExitWith, refused } from "./Exit.ts"

/** A call of the client, before it is sent. */
export interface AdminCall {
  readonly method: string
  /** Path from `/api/admin` on, with the query. */
  readonly path: string
  /** JSON; undefined: none. */
  readonly body: string | undefined
}

export interface AdminReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export type SendCall = (call: AdminCall) => Effect.Effect<AdminReply, ExitWith>

export type AdminClient = HttpApiClient.ForApi<typeof AdminHttpApi, ExitWith>

export interface AdminTarget {
  readonly config: string
  /** Address of a service; otherwise that of this machine is used, or the stores if none runs. */
  readonly url: Option.Option<string>
  /** Access to the stores, if the command works on them. `records`: it does not need the queue. */
  readonly use: "records" | "looking" | "changing"
}

/** Opens the administration for the duration of `use`. */
export type OpenAdmin = <A>(
  target: AdminTarget,
  use: (client: AdminClient) => Effect.Effect<A, ExitWith>
) => Effect.Effect<A, ExitWith, Prompt.Environment>

export const urlFlag = Flag.String("url").pipe(
  Flag.withDescription(
    "Address of a running service, such as https://aicr.example.com. Logs in with SVC_ADMIN_TOKEN, or SVC_ADMIN_USERNAME and SVC_ADMIN_PASSWORD, or prompts for the password. Default: the service on this machine, or its stores if none runs"
  ),
  Flag.optional
)

/** An error response of the administration. */
export interface ProblemReply {
  readonly status: number
  readonly code: string
  readonly detail?: string
}

const maxDetail = 300

/** Returns the text of an error response. */
export const detail = ({ detail: text }: Pick<ProblemReply, "detail">): string =>
  text === undefined ? "no detail" : text.replace(/\p{Cc}/gu, " ").slice(0, maxDetail)

type ClientError = ExitWith | HttpClientError.HttpClientError | ProblemReply | Schema.SchemaError

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Describes an argument that the definition of the administration refuses. */
const describeIssue = ({ issue }: Schema.SchemaError): string => {
  const [first] = format(issue).issues
  const path = (first?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
  const message = first?.message ?? "invalid argument"
  return path === "" ? message : `${path}: ${message}`
}

/** Returns the error of a response that a command does not expect. Bad input ends with 2, anything else with 3. */
const toExit = (error: ClientError): ExitWith => {
  if (error instanceof ExitWith) return error
  if ("status" in error && "code" in error) {
    const code = error.status === 400 || error.status === 404 ? 2 : 3
    const text = detail(error)
    return new ExitWith({ code, message: code === 2 ? text : `the service responded with ${error.status}: ${text}` })
  }
  if (error._tag === "SchemaError") return refused(describeIssue(error))
  const status = "response" in error && error.response !== undefined ? ` (status ${error.response.status})` : ""
  return new ExitWith({
    code: 3,
    message: `the response of the service has another form, perhaps of another version${status}: ${error.message}`
  })
}

/** Converts the errors of a call that a command does not handle. */
export const request = <A, E extends ClientError, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, ExitWith, R> =>
  Effect.mapError(call, toExit)

/** Returns the given options, without those that are not set. */
export const given = <A extends Readonly<Record<string, Option.Option<unknown>>>>(
  options: A
): { readonly [K in keyof A]?: A[K] extends Option.Option<infer V> ? V : never } => {
  const entries = Object.entries(options).flatMap(([name, value]) =>
    Option.isSome(value) ? [[name, value.value] as const] : []
  )
  return Object.fromEntries(entries) as { readonly [K in keyof A]?: A[K] extends Option.Option<infer V> ? V : never }
}
