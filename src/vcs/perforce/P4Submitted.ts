/** Describes a changelist for routing: who made it, and which branches it changes. Finds shelves that no longer exist. */
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { ChangedStream } from "../../domain/ChangedStream.ts"
import type { DescribeRequest, EndedShelf, ShelvesRequest, SubmittedChange } from "../SubmittedChanges.ts"
import { describeChangelist, readNewest, shelfVersion } from "./P4Describe.ts"
import { belowDepot, cleanRoot } from "./P4Path.ts"
import { readP4 } from "./P4Process.ts"
import type { P4ServerInfo, P4Session } from "./P4Session.ts"
import { shownText } from "./RawText.ts"

/** Finds the branch of a depot file: its stream, or the configured path that contains it, whichever is longer; else its depot. */

/** Number of folders below the depot in the name of a stream, by depot. */
type StreamDepots = ReadonlyMap<string, number>

const readStreamDepots = Effect.fnUntraced(function* (
  session: P4Session,
  files: ReadonlyArray<string>
): Effect.fn.Return<StreamDepots, CheckoutError> {
  const touched = new Set(files.map((file) => file.split("/")[2] ?? ""))
  const names: Array<string> = []
  yield* readP4(
    session,
    { args: ["depots", "-t", "stream"] },
    { record: ({ name }) => void (name !== undefined && touched.has(name) && names.push(name)) }
  )
  const found = new Map<string, number>()
  for (const name of names) {
    yield* readP4(
      session,
      { args: ["depot", "-o", name] },
      { record: ({ StreamDepth }) => void found.set(name, toDepth(StreamDepth)) }
    )
  }
  return found
})

/** `//Ace/1`, `1`, or absent. */
const toDepth = (text: string | undefined): number => {
  const number = Number((text ?? "1").split("/").at(-1))
  return number >= 1 && number <= 10 ? number : 1
}

const isBelow = (root: string, file: string, fold: boolean): boolean => {
  const start = file.slice(0, root.length + 1)
  return fold ? start.toLowerCase() === `${root}/`.toLowerCase() : start === `${root}/`
}

/** Returns undefined for a file that is not below `under`. */
const findBranch = (
  file: string,
  { roots, under }: Pick<DescribeRequest, "roots" | "under">,
  streams: StreamDepots,
  fold: boolean
): string | undefined => {
  const parts = file.split("/")
  const depot = parts[2] ?? ""
  const depth = streams.get(depot)
  const stream = depth !== undefined && parts.length > 3 + depth ? parts.slice(0, 3 + depth).join("/") : undefined
  const own = roots
    .map(cleanRoot)
    .filter((root) => isBelow(root, file, fold))
    .toSorted((a, b) => b.length - a.length)[0]
  if (under !== undefined && !isBelow(cleanRoot(under), file, fold)) return undefined
  const shortest = own ?? `//${depot}`
  return stream !== undefined && stream.length > shortest.length ? stream : shortest
}

/** Files that are read; filters decide by them. */
const maxFiles = 20_000
/** Branches that one changelist may start reviews of. */
const maxStreams = 50

/** Read once per session. */
export const readServerInfo = Effect.fnUntraced(function* (
  session: P4Session
): Effect.fn.Return<P4ServerInfo, CheckoutError> {
  if (session.modes.info !== undefined) return session.modes.info
  let found: P4ServerInfo = { id: undefined, fold: false }
  yield* readP4(
    session,
    { args: ["info"] },
    {
      record: (record) => {
        found = { id: record["ServerID"] ?? record["serverID"], fold: record["caseHandling"] === "insensitive" }
      }
    }
  )
  session.modes.info = found
  return found
})

export const describeSubmitted = Effect.fnUntraced(function* (
  session: P4Session,
  request: Pick<DescribeRequest, "roots" | "under">,
  revision: string
): Effect.fn.Return<SubmittedChange | undefined, CheckoutError> {
  const found = yield* describeChangelist(session, revision, maxFiles)
  if (found === undefined) return undefined
  const { id, fold } = yield* readServerInfo(session)
  const streams = yield* readStreamDepots(
    session,
    found.files.map(({ depotFile }) => depotFile)
  )
  const changed = new Map<string, Array<string>>()
  for (const { depotFile } of found.files) {
    const branch = findBranch(depotFile, request, streams, fold)
    const path = branch === undefined ? undefined : belowDepot(branch, depotFile, fold)
    if (branch === undefined || path === undefined) continue
    const paths = changed.get(branch) ?? []
    changed.set(branch, paths)
    paths.push(path)
  }
  const isShelved = found.state === "shelved"
  const described = yield* Effect.forEach([...changed].slice(0, maxStreams), ([branch, paths]) =>
    Effect.map(
      readNewest(session, isShelved ? `${branch}/...` : `${branch}/...@${Math.max(0, Number(revision) - 1)}`),
      (previous): ChangedStream => ({
        branch: shownText(branch),
        paths,
        more: found.more,
        previous,
        removed: false,
        tag: false
      })
    )
  )
  return {
    revision: isShelved ? `${revision}-${shelfVersion(found)}` : revision,
    state: isShelved ? "shelved" : "submitted",
    author: found.user,
    client: found.client,
    description: found.description,
    repository: id,
    streams: found.state === "pending" ? [] : described
  }
})

/** Shelves that one command lists, the newest ones. */
const maxShelves = 10_000

/** Returns the numbers of the shelves in these branches. None is found in a depot that no longer exists. */
const listShelves = (session: P4Session, branches: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    const found = new Set<string>()
    return readP4(
      session,
      {
        args: ["changes", "-m", String(maxShelves), "-s", "shelved"],
        files: branches.map((branch) => `${branch}/...`)
      },
      { record: ({ change }) => void (change !== undefined && found.add(change)) }
    ).pipe(
      Effect.catchIf(
        ({ reason }) => reason === "missing",
        () => Effect.void
      ),
      Effect.as(found)
    )
  })

/** Returns the number that a changelist got when it was submitted; undefined if there is none. */
const findRenumbered = Effect.fnUntraced(function* (session: P4Session, changelist: string) {
  let submitted: string | undefined
  yield* readP4(
    session,
    { args: ["describe", "-O", "-s", changelist] },
    { record: ({ change, status }) => void (status === "submitted" && (submitted = change)) }
  )
  return submitted
})

/** Returns undefined while the shelf exists. */
const findEnd = Effect.fnUntraced(function* (
  session: P4Session,
  changelist: string
): Effect.fn.Return<EndedShelf | undefined, CheckoutError> {
  const found = yield* describeChangelist(session, changelist, 1)
  if (found?.state === "shelved") return undefined
  if (found?.state === "submitted") return { changelist, submittedAs: changelist }
  const submittedAs = found === undefined ? yield* findRenumbered(session, changelist) : undefined
  return { changelist, submittedAs }
})

export const findEndedShelves = ({ branches, changelists }: ShelvesRequest) =>
  Effect.fn("Perforce.endedShelves")(function* (session: P4Session) {
    const existing = yield* listShelves(session, branches)
    const missing = changelists.filter((changelist) => !existing.has(changelist))
    const ends = yield* Effect.forEach(missing, (changelist) => findEnd(session, changelist))
    return ends.filter((end) => end !== undefined)
  })
