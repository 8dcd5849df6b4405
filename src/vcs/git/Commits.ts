/** Lists the commits of a range, for reviews commit by commit. */
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import { readLine } from "./CommitObject.ts"
import type { ListedCommit, ReadObject } from "./CommitObject.ts"
import { runGit } from "./GitProcess.ts"
import { inMirror } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import { localTime } from "./TimeLimit.ts"

const git = (mirror: Mirror, args: ReadonlyArray<string>, accept: ReadonlyArray<number> = []) =>
  runGit(inMirror(mirror, args), { time: localTime("history"), maxBytes: 4_194_304, accept })

/** Also false if `from` is not a commit but the empty tree, with which a first commit is compared. */
export const isAncestor = (mirror: Mirror, from: string, head: string): Effect.Effect<boolean, CheckoutError> =>
  git(mirror, ["merge-base", "--is-ancestor", from, head], [1, 128]).pipe(Effect.map(({ code }) => code === 0))

/**
 * Returns the commits of the head that `from` does not contain, oldest first, without merges; undefined if history was rewritten
 * or there are more than `limit`.
 */
export const commitsBetween = Effect.fnUntraced(function* (
  mirror: Mirror,
  read: ReadObject,
  from: string,
  head: string,
  limit: number
): Effect.fn.Return<ReadonlyArray<ListedCommit> | undefined, CheckoutError> {
  const near = yield* readLine(read, from, head)
  if (near !== undefined) return near
  if (!(yield* isAncestor(mirror, from, head))) return undefined
  const { stdout } = yield* git(mirror, [
    "rev-list",
    "--topo-order",
    "--no-merges",
    `--max-count=${limit + 1}`,
    "--no-commit-header",
    "--format=%H%x00%P%x00%<(400,trunc)%s",
    `${from}..${head}`
  ])
  const commits = stdout
    .toString("utf8")
    .split("\n")
    .flatMap((line): ReadonlyArray<ListedCommit> => {
      const [id = "", parent = "", title = ""] = line.split("\0")
      return id === "" ? [] : [{ id, title: title.trim(), parent: parent === "" ? undefined : parent }]
    })
  return commits.length > limit ? undefined : commits.toReversed()
})
