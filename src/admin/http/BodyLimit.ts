/**
 * Decides how large the body of a request may be, before any of it is read. Callers without a session send a user name and a password at
 * most: a larger body would be copied, parsed and checked for anyone.
 */
import { Effect } from "effect"
import { maxBodyBytes } from "../AdminApi.ts"
import type { Authenticate } from "../sessions/Authentication.ts"
import { Caller } from "../sessions/Caller.ts"

/** Maximum size in bytes of a body without a session. */
export const maxAnonymousBytes = 16 * 1024

const loginPath = "/login"

/** A body in chunks has no declared length. */
const mayBeLarge = (headers: Readonly<Record<string, unknown>>): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > maxAnonymousBytes

/** Returns the maximum size of the body in bytes; fails for a large one without a session. */
export const bodyLimit = Effect.fnUntraced(function* (authenticate: Authenticate) {
  const { headers, path } = (yield* Caller).request
  if (path === loginPath || !mayBeLarge(headers)) return maxAnonymousBytes
  yield* authenticate
  return maxBodyBytes
})
