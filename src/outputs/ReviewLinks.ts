/** Signed links to reviews (`server.links`): the key out of a configuration, and the address of a link. */
import { Redacted } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"
import { makeLink, minLinkKey, openLink, sharedPath } from "../domain/ReviewLink.ts"
import type { OpenedLink } from "../domain/ReviewLink.ts"
import { publicUrl } from "../domain/RunLink.ts"

type Configured = Pick<Snapshot, "credential" | "document">

const daySeconds = 86_400

/** Returns what signs and opens links; undefined without a key that is long enough, or without `server.base_url`. */
const signer = ({ credential, document }: Configured) => {
  const base = publicUrl(document.server, sharedPath)
  const secret = credential(document.server.links, "key")
  const key = secret === undefined ? "" : Redacted.value(secret)
  return base === undefined || key.length < minLinkKey ? undefined : { base, key }
}

interface ReviewLink {
  readonly url: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** Returns a link to a run from now on; undefined if links are off. */
export const makeReviewLink = (snapshot: Configured, runId: string, now: number): ReviewLink | undefined => {
  const found = signer(snapshot)
  if (found === undefined) return undefined
  const expires = Math.floor(now / 1000) + snapshot.document.server.links.days * daySeconds
  return { url: found.base + makeLink(found.key, found.base, runId, expires), expiresAt: expires * 1000 }
}

/** Returns the link that summaries show in place of the page of the run; undefined if that is not configured. */
export const summaryLink = (snapshot: Configured, runId: string, now: number): string | undefined =>
  snapshot.document.server.links.in_summaries ? makeReviewLink(snapshot, runId, now)?.url : undefined

/** Returns the run that a path below `sharedPath` is a valid link to. */
export const openReviewLink = (snapshot: Configured, path: string, now: number): OpenedLink | undefined => {
  const found = signer(snapshot)
  return found === undefined ? undefined : openLink(found.key, found.base, path, now)
}
