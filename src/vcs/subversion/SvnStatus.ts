/** Reads what a working copy changes: files, properties, and what is not under version control. Nothing is requested from the server. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import type { ChangedPath, CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"
import { newMark } from "../ProcessMark.ts"
import { readSvnXml } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import { pathBelow } from "./SvnUrl.ts"

export interface WorkingFile {
  readonly path: string
  readonly status: ChangedPath["status"]
  /** Another file replaced the one of the revision, which only the server has. */
  readonly isReplaced: boolean
  /** SHA-1 of the file at its checkout. */
  readonly checksum: string | undefined
  readonly url: string
  readonly revision: string
  /** Path of the file that it was copied from, in the same working copy. */
  readonly copiedFrom: string | undefined
}

export interface WorkingChanges {
  readonly files: ReadonlyMap<string, WorkingFile>
  /** Files and folders whose properties are changed, without added and deleted ones. */
  readonly properties: ReadonlyArray<string>
  /** Files and folders that are not under version control, or of another repository. */
  readonly unversioned: ReadonlySet<string>
  /** There are more than were read. */
  readonly more: boolean
}

export const unversionedItems = new Set(["unversioned", "ignored", "external", "obstructed"])
const wholeItems = new Set(["added", "deleted", "replaced"])
const modifiedItems = new Set(["modified", "conflicted", "merged"])

const toItem = ({ item = "none", props = "none", revision = "" }: Readonly<Record<string, string>>) => ({
  item,
  props,
  revision
})

type Items = ReadonlyMap<string, string>

/** Paths of one command. */
const targetsAtOnce = 1000

export const readStatus = Effect.fnUntraced(function* (
  session: SvnSession,
  rootUrl: string,
  limit: number
): Effect.fn.Return<WorkingChanges, CheckoutError> {
  const items = new Map<string, string>()
  /** Revisions of files that another one replaced, which only the status has. */
  const replaced = new Map<string, string>()
  const properties: Array<string> = []
  const unversioned = new Set<string>()
  let item = { item: "none", props: "none", revision: "" }
  let more = yield* readSvnXml(
    session,
    ["status", "--no-ignore", "--ignore-externals", "."],
    ({ attributes, name }) => {
      if (name === "wc-status") item = toItem(attributes)
      if (name !== "entry") return false
      const path = attributes["path"] === "." ? "" : (attributes["path"] ?? "")
      if (unversionedItems.has(item.item)) unversioned.add(path)
      else {
        if (wholeItems.has(item.item) || modifiedItems.has(item.item)) items.set(path, item.item)
        if (item.item === "replaced") replaced.set(path, item.revision)
        const isWhole = item.item === "added" || item.item === "deleted"
        if (!isWhole && (item.props === "modified" || item.props === "conflicted")) properties.push(path)
      }
      return items.size + properties.length > limit
    }
  )
  const files = new Map<string, WorkingFile>()
  const read = Effect.fnUntraced(function* (paths: ReadonlyArray<string>, depth: string) {
    for (let at = 0; at < paths.length && !more; at += targetsAtOnce) {
      more = yield* readFiles(session, rootUrl, paths.slice(at, at + targetsAtOnce), depth, (file) => {
        const found = toWorkingFile(items, { ...file, revision: replaced.get(file.path) ?? file.revision })
        if (found !== undefined) files.set(found.path, found)
        return files.size + properties.length > limit
      })
    }
  })
  const listed = [...items]
  // A folder that was copied, moved or deleted is one entry with everything in it.
  yield* read(pathsOf(listed, wholeItems), "infinity")
  yield* read(pathsOf(listed, modifiedItems), "empty")
  return { files, properties, unversioned, more }
})

const pathsOf = (items: ReadonlyArray<readonly [string, string]>, wanted: ReadonlySet<string>) =>
  items.flatMap(([path, item]) => (wanted.has(item) ? [path] : []))

/** A file of `svn info`, before its status is known. */
type InfoFile = Omit<WorkingFile, "status" | "isReplaced">

const readFiles = Effect.fnUntraced(function* (
  session: SvnSession,
  rootUrl: string,
  paths: ReadonlyArray<string>,
  depth: string,
  visit: (file: InfoFile) => boolean
) {
  if (paths.length === 0) return false
  const list = join(session.folder, newMark())
  yield* io("list of paths", () => writeFile(list, paths.map((path) => `${pinned(path)}\n`).join("")))
  const found = { url: "", checksum: undefined as string | undefined, copiedFrom: undefined as string | undefined }
  return yield* readSvnXml(session, ["info", "--depth", depth, "--targets", list], ({ attributes, name, text }) => {
    if (name === "url") found.url = text
    if (name === "checksum") found.checksum = text
    if (name === "copy-from-url") found.copiedFrom = pathBelow(rootUrl, text)
    if (name !== "entry") return false
    const { kind, path = "", revision = "" } = attributes
    const file = { ...found, path, revision }
    Object.assign(found, { url: "", checksum: undefined, copiedFrom: undefined })
    return kind === "file" && visit(file)
  })
})

/** A path for svn that is neither an option nor pegged. */
export const pinned = (path: string): string => (path === "" ? ".@" : `./${path}@`)

/** Decides by the status of the file and of the nearest folder above it that was copied, moved, deleted or replaced. Pure. */
const toWorkingFile = (items: Items, file: InfoFile): WorkingFile | undefined => {
  const { path } = file
  const own = items.get(path)
  let above: string | undefined
  for (let end = path.lastIndexOf("/"); end > 0 && above === undefined; end = path.lastIndexOf("/", end - 1)) {
    const item = items.get(path.slice(0, end))
    if (item !== undefined && wholeItems.has(item)) above = item
  }
  // Deleted within a copy: it never existed here.
  if (own === "deleted" && above === "added") return undefined
  const as = (status: ChangedPath["status"], isReplaced = false) => ({ ...file, status, isReplaced })
  if (above === "added" || above === "replaced") return as("added")
  if (above === "deleted") return as("deleted")
  if (own === "replaced") return as("modified", true)
  if (own === "added" || own === "deleted") return as(own)
  return own === undefined ? undefined : as("modified")
}
