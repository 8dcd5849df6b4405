/**
 * Divides the entries of a log into branches, and finds the previous revision of each branch in the older entries, as `svn log` of the branch
 * would return it. Pure.
 */
import type { ChangedStream } from "../../domain/ChangedStream.ts"
import type { Log, LogEntry, LogPath } from "./SvnLog.ts"
import { layoutFolders } from "../../domain/BranchNames.ts"

/**
 * Finds the branch of a path by the customary layout: `trunk`, `branches/NAME` and `tags/NAME`, in the root or in a folder per project.
 * Paths of a repository without this layout are all of one branch, `""`. Pure.
 */

interface SvnBranch {
  /** Path of the branch. */
  readonly branch: string
  /** Path within it. */
  readonly path: string
  readonly tag: boolean
}

/** Folders of projects above the layout. */
const maxProjectDepth = 3

/** Returns undefined for a folder of the layout itself, which has no files of a branch. */
export const findBranch = (path: string): SvnBranch | undefined => {
  const parts = path.split("/")
  const at = parts.findIndex((part) => layoutFolders.has(part))
  if (at < 0 || at > maxProjectDepth) return { branch: "", path, tag: false }
  const kind = parts[at]
  const end = kind === "trunk" ? at + 1 : at + 2
  if (parts.length < end) return undefined
  return { branch: parts.slice(0, end).join("/"), path: parts.slice(end).join("/"), tag: kind === "tags" }
}

/** Returns the branch of a path that is in the longest of the roots, if that is longer than the branch by the layout. */
const withinRoot = (
  found: SvnBranch | undefined,
  path: string,
  roots: ReadonlyArray<string>
): SvnBranch | undefined => {
  const [root] = roots
    .filter((one) => path === one || path.startsWith(`${one}/`))
    .toSorted((a, b) => b.length - a.length)
  if (root === undefined || found === undefined || root.length <= found.branch.length) return found
  return { branch: root, path: path.slice(root.length + 1), tag: found.tag }
}

/** Returns whether a URL already names a branch: paths below are not searched for the layout. */
export const isBranchUrl = (pathInRepository: string): boolean =>
  pathInRepository !== "" && (findBranch(pathInRepository)?.branch ?? "") !== ""

/** A changed branch. `isOpen`: the entries do not show which revision is the previous one. */
export interface LoggedStream extends Omit<ChangedStream, "previous"> {
  readonly previous: string | undefined
  readonly isOpen: boolean
}

/** Branches that one revision may start reviews of. */
const maxStreams = 50
/** Actions after which another object may be at the path. */
const replacing = new Set(["A", "R", "D"])

/**
 * `at`: index of the entry. `pathInRepository`: path of the URL whose log it is. `roots`: paths below the URL that are branches of their own
 * within a branch of the layout.
 */
export const findStreams = (
  log: Log,
  at: number,
  pathInRepository: string,
  roots: ReadonlyArray<string>
): ReadonlyArray<LoggedStream> => {
  const entry = log.entries[at]
  if (entry === undefined) return []
  return [...groupByBranch(entry, pathInRepository, roots)]
    .slice(0, maxStreams)
    .map(([branch, { paths, ...stream }]) => ({
      branch,
      paths,
      ...stream,
      ...(stream.removed ? { previous: undefined, isOpen: false } : findPrevious(log, at, branch, pathInRepository))
    }))
}

const groupByBranch = ({ more, paths }: LogEntry, pathInRepository: string, roots: ReadonlyArray<string>) => {
  const root = pathInRepository === "" ? "/" : `/${pathInRepository}/`
  const isOwn = isBranchUrl(pathInRepository)
  const streams = new Map<
    string,
    { readonly paths: Array<string>; removed: boolean; readonly tag: boolean; readonly more: boolean }
  >()
  for (const { action, path: full } of paths) {
    const inside =
      full === root.slice(0, -1) || full === root ? "" : full.startsWith(root) ? full.slice(root.length) : undefined
    const found =
      inside === undefined
        ? undefined
        : withinRoot(isOwn ? { branch: "", path: inside, tag: false } : findBranch(inside), inside, roots)
    if (found === undefined) continue
    const { branch, path, tag } = found
    const stream = streams.get(branch) ?? { paths: [], removed: false, tag, more }
    streams.set(branch, stream)
    if (path === "" && action === "D") stream.removed = true
    stream.paths.push(path)
  }
  return streams
}

interface Previous {
  readonly previous: string | undefined
  readonly isOpen: boolean
}

const open: Previous = { previous: undefined, isOpen: true }

const findPrevious = ({ entries, isComplete }: Log, at: number, branch: string, pathInRepository: string): Previous => {
  const older = entries.slice(at + 1)
  const end: Previous = isComplete ? { previous: undefined, isOpen: false } : open
  // The log of the URL follows the history of the URL itself.
  if (branch === "") return older[0] === undefined ? end : { previous: older[0].revision, isOpen: false }
  const full = `${pathInRepository === "" ? "" : `/${pathInRepository}`}/${branch}`
  const own = entries[at]
  if (own === undefined || own.more || own.paths.some(mayReplace(full))) return open
  for (const entry of older) {
    if (entry.paths.some(({ path }) => path === full || path.startsWith(`${full}/`)))
      return { previous: entry.revision, isOpen: false }
    if (entry.more || entry.paths.some(mayReplace(full))) return open
  }
  return end
}

/** Returns whether a change of the path makes another object the branch: of the branch or of a folder above it. */
export const mayReplace =
  (branch: string) =>
  ({ action, path }: LogPath): boolean =>
    replacing.has(action) && (path === branch || path === "/" || branch.startsWith(`${path}/`))
