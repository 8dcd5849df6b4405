/** What a commit object says of its tree and its parents, and what follows without asking git: pure but for the reading. */
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { GitObject } from "./BlobReader.ts"

export interface CommitObject {
  readonly tree: string
  readonly parents: ReadonlyArray<string>
}

/** An object by its full id; undefined when there is none. */
export type ReadObject = (id: string, maxBytes: number) => Effect.Effect<GitObject | undefined, CheckoutError>

/** Of headers and message; a longer one is read as none. */
const longestCommit = 1_048_576
/** A branch under review seldom has more commits; git itself looks further. */
const nearby = 16

/** Undefined for what is no commit. */
export const parseCommit = (object: GitObject | undefined): CommitObject | undefined => {
  if (object?.type !== "commit" || object.content === undefined) return undefined
  const headers = object.content.toString("latin1").split("\n\n", 1)[0] ?? ""
  const [first = "", ...rest] = headers.split("\n")
  if (!first.startsWith("tree ")) return undefined
  const end = rest.findIndex((line) => !line.startsWith("parent "))
  return { tree: first.slice(5), parents: rest.slice(0, end < 0 ? undefined : end).map((line) => line.slice(7)) }
}

/** The tree that a commit, or a tree itself, names; undefined when it cannot be said. */
export const treeOf = (read: ReadObject, id: string): Effect.Effect<string | undefined, CheckoutError> =>
  Effect.map(read(id, longestCommit), (object) => (object?.type === "tree" ? id : parseCommit(object)?.tree))

/** Whether `ancestor` is `commit` or one of the few commits before it. False says nothing about those further back. */
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
