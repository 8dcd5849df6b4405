/**
 * Changes that were described a short time ago. A review usually begins just after its report was routed, and so does not request the
 * log again. A restart, another node, and a range of several revisions need the log.
 */
import { Clock, Effect } from "effect"
import type { ChangedStream } from "../../domain/ChangedStream.ts"
import type { LogEntry } from "./SvnLog.ts"
import type { SvnSession } from "./SvnSession.ts"

export interface RecentChange {
  /** The one change between `previous` and its revision. */
  readonly entry: LogEntry
  readonly stream: ChangedStream
}

const maxAgeMillis = 60_000
const maxKept = 200
/** Characters of one change, so that memory is bounded. */
const maxLength = 65_536

export const makeRecent = () => {
  const kept = new Map<string, RecentChange & { readonly at: number }>()
  const keyOf = ({ server: { url, username } }: SvnSession, branch: string, revision: string) =>
    JSON.stringify([url, username, branch, revision])
  return {
    remember: Effect.fnUntraced(function* (session: SvnSession, change: RecentChange) {
      const { entry, stream } = change
      if (entry.more || stream.more || JSON.stringify(change).length > maxLength) return
      const [oldest] = kept.keys()
      if (oldest !== undefined && kept.size >= maxKept) kept.delete(oldest)
      kept.set(keyOf(session, stream.branch, entry.revision), { ...change, at: yield* Clock.currentTimeMillis })
    }),
    /** Returns the change if it is the only one of the branch after `start` up to the revision. */
    find: Effect.fnUntraced(function* (session: SvnSession, branch: string, revision: string, start: string) {
      const key = keyOf(session, branch, revision)
      const found = kept.get(key)
      if (found === undefined || found.stream.previous !== start) return undefined
      if ((yield* Clock.currentTimeMillis) - found.at < maxAgeMillis) return found
      kept.delete(key)
      return undefined
    })
  }
}

export type RecentChanges = ReturnType<typeof makeRecent>
