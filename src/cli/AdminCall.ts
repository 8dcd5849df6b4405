/**
 * Requests of commands to the administration: of the running service, or of this process over the stores where none runs. Both return the
 * same JSON, so that a command prints the same in either case.
 */
import { Effect, Schema } from "effect"
import type { Option } from "effect"
import { Flag } from "effect/cli"
import type { Prompt } from "effect/cli"
import { ExitWith } from "./Exit.ts"

export interface AdminCall {
  readonly method: "GET" | "POST"
  /** Path below `/api/admin`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined
  readonly body?: object | undefined
}

export interface AdminReply {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

export type SendCall = (call: AdminCall) => Effect.Effect<AdminReply, ExitWith>

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
  use: (send: SendCall) => Effect.Effect<A, ExitWith>
) => Effect.Effect<A, ExitWith, Prompt.Environment>

export const urlFlag = Flag.String("url").pipe(
  Flag.withDescription(
    "Address of the running service, such as https://aicr.example.com. Default: the service of this configuration on this machine, or its stores if none runs. A service at an address is used with the token in SVC_ADMIN_TOKEN, or is logged in to with SVC_ADMIN_USERNAME and SVC_ADMIN_PASSWORD, or a password that is typed"
  ),
  Flag.optional
)

/** Builds the path and query of a call. */
export const toPath = ({ path, query = {} }: AdminCall): string => {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value))
  return given.size === 0 ? path : `${path}?${given.toString()}`
}

const maxDetail = 300

/** Returns the text of an error response. */
export const detail = ({ body }: AdminReply): string =>
  typeof body["detail"] === "string" ? body["detail"].replace(/\p{Cc}/gu, " ").slice(0, maxDetail) : "no detail"

/** Returns the error of a response that a command does not expect. Bad input ends with 2, anything else with 3. */
export const unexpected = (reply: AdminReply): ExitWith => {
  const code = reply.status === 400 || reply.status === 404 ? 2 : 3
  return new ExitWith({
    code,
    message: code === 2 ? detail(reply) : `the service responded with ${reply.status}: ${detail(reply)}`
  })
}

/** Sends a call and decodes its response. */
export const request = <A, I>(
  send: SendCall,
  schema: Schema.Codec<A, I>,
  call: AdminCall
): Effect.Effect<{ readonly value: A; readonly body: AdminReply["body"] }, ExitWith> =>
  Effect.flatMap(send(call), (reply) =>
    reply.status >= 300
      ? Effect.fail(unexpected(reply))
      : Effect.mapBoth(Schema.decodeUnknownEffect(schema)(reply.body), {
          onSuccess: (value) => ({ value, body: reply.body }),
          onFailure: (error) =>
            new ExitWith({
              code: 3,
              message: `the response of the service has another form, perhaps of another version: ${error.message}`
            })
        })
  )
