/** Reads what a repository records about a revision: author, message, and the branches that it changes with their previous revisions. */
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { ChangedStream, SubmittedChange } from "../SubmittedChanges.ts"
import { readInfo } from "./SvnInfo.ts"
import { findBranch, isBranchUrl } from "./SvnLayout.ts"
import { readSvnXml } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import { joinUrl, pegged } from "./SvnUrl.ts"

/** Paths that are read; filters decide by them. */
const maxPaths = 20_000
/** Branches that one revision may start reviews of. */
const maxStreams = 50
const maxDescription = 65_536

interface Changed {
  readonly paths: Array<string>
  removed: boolean
  readonly tag: boolean
}

export const describeRevision = Effect.fnUntraced(function* (
  session: SvnSession,
  revision: string
): Effect.fn.Return<SubmittedChange | undefined, CheckoutError> {
  const info = yield* readInfo(session, session.server.url, revision, revision)
  if (info === undefined) return undefined
  const prefix = info.pathInRepository === "" ? "/" : `/${info.pathInRepository}/`
  const own = isBranchUrl(info.pathInRepository)
  const changed = new Map<string, Changed>()
  const about = { author: undefined as string | undefined, description: "" }
  let paths = 0
  const isOver = yield* readSvnXml(
    session,
    ["log", "--verbose", "-r", revision, pegged(session.server.url, revision)],
    ({ attributes, name, text }) => {
      if (name === "author") about.author = text
      if (name === "msg") about.description = text.slice(0, maxDescription)
      if (name !== "path") return false
      const inside = text === prefix.slice(0, -1) ? "" : text.startsWith(prefix) ? text.slice(prefix.length) : undefined
      if (inside === undefined) return false
      const found = own ? { branch: "", path: inside, tag: false } : findBranch(inside)
      if (found === undefined) return false
      const { branch, path, tag } = found
      const stream = changed.get(branch) ?? { paths: [], removed: false, tag }
      changed.set(branch, stream)
      if (path === "" && attributes["action"] === "D") stream.removed = true
      stream.paths.push(path)
      return ++paths >= maxPaths
    }
  )
  const streams = yield* Effect.forEach([...changed].slice(0, maxStreams), ([branch, stream]) =>
    Effect.map(
      stream.removed ? Effect.undefined : readPrevious(session, joinUrl(session.server.url, branch), revision),
      (previous): ChangedStream => ({ branch, ...stream, more: isOver, previous })
    )
  )
  return { revision, state: "submitted", client: undefined, repository: info.uuid, streams, ...about }
})

/** Returns the newest revision before this one that changed the branch, or the one that it was copied from. */
const readPrevious = Effect.fnUntraced(function* (session: SvnSession, url: string, revision: string) {
  const found: Array<string> = []
  yield* readSvnXml(
    session,
    ["log", "--quiet", "--limit", "2", "-r", `${revision}:1`, pegged(url, revision)],
    ({ attributes, name }) => {
      if (name === "logentry") found.push(attributes["revision"] ?? "")
    }
  )
  return found.find((one) => one !== revision && one !== "")
})
