/**
 * Caches the access token of an application: at most one request for it is in flight, and it is refreshed before it expires. A platform may
 * return the same token until shortly before its end, so that it is requested again no more often than once a minute.
 */
import { Clock, Effect, Redacted, Semaphore } from "effect"
import type { ForgeError } from "../../forge/ForgeError.ts"

interface FreshToken {
  readonly token: Redacted.Redacted
  readonly lifetimeMillis: number
}

const minIntervalMillis = 60_000

export interface AccessToken {
  /** Calls with the token; when the platform refuses it, once more with a new one. */
  readonly use: <A>(call: (token: string) => Effect.Effect<A, ForgeError>) => Effect.Effect<A, ForgeError>
}

export const makeAccessToken = (
  fetchToken: Effect.Effect<FreshToken, ForgeError>,
  refreshBeforeMillis: number
): AccessToken => {
  const one = Semaphore.makeUnsafe(1)
  let current: { readonly token: Redacted.Redacted; readonly refreshAt: number } | undefined
  const get = one.withPermits(1)(
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (current !== undefined && now < current.refreshAt) return Redacted.value(current.token)
      const { lifetimeMillis, token } = yield* fetchToken
      const refreshAt = now + Math.max(minIntervalMillis, lifetimeMillis - refreshBeforeMillis)
      current = { token, refreshAt: Math.min(refreshAt, now + lifetimeMillis) }
      return Redacted.value(token)
    })
  )
  /** Another caller may have replaced it since. */
  const forget = (refused: string): void => {
    if (current !== undefined && Redacted.value(current.token) === refused) current = undefined
  }
  return {
    use: (call) =>
      Effect.flatMap(get, (token) =>
        Effect.catchIf(
          call(token),
          ({ reason }) => reason === "unauthorized",
          () => {
            forget(token)
            return Effect.flatMap(get, call)
          }
        )
      )
  }
}
