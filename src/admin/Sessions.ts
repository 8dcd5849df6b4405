/** Sessions: a token of 32 random bytes is told once; of it only the SHA-256 is kept, where all nodes look. */
import { createHash, randomBytes } from "node:crypto"
import { Clock, Effect } from "effect"
import { AdminSessions } from "../store/AdminSessions.ts"

const digestOf = (token: string): string => createHash("sha256").update(token).digest("hex")

const spelling = /^[0-9a-f]{64}$/

export const openSession = Effect.fnUntraced(function* (username: string, ttlSeconds: number) {
  const createdAt = yield* Clock.currentTimeMillis
  const token = randomBytes(32).toString("hex")
  const expiresAt = createdAt + ttlSeconds * 1000
  yield* (yield* AdminSessions).open(digestOf(token), { username, createdAt, expiresAt })
  return { token, expiresAt }
})

/** The token of `authorization: Bearer …`, if it can be one. */
export const tokenIn = (authorization: unknown): string | undefined => {
  const token = typeof authorization === "string" ? /^Bearer +(\S+)\s*$/i.exec(authorization)?.[1] : undefined
  return token !== undefined && spelling.test(token) ? token : undefined
}

export const findSession = Effect.fnUntraced(function* (token: string) {
  return yield* (yield* AdminSessions).find(digestOf(token), yield* Clock.currentTimeMillis)
})

export const closeSession = Effect.fnUntraced(function* (token: string) {
  yield* (yield* AdminSessions).close(digestOf(token))
})
