/**
 * Verifies the login of the one administrator, whose password is configured as plain text or as `sha256:<hex>`. The hash takes precedence
 * over the password. User name and password are always both compared, as digests in constant time, so that neither the duration nor the
 * response reveals which was wrong. The caller does the same work for every name (SessionHandlers.ts).
 */
import { createHash, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"
import type { Reason } from "../domain/Reason.ts"

export interface CredentialMatch {
  readonly isKnownName: boolean
  readonly isRight: boolean
}

export interface AdminCredentials {
  readonly username: string
  /** Digest of user name and password together, which changes when either changes. */
  readonly digest: Buffer
  /** Returns whether the user name is correct, and whether both are. */
  readonly match: (username: string, password: string) => CredentialMatch
}

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest()

const hash = /^sha256:([0-9a-f]{64})$/i

/** Returns undefined if the user name or the password is not configured, or the hash is invalid: then every path of the admin API returns 404. */
export const readAdminCredentials = ({ credential, document: { admin } }: Snapshot): AdminCredentials | undefined => {
  const text = (name: string): string | undefined => {
    const secret = credential(admin, name)
    return secret === undefined ? undefined : Redacted.value(secret)
  }
  const username = text("username")
  const hashed = text("password_hash")
  const password = text("password")
  if (username === undefined) return undefined
  const expected =
    hashed !== undefined
      ? Buffer.from(hash.exec(hashed.trim())?.[1] ?? "", "hex")
      : password === undefined
        ? Buffer.alloc(0)
        : digestOf(password)
  if (expected.length !== 32) return undefined
  const user = digestOf(username)
  return {
    username,
    digest: createHash("sha256").update(user).update(expected).digest(),
    match: (givenName, givenPassword) => {
      const isKnownName = timingSafeEqual(digestOf(givenName), user)
      const isRightPassword = timingSafeEqual(digestOf(givenPassword), expected)
      return { isKnownName, isRight: isKnownName && isRightPassword }
    }
  }
}

/** Returns instructions for enabling the admin API. */
export const howToTurnOn = ({ document: { admin } }: Snapshot): Reason => ({
  _tag: "AdminDisabled",
  username: admin.username_env,
  password: admin.password_hash_env ?? admin.password_env
})
