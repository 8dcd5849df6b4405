/**
 * Contract between the HTTP server and `/api/admin/*`: it takes a request whose body was read within limits and returns a response. Never
 * fails; errors are responses.
 */
import { Context } from "effect"
import type { Effect } from "effect"

/** Maximum size of a body in bytes. */
export const maxBodyBytes = 1024 * 1024

/** Maximum size of a message of a coding agent in bytes. */
export const maxMessageBytes = 64 * 1024

export interface AdminRequest {
  readonly method: string
  /** Path below `/api/admin`, with its leading slash. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** Address of the client, according to `server.trust_proxy`. */
  readonly address: string
  /** Key of the limits per client: the address, or the /64 of an IPv6 address. */
  readonly client: string
  readonly body: Uint8Array
}

export interface SharedRequest extends Pick<AdminRequest, "client"> {
  /** Path of the link below `/shared/`. */
  readonly path: string
  readonly acceptLanguage: string
}

export interface AdminResponse {
  readonly status: number
  readonly contentType: string
  readonly body: string
  /** Bytes that replace `body`: events, until the client disconnects. */
  readonly stream?: ReadableStream<Uint8Array> | undefined
  readonly headers: Readonly<Record<string, string>>
}

export class AdminApi extends Context.Service<
  AdminApi,
  {
    /** Returns the OpenAPI document; `prefix` is the normalised `server.path_prefix`. */
    readonly openApi: (prefix: string) => AdminResponse
    /** Returns the same as a page for people. */
    readonly docs: (prefix: string) => AdminResponse
    /** Returns the maximum size of the body in bytes, or the response to a request whose body is not read. */
    readonly bodyLimit: (head: Omit<AdminRequest, "body">) => Effect.Effect<number | AdminResponse>
    /** Handles a request of a client that has to log in. */
    readonly handle: (request: AdminRequest) => Effect.Effect<AdminResponse>
    /** Handles a request for a shared review. Needs no login. */
    readonly handleShared: (request: SharedRequest) => Effect.Effect<AdminResponse>
    /** Handles a message of a coding agent, which has a token. */
    readonly handleAgent: (request: AdminRequest) => Effect.Effect<AdminResponse>
    /** Handles a request of a user who may read and write the data folder, and so needs no session. */
    readonly handleLocal: (request: AdminRequest) => Effect.Effect<AdminResponse>
  }
>()("aicr/admin/AdminApi") {}
