/** Reads entries of the log with their changed paths, within limits. */
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { SubmittedRevision } from "../SubmittedChanges.ts"
import { readSvnXml } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import { pegged } from "./SvnUrl.ts"

export interface LogPath {
  /** Absolute in the repository. */
  readonly path: string
  readonly action: string
  /** Path that it was copied from. */
  readonly source?: string | undefined
}

export interface LogEntry {
  readonly revision: string
  readonly author: string | undefined
  readonly message: string
  readonly paths: ReadonlyArray<LogPath>
  /** Some paths were not read. */
  readonly more: boolean
}

export interface Log {
  /** The newest first. */
  readonly entries: ReadonlyArray<LogEntry>
  /** The log goes back to the first revision of the object. */
  readonly isComplete: boolean
  /** Reading ended within an entry, which is not part of the result. */
  readonly isCut: boolean
}

interface LogLimits {
  readonly entries: number
  /** Paths of one entry that are kept; the others are only counted. */
  readonly pathsPerEntry: number
  /** Paths of all entries, after which no further entry is read. */
  readonly paths: number
}

/** Paths after which reading ends within an entry. */
export const maxLogPaths = 1_000_000

const maxMessage = 65_536

/** Reads the log of the session's URL at a revision and before. */
export const readLog = Effect.fnUntraced(function* (
  session: SvnSession,
  newest: string,
  limits: LogLimits
): Effect.fn.Return<Log, CheckoutError> {
  const entries: Array<LogEntry> = []
  const makeEntry = () => ({
    author: undefined as string | undefined,
    message: "",
    paths: [] as Array<LogPath>,
    more: false
  })
  let entry = makeEntry()
  let paths = 0
  let isCut = false
  const isStopped = yield* readSvnXml(
    session,
    ["log", "--verbose", "--limit", String(limits.entries), "-r", `${newest}:1`, pegged(session.server.url, newest)],
    ({ attributes, name, text }) => {
      if (name === "author") entry.author = text
      if (name === "msg") entry.message = text.slice(0, maxMessage)
      if (name === "path") {
        paths++
        if (entry.paths.length < limits.pathsPerEntry)
          entry.paths.push({ path: text, action: attributes["action"] ?? "", source: attributes["copyfrom-path"] })
        else entry.more = true
        isCut = paths > maxLogPaths
        return isCut
      }
      if (name !== "logentry") return false
      entries.push({ ...entry, revision: attributes["revision"] ?? "" })
      entry = makeEntry()
      return paths > limits.paths
    }
  )
  return { entries, isComplete: !isStopped && entries.length < limits.entries, isCut }
})

/** Lists the newest revisions above a number that changed the session's URL, the newest first, at most `limit`. */
export const readRevisions = Effect.fnUntraced(function* (
  session: SvnSession,
  after: number,
  limit: number
): Effect.fn.Return<ReadonlyArray<SubmittedRevision>, CheckoutError> {
  const found: Array<SubmittedRevision> = []
  let author: string | undefined
  let at: number | undefined
  yield* readSvnXml(
    session,
    // Up to the number itself, which exists if nothing was committed after it.
    ["log", "--quiet", "--limit", String(limit), "-r", `HEAD:${after}`, pegged(session.server.url, "HEAD")],
    ({ attributes, name, text }) => {
      if (name === "author") author = text
      if (name === "date") at = Number.isNaN(Date.parse(text)) ? undefined : Date.parse(text)
      if (name !== "logentry") return
      const revision = Number(attributes["revision"])
      if (revision > after) found.push({ revision, author, at })
      author = undefined
      at = undefined
    }
  )
  return found
})
