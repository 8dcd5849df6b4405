/** The request that is being handled, with its user if the local socket names one. */
import { Context } from "effect"
import type { AdminRequest } from "../AdminApi.ts"

export interface Caller {
  readonly request: AdminRequest
  /** Name of a user of the local socket, who needs no session. */
  readonly localUser: string | undefined
}

/** The default is a request without credentials. */
export const Caller = Context.Reference<Caller>("aicr/admin/Caller", {
  defaultValue: () => ({
    request: {
      method: "GET",
      path: "/",
      query: new URLSearchParams(),
      headers: {},
      address: "",
      client: "",
      body: new Uint8Array()
    },
    localUser: undefined
  })
})
