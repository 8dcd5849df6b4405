/**
 * The files that differ between two states of a branch, with the revision of each side. A file that was branched from elsewhere is compared
 * with its source, and is not a change while both are equal.
 */
import { Effect } from "effect"
import { decodeName } from "../../domain/DepotPath.ts"
import { CheckoutError } from "../Checkout.ts"
import type { ChangedPath } from "../Checkout.ts"
import type { CopiedPath } from "../server/FileSource.ts"
import { tooManyPaths } from "../server/SourceCheckout.ts"
import { describeChangelist } from "./P4Describe.ts"
import type { Changelist } from "./P4Describe.ts"
import { findRevisions, listFiles } from "./P4Files.ts"
import type { ListedFile } from "./P4Files.ts"
import { belowDepot } from "./P4Path.ts"
import { readP4 } from "./P4Process.ts"
import type { P4Session } from "./P4Session.ts"
import { isDeleted, toMode } from "./P4Types.ts"

export interface P4Range {
  readonly branch: string
  /** Number of the changelist. */
  readonly head: string
  /** Number of the changelist to compare with; "0": nothing. */
  readonly base: string
  /** Names that differ in case only are equal. */
  readonly fold: boolean
  /** The head is a shelf on the base. */
  readonly shelf: Changelist | undefined
}

interface P4Sides {
  readonly from: ListedFile | undefined
  readonly head: ListedFile | undefined
}

export interface P4Changes {
  readonly changes: ReadonlyArray<ChangedPath>
  readonly sides: ReadonlyMap<string, P4Sides>
  readonly copies: ReadonlyArray<CopiedPath>
}

/** Fails for a shelf that is gone or another one since. */
export const readShelf = Effect.fnUntraced(function* (session: P4Session, change: string, maxFiles: number) {
  const found = yield* describeChangelist(session, change, maxFiles)
  if (found === undefined || found.state === "pending") {
    return yield* new CheckoutError({
      reason: "missing",
      why: { _tag: "ShelfGone", changelist: change }
    })
  }
  return found
})

export const readChanges = Effect.fnUntraced(function* (
  session: P4Session,
  range: P4Range,
  maxPaths: number
): Effect.fn.Return<P4Changes, CheckoutError> {
  const listed = yield* listHead(session, range, maxPaths)
  const inBranch = listed.flatMap((file) => {
    const path = belowDepot(range.branch, file.depotFile, range.fold)
    return path === undefined || path === "" ? [] : [{ path, file }]
  })
  const before = yield* findBefore(
    session,
    range,
    inBranch.map(({ file }) => file)
  )
  const origins = yield* findOrigins(
    session,
    inBranch
      .map(({ file }) => file)
      .filter(
        (file) => before.get(file.depotFile) === undefined && /^(?:branch|integrate|add|import)$/.test(file.action)
      )
  )
  const changes: Array<ChangedPath> = []
  const sides = new Map<string, P4Sides>()
  const copies: Array<CopiedPath> = []
  for (const { file, path } of inBranch) {
    const origin = origins.get(file.depotFile)
    const own = before.get(file.depotFile)
    const inside = origin === undefined ? undefined : belowDepot(range.branch, origin.depotFile, range.fold)
    if (inside !== undefined) copies.push({ path, source: inside })
    const from = own ?? (inside === undefined ? origin : undefined)
    const head = isDeleted(file.action) ? undefined : file
    if (from === undefined && head === undefined) continue
    if (from !== undefined && head !== undefined && isSame(from, head)) continue
    sides.set(path, { from, head })
    changes.push({
      path,
      status: from === undefined ? "added" : head === undefined ? "deleted" : "modified",
      oldMode: from === undefined ? undefined : toMode(from.type),
      newMode: head === undefined ? undefined : toMode(head.type)
    })
  }
  const byBytes = (a: ChangedPath, b: ChangedPath) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path))
  return { changes: changes.toSorted(byBytes), sides, copies }
})

const isSame = (from: ListedFile, head: ListedFile): boolean =>
  from.digest !== undefined && from.digest === head.digest && toMode(from.type) === toMode(head.type)

const listHead = Effect.fnUntraced(function* (
  session: P4Session,
  { base, branch, head, shelf }: P4Range,
  maxPaths: number
): Effect.fn.Return<ReadonlyArray<ListedFile>, CheckoutError> {
  if (shelf !== undefined) return shelf.more ? yield* tooManyPaths(maxPaths) : shelf.files
  const spec = base === "0" ? `${branch}/...@${head}` : `${branch}/...@${Number(base) + 1},${head}`
  const { files, more } = yield* listFiles(session, spec, maxPaths)
  if (more) return yield* tooManyPaths(maxPaths)
  // The list has no sizes and digests.
  const details = yield* findRevisions(
    session,
    files.filter(({ action }) => !isDeleted(action)).map(({ spec: one }) => one)
  )
  const found = new Map(details.map((file) => [file.depotFile, file]))
  return files.map((file) => ({ ...file, ...pick(found.get(file.depotFile)) }))
})

const pick = (file: ListedFile | undefined) => (file === undefined ? {} : { bytes: file.bytes, digest: file.digest })

const byDepotFile = (files: ReadonlyArray<ListedFile>): ReadonlyMap<string, ListedFile> =>
  new Map(files.filter(({ action }) => !isDeleted(action)).map((file) => [file.depotFile, file]))

/** Finds the state of the files at the base, of a shelf at the revisions on which it was made. */
const findBefore = Effect.fnUntraced(function* (
  session: P4Session,
  { base, shelf }: P4Range,
  files: ReadonlyArray<ListedFile>
): Effect.fn.Return<ReadonlyMap<string, ListedFile>, CheckoutError> {
  if (shelf === undefined) {
    if (base === "0") return new Map()
    return byDepotFile(
      yield* findRevisions(
        session,
        files.map(({ depotFile }) => `${depotFile}@${base}`)
      )
    )
  }
  const specs = files.flatMap(({ action, depotFile }) => {
    const rev = /^(?:add|branch|move\/add|import)$/.test(action) ? undefined : shelf.bases.get(depotFile)
    return rev === undefined ? [] : [`${depotFile}#${rev}`]
  })
  return byDepotFile(yield* findRevisions(session, specs))
})

/** Finds from which revisions new files were branched or copied. */
const findOrigins = Effect.fnUntraced(function* (
  session: P4Session,
  files: ReadonlyArray<ListedFile>
): Effect.fn.Return<ReadonlyMap<string, ListedFile>, CheckoutError> {
  const submitted = files.filter(({ spec }) => spec.includes("#"))
  if (submitted.length === 0) return new Map()
  const sources = new Map<string, { readonly file: string; readonly spec: string }>()
  yield* readP4(
    session,
    { args: ["filelog", "-m", "1"], files: submitted.map(({ spec }) => spec) },
    {
      record: (record) => {
        const { depotFile, erev0, file0, how0 } = nested(record)
        if (depotFile === undefined || file0 === undefined || erev0 === undefined) return
        if (/^(?:branch|copy|edit|add|import)\b.* from$/.test(how0 ?? ""))
          sources.set(depotFile, { file: file0, spec: `${file0}${erev0}` })
      }
    }
  )
  const found = byDepotFile(yield* findRevisions(session, [...new Set([...sources.values()].map(({ spec }) => spec))]))
  return new Map(
    [...sources].flatMap(([file, source]) => {
      const origin = found.get(source.file)
      return origin === undefined ? [] : [[file, origin] as const]
    })
  )
})

/** Integrations of the newest revision: `how0,0` in records, `how0` in text. */
const nested = (record: Readonly<Record<string, string>>) => ({
  depotFile: record["depotFile"],
  how0: record["how0,0"],
  file0: record["file0,0"],
  erev0: record["erev0,0"]
})

/** Path of a branch's file in a message for people. */
export const shownPath = (depotFile: string): string => decodeName(depotFile)
