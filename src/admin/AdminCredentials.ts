/**
 * Who may log in: one user, whose password is configured as it is or as `sha256:<hex>`. The hash goes before the password. Compared
 * as digests, in constant time, both always, so that neither time nor answer tells which was wrong.
 */
import { createHash, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"

export interface AdminCredentials {
  readonly username: string
  /** Of user name and password together: another one when either changes. */
  readonly digest: Buffer
  /** Whether these are they. */
  readonly match: (username: string, password: string) => boolean
}

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest()

const hash = /^sha256:([0-9a-f]{64})$/i

/** Undefined while a user name or a password is not configured, or the hash is none: then nobody may. */
export const credentialsOf = ({ credential, document: { admin } }: Snapshot): AdminCredentials | undefined => {
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
      const name = timingSafeEqual(digestOf(givenName), user)
      const secret = timingSafeEqual(digestOf(givenPassword), expected)
      return name && secret
    }
  }
}

/** What to do to have somebody log in. */
export const howToTurnOn = ({ document: { admin } }: Snapshot): string =>
  `The administration is off: set ${admin.username_env} and ${admin.password_hash_env ?? admin.password_env} to turn it on.`
