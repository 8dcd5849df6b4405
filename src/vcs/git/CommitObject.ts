/** Reads commit objects, and recent history without starting git: each start copies the memory map of the service, about 5 ms. */
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { GitObject } from "./BlobReader.ts"

export interface CommitObject {
  readonly tree: string
  readonly parents: ReadonlyArray<string>
}

/** Reads an object by its full id; undefined if it does not exist. */
export type ReadObject = (id: string, maxBytes: number) => Effect.Effect<GitObject | undefined, CheckoutError>

/** Maximum bytes of headers and message; a longer commit is treated as unreadable. */
const longestCommit = 1_048_576
/** Bytes read for a title, which has at most half of them. */
const longestTitle = 400
/** Bytes of a message. */
const longestMessage = 4_096
/** Branches under review seldom have more commits; for longer ones the caller uses git. */
const nearby = 16

/** Parses a commit object; undefined for any other object. */
export const parseCommit = (object: GitObject | undefined): CommitObject | undefined => {
  if (object?.type !== "commit" || object.content === undefined) return undefined
  const headers = object.content.toString("latin1").split("\n\n", 1)[0] ?? ""
  const [first = "", ...rest] = headers.split("\n")
  if (!first.startsWith("tree ")) return undefined
  const end = rest.findIndex((line) => !line.startsWith("parent "))
  return { tree: first.slice(5), parents: rest.slice(0, end < 0 ? undefined : end).map((line) => line.slice(7)) }
}

const hasEncoding = /^encoding /m

/**
 * Returns the title of a commit as `%s` of git prints it; undefined where that needs git: a title of several lines, a long one, one
 * in another encoding, or none.
 */
const readTitle = (object: GitObject | undefined): string | undefined => {
  if (object?.type !== "commit" || object.content === undefined) return undefined
  const end = object.content.indexOf("\n\n")
  if (end < 0 || hasEncoding.test(object.content.toString("latin1", 0, end))) return undefined
  const [title = "", next = ""] = object.content.toString("utf8", end + 2, end + 2 + longestTitle).split("\n")
  const fits = Buffer.byteLength(title) < longestTitle / 2
  return fits && title.trim() !== "" && next.trim() === "" && !title.includes("\0") ? title.trim() : undefined
}

/** Returns the message of a commit; undefined for any other object. */
export const readMessage = (object: GitObject | undefined): string | undefined => {
  if (object?.type !== "commit" || object.content === undefined) return undefined
  const end = object.content.indexOf("\n\n")
  return end < 0 ? "" : object.content.toString("utf8", end + 2, end + 2 + longestMessage)
}

/** Returns the tree of a commit or of a tree id; undefined if it cannot be determined. */
export const findTree = (read: ReadObject, id: string): Effect.Effect<string | undefined, CheckoutError> =>
  Effect.map(read(id, longestCommit), (object) => (object?.type === "tree" ? id : parseCommit(object)?.tree))

/** Returns whether `ancestor` is `commit` or one of the few commits before it. False does not rule out older commits. */
export const isJustBefore = Effect.fnUntraced(function* (
  read: ReadObject,
  ancestor: string,
  commit: string
): Effect.fn.Return<boolean, CheckoutError> {
  const found = new Set([commit])
  for (const id of found) {
    if (id === ancestor) return true
    if (found.size > nearby) return found.has(ancestor)
    const { parents } = parseCommit(yield* read(id, longestCommit)) ?? { parents: [] }
    for (const parent of parents) found.add(parent)
  }
  return false
})

export interface ListedCommit {
  readonly id: string
  readonly title: string
  /** Undefined: the first commit of the history. */
  readonly parent: string | undefined
}

/**
 * Returns the commits after `from` up to `head`, oldest first, if they are few and each has one parent; undefined where git has
 * to list them.
 */
export const readLine = Effect.fnUntraced(function* (
  read: ReadObject,
  from: string,
  head: string
): Effect.fn.Return<ReadonlyArray<ListedCommit> | undefined, CheckoutError> {
  const found: Array<ListedCommit> = []
  for (let id = head; id !== from;) {
    if (found.length === nearby) return undefined
    const object = yield* read(id, longestCommit)
    const title = readTitle(object)
    const [parent, ...others] = parseCommit(object)?.parents ?? []
    if (title === undefined || parent === undefined || others.length > 0) return undefined
    found.push({ id, title, parent })
    id = parent
  }
  return found.toReversed()
})
