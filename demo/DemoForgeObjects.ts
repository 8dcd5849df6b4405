/**
 * Writes the objects of a commit into a repository of git, without starting a program for each commit. Files of the commit before it are listed by
 * git once, where they are not known from a commit of this process.
 */
import { createHash, randomUUID } from "node:crypto"
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { deflateSync, constants } from "node:zlib"

interface File {
  /** Mode in a tree of git: `100644`, `100755`, `120000` or `160000`. */
  readonly mode: string
  readonly id: string
}

/** A folder whose tree is in the repository. */
interface Folder {
  readonly mode: "40000"
  readonly id: string
  readonly entries: ReadonlyMap<string, File | Folder>
}

type Edit = string | Uint8Array | null
/** Edits by the name of an entry: of the entry itself, or of what is below it. */
type Edits = Map<string, Edit | Edits>

const isFolder = (entry: File | Folder | undefined): entry is Folder => entry !== undefined && "entries" in entry

/** Writes an object, and returns its id. */
const write = (directory: string, type: "blob" | "tree" | "commit", content: Uint8Array): string => {
  const object = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
  const id = createHash("sha1").update(object).digest("hex")
  const folder = join(directory, "objects", id.slice(0, 2))
  const path = join(folder, id.slice(2))
  if (existsSync(path)) return id
  mkdirSync(folder, { recursive: true })
  const made = join(folder, `tmp_obj_${randomUUID()}`)
  writeFileSync(made, deflateSync(object, { level: constants.Z_BEST_SPEED }), { mode: 0o444 })
  renameSync(made, path)
  return id
}

/** Git sorts the name of a folder as if it ended with a slash. */
const sortKey = ([name, entry]: readonly [string, File | Folder]): Buffer =>
  Buffer.from(isFolder(entry) ? `${name}/` : name)

const writeFolder = (directory: string, entries: ReadonlyMap<string, File | Folder>): Folder => {
  const sorted = [...entries].toSorted((one, other) => sortKey(one).compare(sortKey(other)))
  const rows = sorted.flatMap(([name, { id, mode }]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")])
  return { mode: "40000", id: write(directory, "tree", Buffer.concat(rows)), entries }
}

/** Applies edits to a folder. Returns undefined if nothing is left in it. */
const editFolder = (directory: string, folder: Folder | undefined, edits: Edits): Folder | undefined => {
  const entries = new Map(folder?.entries)
  for (const [name, edit] of edits) {
    const existing = entries.get(name)
    const entry =
      edit === null
        ? undefined
        : edit instanceof Map
          ? editFolder(directory, isFolder(existing) ? existing : undefined, edit)
          : { mode: "100644", id: write(directory, "blob", Buffer.from(edit)) }
    if (entry === undefined) entries.delete(name)
    else entries.set(name, entry)
  }
  return entries.size === 0 ? undefined : writeFolder(directory, entries)
}

const toEdits = (files: Readonly<Record<string, Edit>>): Edits => {
  const root: Edits = new Map()
  for (const [path, edit] of Object.entries(files)) {
    const names = path.split("/")
    if (names.some((name) => ["", ".", "..", ".git"].includes(name))) throw new Error(`no path of a file: ${path}`)
    const last = names.pop() ?? ""
    let edits = root
    for (const name of names) {
      const below = edits.get(name)
      const next: Edits = below instanceof Map ? below : new Map()
      edits.set(name, next)
      edits = next
    }
    edits.set(last, edit)
  }
  return root
}

/** Reads the output of `git ls-tree -r -t -z`. */
const parseTree = (id: string, listed: string): Folder => {
  const root = { mode: "40000", id, entries: new Map<string, File | Folder>() } as const
  const folders = new Map([["", root]])
  for (const row of listed.split("\0")) {
    const [, mode = "", type, object = "", path = ""] = /^(\d+) (\w+) (\w+)\t([^]*)$/.exec(row) ?? []
    if (path === "") continue
    const slash = path.lastIndexOf("/")
    const parent = folders.get(path.slice(0, Math.max(slash, 0)))
    const folder = { mode: "40000", id: object, entries: new Map<string, File | Folder>() } as const
    if (type === "tree") folders.set(path, folder)
    parent?.entries.set(path.slice(slash + 1), type === "tree" ? folder : { mode, id: object })
  }
  return root
}

export interface CommitDraft {
  readonly parent: string | undefined
  /** Content by path; null deletes. */
  readonly files: Readonly<Record<string, Edit>>
  readonly message: string
  /** Author and time, as in a commit of git. */
  readonly who: string
}

/** Files of commits that this process made, by repository and commit. */
const known = new Map<string, Folder>()
const keptCommits = 1024

const keep = (key: string, folder: Folder): void => {
  known.set(key, folder)
  const [oldest] = known.keys()
  if (known.size > keptCommits && oldest !== undefined) known.delete(oldest)
}

/** Writes a commit, and returns its id. No branch has it yet. `list`: the files of a commit, as `git ls-tree -r -t -z` prints them. */
export const writeCommit = async (
  directory: string,
  { files, message, parent, who }: CommitDraft,
  list: (commit: string) => Promise<string>
): Promise<string> => {
  const before =
    parent === undefined ? undefined : (known.get(`${directory} ${parent}`) ?? parseTree(parent, await list(parent)))
  const folder = editFolder(directory, before, toEdits(files)) ?? writeFolder(directory, new Map())
  const head = [
    `tree ${folder.id}`,
    ...(parent === undefined ? [] : [`parent ${parent}`]),
    `author ${who}`,
    `committer ${who}`
  ]
  const id = write(directory, "commit", Buffer.from(`${head.join("\n")}\n\n${message}`))
  keep(`${directory} ${id}`, folder)
  return id
}
