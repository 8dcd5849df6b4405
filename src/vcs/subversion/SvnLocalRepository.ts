/** Revisions and changes of a Subversion working copy on this machine, with the user's own settings and stored passwords. */
import { Effect } from "effect"
import { verbatimReason } from "../../domain/Reason.ts"
import { CheckoutError } from "../Checkout.ts"
import type { LocalRange, LocalRequest } from "../LocalRepository.ts"
import type { LocalOptions } from "../server/LocalOptions.ts"
import { makePrivateFolder } from "../server/PrivateFolder.ts"
import { checkOutSource } from "../server/SourceCheckout.ts"
import { makeFacts } from "./SvnFacts.ts"
import { readInfo } from "./SvnInfo.ts"
import type { SvnInfo } from "./SvnInfo.ts"
import { openOwnSession } from "./SvnSession.ts"
import type { SvnSession } from "./SvnSession.ts"
import { openSvnSource } from "./SvnSource.ts"
import { openWorkingCopy } from "./SvnWorkingCopy.ts"

/** Errors of the command, in its words. */
const refused = (message: string) => new CheckoutError({ reason: "missing", why: verbatimReason(message) })

/** Numbers, the keywords of svn, and dates. */
const revisions = /^(?:r?(\d{1,18})|(HEAD|BASE|COMMITTED|PREV)|(\{[0-9][0-9A-Za-z:+. -]{3,40}\}))$/

export const subversionRange = Effect.fnUntraced(function* (
  request: LocalRequest,
  options: LocalOptions
): Effect.fn.Return<LocalRange, CheckoutError> {
  const { root } = options
  const { base, changes, head, shelved } = request
  if (shelved !== undefined)
    return yield* refused(`--shelved: ${root} is a Subversion working copy, which has no shelved changelists`)
  if (changes === "staged")
    return yield* refused(`--staged: ${root} is a Subversion working copy, which has no index; use --uncommitted`)
  if (changes === "uncommitted" && base !== undefined)
    return yield* refused(
      "--uncommitted compares a Subversion working copy with the revision that it was checked out from: leave out --base"
    )
  const session = openOwnSession(root, "", root, options.limits)
  const own = yield* readInfo(session, ".", "", undefined)
  if (own === undefined) return yield* refused(`${root} is no longer a Subversion working copy`)
  if (changes === "uncommitted") return uncommittedRange(own, options)
  const found = yield* committedEnds(session, own, base, head)
  return {
    vcs: "subversion",
    root,
    ...found,
    headName: `r${found.head}`,
    shallow: false,
    notices: [],
    checkout: (headOnly) =>
      Effect.gen(function* () {
        const folder = yield* makePrivateFolder(options.scratch)
        const reading = openOwnSession(folder, own.url, root, options.limits)
        const server = { ...reading.server, url: own.url }
        const ends = { vcs: "subversion", server, branch: "", head: found.head, base: found.base, headOnly } as const
        return yield* checkOutSource(yield* openSvnSource(reading, ends, makeFacts()), {
          ...options,
          root: options.scratch
        })
      })
  }
})

const uncommittedRange = (own: SvnInfo, { limits, root, scratch }: LocalOptions): LocalRange => ({
  vcs: "subversion",
  root,
  base: own.revision,
  baseName: `r${own.revision}`,
  head: "working copy",
  headName: "working copy",
  shallow: false,
  notices: [],
  checkout: () =>
    Effect.gen(function* () {
      const session = openOwnSession(yield* makePrivateFolder(scratch), own.url, root, limits)
      const source = yield* openWorkingCopy(session, own.url, own.revision)
      return yield* checkOutSource(source, { limits, root: scratch })
    })
})

const committedEnds = Effect.fnUntraced(function* (
  session: SvnSession,
  own: SvnInfo,
  base: string | undefined,
  head: string | undefined
) {
  const last = yield* head === undefined
    ? Effect.map(readInfo(session, own.url, "HEAD", "HEAD"), (info) => info?.lastChanged)
    : resolveRevision(session, own, head, "--head")
  if (last === undefined) return yield* refused(`${own.url} does not exist in the newest revision; name one by --head`)
  if (base === undefined) {
    const before = String(Math.max(0, Number(last) - 1))
    return { head: last, base: before, baseName: `r${before}` }
  }
  const first = yield* resolveRevision(session, own, base, "--base")
  if (Number(first) > Number(last)) return yield* refused(`--base ${base} is newer than the head r${last}`)
  return { head: last, base: first, baseName: /^\d+$/.test(base) ? `r${base}` : base }
})

const resolveRevision = Effect.fnUntraced(function* (session: SvnSession, own: SvnInfo, name: string, flag: string) {
  const [, number, keyword, date] = revisions.exec(name) ?? []
  if (number !== undefined) {
    const exists = number === "0" || (yield* readInfo(session, own.root, number, number)) !== undefined
    return exists ? String(Number(number)) : yield* refused(`${flag}: revision ${name} not found in ${own.root}`)
  }
  const named = keyword ?? date
  if (named === undefined)
    return yield* refused(
      `${flag}: invalid revision "${name}"; expected a number, HEAD, BASE, COMMITTED, PREV or {DATE}`
    )
  // Keywords are those of the working copy, dates those of the repository.
  const info = yield* date === undefined
    ? readInfo(session, ".", "", named)
    : readInfo(session, own.root, "HEAD", named)
  if (info === undefined) return yield* refused(`${flag}: revision ${name} not found in ${own.url}`)
  return keyword === "COMMITTED" || keyword === "PREV" ? info.lastChanged : info.revision
})
