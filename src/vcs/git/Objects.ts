/** Names and contents of git objects. Pure. */
import { decodeText } from "../../domain/TextContent.ts"
import type { GitObject } from "./BlobReader.ts"

/** Returns `<commit>:<path>`; undefined for an invalid path: absolute, empty, with dot segments, or with a line break. */
export const objectName = (commit: string, path: string): string | undefined => {
  if (path === "" || path.length > 4096 || /[\n\r\0]/.test(path)) return undefined
  const proper = path.split("/").every((part) => part !== "" && part !== "." && part !== "..")
  return proper ? `${commit}:${path}` : undefined
}

/** Decodes the text of a blob. Links are blobs with their target as content: they are read, not followed. */
export const decodeBlob = (object: GitObject | undefined): string | undefined => {
  if (object?.type !== "blob" || object.content === undefined) return undefined
  return decodeText(object.content)
}

interface TreeEntry {
  /** Mode in git's notation: `100644`, `100755`, `120000` (link), `160000` (submodule), `40000` (tree). */
  readonly mode: string
  readonly name: string
}

/** Parses a tree object: `<mode> <name>\0<id>` repeated, `idBytes` bytes of id. */
export const treeEntries = (
  tree: GitObject | undefined,
  idBytes: number,
  limit = Number.MAX_SAFE_INTEGER,
  wanted: (mode: string) => boolean = () => true
): ReadonlyArray<TreeEntry> => {
  if (tree?.type !== "tree" || tree.content === undefined) return []
  const entries: Array<TreeEntry> = []
  let at = 0
  while (at < tree.content.length && entries.length < limit) {
    const end = tree.content.indexOf(0, at)
    if (end < 0) break
    const entry = tree.content.toString("utf8", at, end)
    const space = entry.indexOf(" ")
    const mode = entry.slice(0, space)
    if (wanted(mode)) entries.push({ mode, name: entry.slice(space + 1) })
    at = end + 1 + idBytes
  }
  return entries
}

/** Returns the names of the regular files in a tree object. */
export const fileNames = (tree: GitObject | undefined, idBytes: number, limit: number): ReadonlyArray<string> =>
  treeEntries(tree, idBytes, limit, (mode) => mode.startsWith("100")).map(({ name }) => name)

/** Returns the names of the folders in a tree object. */
export const folderNames = (tree: GitObject | undefined, idBytes: number, limit: number): ReadonlyArray<string> =>
  treeEntries(tree, idBytes, limit, (mode) => mode === "40000").map(({ name }) => name)
