/**
 * Facts about a repository that rarely change, kept for a minute, so that a burst of reports reads them once. They are short-lived because
 * the server may serve another repository at the same URL.
 */
import { Clock, Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import { readInfo } from "./SvnInfo.ts"
import type { SvnInfo } from "./SvnInfo.ts"
import type { SvnSession } from "./SvnSession.ts"

export type SvnFacts = Pick<SvnInfo, "uuid" | "pathInRepository">

const maxAgeMillis = 60_000
const maxKept = 1000

/** Returns the facts of the session's URL; undefined if it does not exist in the revision. Only facts that were found are kept. */
export type ReadFacts = (session: SvnSession, revision: string) => Effect.Effect<SvnFacts | undefined, CheckoutError>

export const makeFacts = (): ReadFacts => {
  const kept = new Map<string, { readonly facts: SvnFacts; readonly at: number }>()
  return Effect.fnUntraced(function* (session, revision) {
    const { url, username } = session.server
    const key = JSON.stringify([url, username])
    const now = yield* Clock.currentTimeMillis
    const existing = kept.get(key)
    if (existing !== undefined && now - existing.at < maxAgeMillis) return existing.facts
    kept.delete(key)
    const info = yield* readInfo(session, url, revision, revision)
    if (info === undefined) return undefined
    const [oldest] = kept.keys()
    if (oldest !== undefined && kept.size >= maxKept) kept.delete(oldest)
    kept.set(key, { facts: info, at: now })
    return info
  })
}
