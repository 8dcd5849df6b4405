/**
 * Manages sessions. A token of 32 random bytes is returned once; the shared store holds an HMAC of it whose key is the digest of the
 * credentials. So a session ends when user name or password change, and the stored value does not help to guess either.
 */
import { createHmac, randomBytes } from "node:crypto"
import { Clock, Effect } from "effect"
import type { AccessRole } from "../../domain/AccessRole.ts"
import { newId } from "../../domain/Ids.ts"
import { AdminSessions } from "../../store/AdminSessions.ts"
import type { AdminCredentials } from "../AdminCredentials.ts"

const digestOf = (token: string, { digest }: AdminCredentials): string =>
  createHmac("sha256", digest).update(token).digest("hex")

/** Links have digests of their own, so that none is the token of a session. */
const linkDigest = (token: string, { digest }: AdminCredentials): string =>
  createHmac("sha256", digest).update(`link:${token}`).digest("hex")

/** Failures of a client, over all nodes, after which it is refused for the rest of the window; at most `total` are stored. */
export const failureLimits = { perClient: 5, windowMillis: 5 * 60_000, total: 20_000 }

const spelling = /^[0-9a-f]{64}$/

/** The user of a session. */
interface SessionUser {
  readonly username: string
  readonly role: AccessRole
  /** The origin of the session, as in `AdminSession`. */
  readonly origin: string | undefined
}

const open = Effect.fnUntraced(function* (
  purpose: "link" | "session",
  { origin, role, username }: SessionUser,
  credentials: AdminCredentials,
  ttlSeconds: number
) {
  const createdAt = yield* Clock.currentTimeMillis
  const token = randomBytes(32).toString("hex")
  const expiresAt = createdAt + ttlSeconds * 1000
  const digest = purpose === "link" ? linkDigest(token, credentials) : digestOf(token, credentials)
  yield* (yield* AdminSessions).open(digest, { id: newId(), purpose, username, role, origin, createdAt, expiresAt })
  return { token, expiresAt }
})

const superAdministrator = ({ username }: AdminCredentials): SessionUser => ({
  username,
  role: "administrator",
  origin: undefined
})

export const openSession = (
  credentials: AdminCredentials,
  ttlSeconds: number,
  user = superAdministrator(credentials)
) => open("session", user, credentials, ttlSeconds)

/** Opens a link, which one caller may exchange for a session. It ends with all sessions when the credentials change or sessions are revoked. */
export const openLink = (credentials: AdminCredentials, ttlSeconds: number) =>
  open("link", superAdministrator(credentials), credentials, ttlSeconds)

/** Uses up a link. Returns whether it was still good. */
export const useLink = Effect.fnUntraced(function* (token: string, credentials: AdminCredentials) {
  if (!spelling.test(token)) return false
  const found = yield* (yield* AdminSessions).take(linkDigest(token, credentials), yield* Clock.currentTimeMillis)
  return found !== undefined
})

/** Returns the text of `authorization: Bearer …`, or undefined if it is malformed. */
export const parseBearer = (authorization: unknown): string | undefined =>
  typeof authorization === "string" ? /^Bearer +(\S+)\s*$/i.exec(authorization)?.[1] : undefined

/** Returns the token of a session, or undefined if there is none or it is malformed. */
export const tokenIn = (authorization: unknown): string | undefined => {
  const token = parseBearer(authorization)
  return token !== undefined && spelling.test(token) ? token : undefined
}

/** `origin`: digest of the current settings of logins elsewhere. A session of others has ended. */
export const findSession = Effect.fnUntraced(function* (
  token: string,
  credentials: AdminCredentials,
  origin: string | undefined
) {
  const now = yield* Clock.currentTimeMillis
  const session = yield* (yield* AdminSessions).find(digestOf(token, credentials), now)
  return session?.origin === undefined || session.origin === origin ? session : undefined
})

export const closeSession = Effect.fnUntraced(function* (token: string, credentials: AdminCredentials) {
  yield* (yield* AdminSessions).close(digestOf(token, credentials))
})

/** Ends all sessions, or all except that of `token`. Returns their number. */
export const revokeSessions = Effect.fnUntraced(function* (token: string | undefined, credentials: AdminCredentials) {
  return yield* (yield* AdminSessions).revoke(token === undefined ? undefined : digestOf(token, credentials))
})
