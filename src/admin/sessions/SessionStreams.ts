/**
 * Streams of events to the callers of the API. A stream ends with the session that opened it, so that a logout of all sessions holds for open pages too.
 * A session has few of them: each costs a connection and reads of the stores.
 */
import { Clock, Effect, Redacted, Schedule, Stream } from "effect"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { digestToken, isUsable } from "../../domain/ServiceToken.ts"
import type { AdminSessions } from "../../store/AdminSessions.ts"
import { ServiceTokens } from "../../store/ServiceTokens.ts"
import { readAdminCredentials } from "../AdminCredentials.ts"
import { because, TooManyRequests } from "../api/Problems.ts"
import { CurrentUser } from "../api/Rules.ts"
import { readOidc } from "./OidcPerson.ts"
import { findSession } from "./Sessions.ts"

/** Maximum number of streams of a session: more than the tabs that one person watches. */
export const maxStreams = 24

const retrySeconds = 10

/** Interval between the checks of a session. */
const sessionInterval = "2 seconds"

const isUsableToken = Effect.fnUntraced(function* (digest: string) {
  const token = yield* (yield* ServiceTokens).find(digest)
  return token !== undefined && isUsable(token, yield* Clock.currentTimeMillis)
})

/** Returns whether the session or the token of a program has not ended. While they cannot be read, it has not. */
const isOpen = (token: string) =>
  Effect.gen(function* () {
    const digest = digestToken(token)
    if (digest !== undefined) return yield* isUsableToken(digest)
    const snapshot = (yield* ConfigStore).current()
    const credentials = readAdminCredentials(snapshot)
    const origin = readOidc(snapshot)?.digest
    return credentials !== undefined && (yield* findSession(token, credentials, origin)) !== undefined
  }).pipe(Effect.orElseSucceed(() => true))

/** Completes once the session has ended. Callers of the local socket have none. */
const sessionEnd = (token: Redacted.Redacted | undefined) =>
  token === undefined
    ? Effect.never
    : Effect.repeat(isOpen(Redacted.value(token)), {
        while: (open) => open,
        schedule: Schedule.spaced(sessionInterval)
      })

/** Returns a function that opens a stream for the caller, or refuses it. Callers of the local socket count as one session. */
export const makeSessionStreams = Effect.gen(function* () {
  const services = yield* Effect.context<AdminSessions | ConfigStore | ServiceTokens>()
  const open = new Map<string, number>()
  const countOf = (session: string): number => open.get(session) ?? 0
  const add = (session: string, difference: number) =>
    Effect.sync(() => {
      const count = countOf(session) + difference
      if (count === 0) open.delete(session)
      else open.set(session, count)
    })
  return <A, E, R>(stream: Stream.Stream<A, E, R>) =>
    Effect.gen(function* () {
      const { token } = yield* CurrentUser
      const session = token === undefined ? "" : Redacted.value(token)
      if (countOf(session) >= maxStreams)
        return yield* new TooManyRequests({
          code: "too_many_streams",
          retry_after: retrySeconds,
          ...because({ _tag: "TooManyStreams", count: maxStreams })
        })
      const counted = Effect.acquireRelease(add(session, 1), () => add(session, -1))
      const ended = Effect.provideContext(sessionEnd(token), services)
      return Stream.unwrap(Effect.as(counted, stream)).pipe(Stream.interruptWhen(ended))
    })
})
