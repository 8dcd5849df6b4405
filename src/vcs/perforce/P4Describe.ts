/** Reads what a server records about a changelist. The list of its files may be very long; only its beginning is kept. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { SubmittedRevision, ListedChanges, ListRequest } from "../SubmittedChanges.ts"
import { maxSteps, toTitle } from "../server/Steps.ts"
import type { StepName } from "../server/Steps.ts"
import { checkRoot, cleanRoot } from "./P4Path.ts"
import { readP4 } from "./P4Process.ts"
import type { P4Session } from "./P4Session.ts"
import type { ListedFile } from "./P4Files.ts"
import { shownText } from "./RawText.ts"

export interface Changelist {
  readonly change: string
  /** `pending` with shelved files is `shelved`. */
  readonly state: "submitted" | "shelved" | "pending"
  readonly user: string | undefined
  readonly client: string | undefined
  readonly description: string
  /** Changed files. Their specs name the revision of this change. */
  readonly files: ReadonlyArray<ListedFile>
  /** Revision before the change of each file of a shelf, by depot file. */
  readonly bases: ReadonlyMap<string, string>
  readonly more: boolean
}

const maxDescription = 65_536

interface Found {
  readonly scalars: Map<string, string>
  readonly files: Map<number, Record<string, string>>
  more: boolean
}

const read = Effect.fnUntraced(function* (session: P4Session, args: ReadonlyArray<string>, maxFiles: number) {
  const found: Found = { scalars: new Map(), files: new Map(), more: false }
  yield* readP4(session, { args }, { field: (name, value, isText) => addField(found, name, value, isText, maxFiles) })
  return found
})

const afterDescription = new Set(["status", "changeType", "path", "shelved"])

const addField = (found: Found, name: string, value: string, isText: boolean, maxFiles: number): void => {
  const [, field, number] = /^(depotFile|action|type|rev|fileSize|digest)(\d+)$/.exec(name) ?? []
  if (field === undefined || number === undefined) {
    // In text, fields before and after the description count, not lines of the description (see `makeTextReader`).
    if (!found.scalars.has(name) || (isText && afterDescription.has(name))) found.scalars.set(name, value)
    if (isText && name === "status") found.scalars.delete("shelved")
    return
  }
  if (isText && field === "depotFile" && number === "0") {
    found.files.clear()
    found.more = false
  }
  const index = Number(number)
  if (index >= maxFiles) found.more = true
  else {
    const file = found.files.get(index) ?? {}
    file[field] = value
    found.files.set(index, file)
  }
}

/** Returns undefined if the server has no such changelist, or the user may not read it. */
export const describeChangelist = Effect.fnUntraced(function* (
  session: P4Session,
  change: string,
  maxFiles: number
): Effect.fn.Return<Changelist | undefined, CheckoutError> {
  const found = yield* read(session, ["describe", "-s", change], maxFiles)
  const { scalars } = found
  if (scalars.get("change") === undefined) return undefined
  const isPending = scalars.get("status") === "pending"
  // Only this option makes every server list a shelf.
  const { files, more } = isPending ? yield* read(session, ["describe", "-S", "-s", change], maxFiles) : found
  const textOf = (name: string): string | undefined => {
    const value = scalars.get(name)
    return value === undefined ? undefined : shownText(value)
  }
  const bases = new Map<string, string>()
  const listed = [...files]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([, file]): ReadonlyArray<ListedFile> => {
      const { action = "edit", depotFile, digest, fileSize, rev, type = "text" } = file
      if (depotFile === undefined) return []
      if (isPending && rev !== undefined && /^\d+$/.test(rev)) bases.set(depotFile, rev)
      return [
        {
          depotFile,
          action,
          type,
          digest,
          bytes: fileSize !== undefined && /^\d+$/.test(fileSize) ? Number(fileSize) : undefined,
          spec: isPending ? `${depotFile}@=${change}` : `${depotFile}#${rev ?? "head"}`
        }
      ]
    })
  return {
    change,
    state: isPending ? (listed.length > 0 ? "shelved" : "pending") : "submitted",
    user: textOf("user"),
    client: textOf("client"),
    description: (textOf("desc") ?? "").slice(0, maxDescription),
    files: listed,
    bases,
    more
  }
})

/** Identifies the contents of a shelf: it keeps its number when it is shelved again. */
export const shelfVersion = ({ bases, files }: Changelist): string => {
  const hash = createHash("sha256")
  for (const { action, depotFile, digest, type } of files)
    hash.update(JSON.stringify([depotFile, action, type, digest, bases.get(depotFile)]))
  return hash.digest("hex").slice(0, 12)
}

/** The newest submitted changelist of a path up to another one; undefined: there is none. */
export const readNewest = Effect.fnUntraced(function* (
  session: P4Session,
  spec: string
): Effect.fn.Return<string | undefined, CheckoutError> {
  let newest: string | undefined
  yield* readP4(
    session,
    { args: ["changes", "-m", "1", "-s", "submitted", spec] },
    {
      record: ({ change }) => {
        newest = change
        return true
      }
    }
  )
  return newest
})

/** Lists the newest submitted changelists of each path above its number, at most `limit` of each, the newest first. */
const listSubmitted = Effect.fnUntraced(function* (
  session: P4Session,
  paths: ReadonlyArray<{ readonly path: string; readonly after: number }>,
  limit: number
): Effect.fn.Return<ReadonlyArray<SubmittedRevision>, CheckoutError> {
  const found = new Map<number, SubmittedRevision>()
  const specs = paths.map(({ after, path }) => `${path}@${after + 1},#head`)
  yield* readP4(
    session,
    { args: ["changes", "-m", String(limit), "-s", "submitted", ...specs] },
    {
      record: ({ change, time, user }) => {
        const [revision, seconds] = [Number(change), Number(time)]
        if (!Number.isSafeInteger(revision)) return
        const author = user === undefined ? undefined : shownText(user)
        found.set(revision, { revision, author, at: seconds > 0 ? seconds * 1000 : undefined })
      }
    }
  )
  return [...found.values()].toSorted((a, b) => b.revision - a.revision)
})

/** Lists the changelists of the paths with a number by one command, and finds the newest one of each of the others. */
export const listPaths = ({ limit, paths }: Pick<ListRequest, "limit" | "paths">) =>
  Effect.fn("Perforce.list")(function* (session: P4Session): Effect.fn.Return<ListedChanges, CheckoutError> {
    const wrong = paths.flatMap(({ path }) => (path === "//..." ? [] : (checkRoot(cleanRoot(path)) ?? [])))[0]
    if (wrong !== undefined) return yield* wrong
    const listed = paths.flatMap(({ after, path }) => (after === undefined ? [] : [{ after, path }]))
    const changes = listed.length === 0 ? [] : yield* listSubmitted(session, listed, limit)
    const newest = new Map(listed.map(({ after, path }) => [path, Math.max(after, changes[0]?.revision ?? 0)]))
    for (const { after, path } of paths)
      if (after === undefined) newest.set(path, Number((yield* readNewest(session, path)) ?? 0))
    return { changes, newest, repository: undefined, isCut: changes.length >= limit }
  })

/** Descriptions of the submitted changelists of a path, oldest first. */
export const readMessages = Effect.fnUntraced(function* (
  session: P4Session,
  spec: string,
  limit: number
): Effect.fn.Return<ReadonlyArray<string>, CheckoutError> {
  const found: Array<string> = []
  yield* readP4(
    session,
    { args: ["changes", "-l", "-m", String(limit), "-s", "submitted", spec] },
    { record: ({ desc }) => void found.push(shownText(desc ?? "").slice(0, 4000)) }
  )
  return found.toReversed()
})

/** Lists the submitted changelists of a range, oldest first; undefined if there are too many or the range has no start. */
export const readSteps = Effect.fnUntraced(function* (
  session: P4Session,
  branch: string,
  head: string,
  base: string
): Effect.fn.Return<ReadonlyArray<StepName> | undefined, CheckoutError> {
  if (base === "0") return undefined
  const found: Array<StepName> = []
  const spec = `${branch}/...@${Number(base) + 1},${head}`
  yield* readP4(
    session,
    { args: ["changes", "-l", "-m", String(maxSteps + 1), "-s", "submitted", spec] },
    { record: ({ change, desc }) => void found.push({ id: change ?? "", title: toTitle(shownText(desc ?? "")) }) }
  )
  return found.length > maxSteps ? undefined : found.toReversed()
})
