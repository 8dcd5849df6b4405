/** The log between the compared revisions: messages, and which files were copied from where. */
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { CopiedPath } from "../server/FileSource.ts"
import { readSvnXml } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import type { SvnEnds } from "./SvnInfo.ts"
import { pegged } from "./SvnUrl.ts"

export interface SvnHistory {
  readonly messages: ReadonlyArray<string>
  readonly findCopies: (added: ReadonlyArray<string>) => ReadonlyArray<CopiedPath>
}

/** Revisions and paths that are read; copies beyond are shown as added files. */
const maxRevisions = 200
const maxCopies = 10_000
const maxMessageLength = 4000

export const readHistory = Effect.fnUntraced(function* (
  session: SvnSession,
  { from, head }: SvnEnds,
  start: string
): Effect.fn.Return<SvnHistory, CheckoutError> {
  const messages: Array<string> = []
  const copied = new Map<string, string>()
  const below = (root: string, path: string): string | undefined => {
    const full = root === "" ? "/" : `/${root}/`
    return path.startsWith(full) ? path.slice(full.length) : undefined
  }
  const range = start === "0" ? head.revision : `${head.revision}:${Number(start) + 1}`
  yield* readSvnXml(
    session,
    ["log", "--verbose", "--limit", String(maxRevisions), "-r", range, pegged(head.url, head.revision)],
    ({ attributes, name, text }) => {
      if (name === "msg") messages.push(text.slice(0, maxMessageLength))
      const source = attributes["copyfrom-path"]
      if (name !== "path" || source === undefined || copied.size >= maxCopies) return
      const to = below(head.pathInRepository, text)
      const origin = below(head.pathInRepository, source) ?? (from && below(from.pathInRepository, source))
      if (to !== undefined && to !== "" && origin !== undefined && !copied.has(to)) copied.set(to, origin)
    }
  )
  return { messages: messages.toReversed(), findCopies: (added) => added.flatMap((path) => findCopy(copied, path)) }
})

/** Finds the path or the nearest folder above it that was copied. */
const findCopy = (copied: ReadonlyMap<string, string>, path: string): ReadonlyArray<CopiedPath> => {
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
    const source = copied.get(path.slice(0, end))
    if (source !== undefined) return [{ path, source: `${source}${path.slice(end)}` }]
  }
  return []
}
