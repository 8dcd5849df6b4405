/** The log between the compared revisions: messages, which files were copied from where, and whether the branch itself was replaced. */
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { CopiedPath } from "../server/FileSource.ts"
import { readSvnXml } from "./SvnProcess.ts"
import type { LogEntry, LogPath } from "./SvnLog.ts"
import type { SvnTree } from "./SvnListing.ts"
import type { SvnSession } from "./SvnSession.ts"
import { mayReplace } from "./SvnStreams.ts"
import { pegged } from "./SvnUrl.ts"

export interface SvnHistory {
  readonly messages: ReadonlyArray<string>
  /** Returns the copies among added paths of the branch. `roots`: paths of the branch in the repository, at the head and at the base. */
  readonly findCopies: (added: ReadonlyArray<string>, roots: ReadonlyArray<string>) => ReadonlyArray<CopiedPath>
  /** Returns whether the branch with this path in the repository was another object at the start. True if that is not known. */
  readonly mayBeReplaced: (pathInRepository: string) => boolean
}

/** Revisions and paths that are read; copies beyond are shown as added files. */
const maxRevisions = 200
const maxCopies = 10_000
const maxReplaced = 20_000
const maxMessageLength = 4000

/** Returns the history of a single change. */
export const toHistory = ({ message, paths }: LogEntry): SvnHistory =>
  makeHistory({
    messages: [message.slice(0, maxMessageLength)],
    copied: new Map(paths.flatMap(({ path, source }) => (source === undefined ? [] : [[path, source] as const]))),
    replaced: paths.filter(({ action }) => action !== "M"),
    isPartial: false
  })

export const readHistory = Effect.fnUntraced(function* (
  session: SvnSession,
  { revision, url }: SvnTree,
  start: string
): Effect.fn.Return<SvnHistory, CheckoutError> {
  const messages: Array<string> = []
  /** Source by target, absolute in the repository. */
  const copied = new Map<string, string>()
  const replaced: Array<LogPath> = []
  let revisions = 0
  const range = start === "0" ? revision : `${revision}:${Number(start) + 1}`
  yield* readSvnXml(
    session,
    ["log", "--verbose", "--limit", String(maxRevisions), "-r", range, pegged(url, revision)],
    ({ attributes, name, text }) => {
      if (name === "logentry") revisions++
      if (name === "msg") messages.push(text.slice(0, maxMessageLength))
      if (name !== "path") return
      const { action = "", "copyfrom-path": source } = attributes
      if (action !== "M" && replaced.length < maxReplaced) replaced.push({ path: text, action })
      if (source !== undefined && copied.size < maxCopies && !copied.has(text)) copied.set(text, source)
    }
  )
  const isPartial = revisions >= maxRevisions || replaced.length >= maxReplaced
  return makeHistory({ messages: messages.toReversed(), copied, replaced, isPartial })
})

interface LoggedHistory extends Pick<SvnHistory, "messages"> {
  /** Source by target, absolute in the repository. */
  readonly copied: ReadonlyMap<string, string>
  readonly replaced: ReadonlyArray<LogPath>
  readonly isPartial: boolean
}

const makeHistory = ({ copied, isPartial, messages, replaced }: LoggedHistory): SvnHistory => ({
  messages,
  findCopies: (added, roots) => {
    const inside = toPaths(copied, roots)
    return added.flatMap((path) => findCopy(inside, path))
  },
  mayBeReplaced: (pathInRepository) => isPartial || replaced.some(mayReplace(`/${pathInRepository}`))
})

/** Returns the copies into the branch from the branch, as paths in it. */
const toPaths = (
  copied: ReadonlyMap<string, string>,
  [head = "", ...earlier]: ReadonlyArray<string>
): ReadonlyMap<string, string> => {
  const below = (root: string, path: string): string | undefined => {
    const full = root === "" ? "/" : `/${root}/`
    return path.startsWith(full) ? path.slice(full.length) : undefined
  }
  const found = new Map<string, string>()
  for (const [target, source] of copied) {
    const to = below(head, target)
    const from = [head, ...earlier].map((root) => below(root, source)).find((path) => path !== undefined)
    if (to !== undefined && to !== "" && from !== undefined) found.set(to, from)
  }
  return found
}

/** Finds the path or the nearest folder above it that was copied. */
const findCopy = (copied: ReadonlyMap<string, string>, path: string): ReadonlyArray<CopiedPath> => {
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
    const source = copied.get(path.slice(0, end))
    if (source !== undefined) return [{ path, source: `${source}${path.slice(end)}` }]
  }
  return []
}
