/**
 * Signed links to what the comments of a review show. The signature covers the address of the service, the run and the end of the validity, so that
 * a link of another service, run or time is invalid. Pure.
 */
import { createHmac, timingSafeEqual } from "node:crypto"

/** Path of shared reviews below that of the service. */
export const sharedPath = "/shared/"

/** Minimum length of a key in characters. */
export const minLinkKey = 32

const runId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const expiry = /^[1-9][0-9]{9,10}$/

/** `base` is the public address of the service; `expires` is in seconds since the epoch. */
const sign = (key: string, base: string, run: string, expires: number): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify(["aicr shared review v1", base, run, expires]))
    .digest()

/** Returns the path of a link below `sharedPath`. */
export const makeLink = (key: string, base: string, run: string, expires: number): string =>
  `${run}/${expires}/${sign(key, base, run, expires).toString("base64url")}`

export interface OpenedLink {
  readonly run: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** Returns what a valid link leads to; undefined for every other path. `now` is in milliseconds since the epoch. */
export const openLink = (key: string, base: string, path: string, now: number): OpenedLink | undefined => {
  const [run = "", expires = "", signature = "", ...more] = path.split("/")
  if (more.length > 0 || !runId.test(run) || !expiry.test(expires)) return undefined
  const expected = sign(key, base, run, Number(expires))
  const given = Buffer.from(signature, "base64url")
  // Other spellings of the same bytes are other links.
  const isEqual = given.length === expected.length && timingSafeEqual(given, expected)
  if (!isEqual || given.toString("base64url") !== signature || Number(expires) * 1000 <= now) return undefined
  return { run, expiresAt: Number(expires) * 1000 }
}
