/** The token of one pass: an agent sends it in place of a key, and it opens the two servers of this pass only. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import { Redacted } from "effect"

/** Begins every token, so that records in which one appears can be recognised. */
const prefix = "aicr-pass-"

export const newPassToken = (): Redacted.Redacted => Redacted.make(`${prefix}${randomBytes(32).toString("base64url")}`)

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/**
 * Returns whether one of the places in which agents send a key contains the token: `Authorization: Bearer`, `x-api-key`, `x-goog-api-key`
 * and the query field `key`. The time of the comparison does not depend on the sent text.
 */
export const sendsToken = (token: Redacted.Redacted, headers: IncomingHttpHeaders, query: URLSearchParams): boolean => {
  const { authorization } = headers
  const bearer = authorization?.slice(0, 7).toLowerCase() === "bearer " ? authorization.slice(7).trim() : undefined
  const expected = digest(Redacted.value(token))
  return [bearer, headers["x-api-key"], headers["x-goog-api-key"], query.get("key")].some(
    (sent) => typeof sent === "string" && timingSafeEqual(digest(sent), expected)
  )
}
