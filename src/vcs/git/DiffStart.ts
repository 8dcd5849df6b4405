/** Determines the commit from which the diff of a review starts. */
import { Effect } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { GitCheckoutRequest } from "../Checkout.ts"
import { isJustBefore } from "./CommitObject.ts"
import type { ReadObject } from "./CommitObject.ts"
import { isAncestor } from "./Commits.ts"
import { isZero } from "./Fetch.ts"
import { runGit } from "./GitProcess.ts"
import { inMirror } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import { localTime } from "./TimeLimit.ts"

const emptyTree = {
  40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
}
/** Returns the empty tree in the object format of this commit. */
export const findEmptyTree = (commit: string): string => emptyTree[commit.length === 64 ? 64 : 40]
const quick = { time: localTime("history"), maxBytes: 1_048_576 }

export const diffStart = Effect.fnUntraced(function* (
  mirror: Mirror,
  read: ReadObject,
  request: GitCheckoutRequest
): Effect.fn.Return<string, CheckoutError> {
  const { head, base } = request
  const git = (args: ReadonlyArray<string>, accept: ReadonlyArray<number>) =>
    runGit(inMirror(mirror, args), { ...quick, accept }).pipe(
      Effect.map(({ stdout }) => stdout.toString("latin1").trim())
    )
  const findParent = Effect.map(git(["rev-list", "--parents", "-n", "1", head], []), (line) => {
    const [, parent] = line.split(" ")
    return parent ?? findEmptyTree(head)
  })
  // A newly created branch has no previous commit, so only its last commit is reviewed.
  if (isZero(base)) return yield* findParent
  if (request.headOnly === true && (request.compare === "merge-base" || (yield* isAncestor(mirror, base, head)))) {
    return yield* findParent
  }
  if (request.compare === "endpoints" || (yield* isJustBefore(read, base, head))) return base
  const ancestor = yield* git(["merge-base", base, head], [1])
  if (ancestor !== "") return ancestor
  return yield* new CheckoutError({
    reason: "failed",
    why: { _tag: "NoCommonAncestor", base, head }
  })
})
