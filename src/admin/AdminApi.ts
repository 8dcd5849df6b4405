/**
 * `/api/admin/*` as the HTTP server sees it: a request that was read within bounds goes in, an answer comes out. Never fails; what
 * goes wrong is an answer.
 */
import { Context } from "effect"
import type { Effect } from "effect"

/** Largest body in bytes. */
export const maxBodyBytes = 1024 * 1024

export interface AdminRequest {
  readonly method: string
  /** Below `/api/admin`, with its leading slash. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** Of the client, as `server.trust_proxy` says who that is. */
  readonly address: string
  /** What limits of clients are counted by: the address, or the /64 of an IPv6 address. */
  readonly client: string
  readonly body: Uint8Array
}

export interface AdminAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

export class AdminApi extends Context.Service<
  AdminApi,
  { readonly handle: (request: AdminRequest) => Effect.Effect<AdminAnswer> }
>()("aicr/admin/AdminApi") {}
