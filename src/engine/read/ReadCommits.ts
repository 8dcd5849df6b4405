/** The patches of a range's commits for `review.commit_strategy: per_commit`, within the limit for the analysed patch. */
import { Effect } from "effect"
import type { Workspace } from "../../config/Snapshot.ts"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import { listPaths, pathsAt } from "./ListPaths.ts"
import type { PatchTooLarge } from "./PatchTooLarge.ts"
import { readDiff } from "./ReadDiff.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Maximum number of deleted files of a commit that are searched for the origin of its added files. */
const maxDeleted = 500

/** Reads the commits into the thread of the change, to be shown instead of the whole comparison. Returns notices. */
export const readCommits = Effect.fn("readCommits")(function* (
  change: ChangeThread,
  checkout: Checkout,
  { review }: Workspace
): Effect.fn.Return<ReadonlyArray<Reason>, CheckoutError | PatchTooLarge | AnalysisError> {
  if (review.commit_strategy !== "per_commit") return []
  const commits = yield* checkout.commits ?? Effect.undefined
  if (commits === undefined) return [{ _tag: "EndPointsCompared" }]
  if (commits.length < 2) return []
  yield* change.run("beginCommits", maxDeleted)
  let room = review.max_patch_bytes
  for (const [left, commit] of commits.toReversed().entries()) {
    const { id, title } = commit
    const listed = yield* commit.changes(review.max_changed_paths)
    yield* listPaths(change, listed)
    const candidates = pathsAt(listed, yield* change.run("commitCandidates"))
    const sizes = yield* commit.sizes(candidates)
    const small = candidates.filter((_, index) => (sizes[index] ?? 0) <= review.max_file_bytes)
    yield* change.run("beginCommit", { index: commits.length - left, of: commits.length, id, title })
    room -= yield* readDiff(change, commit.diff(small, false), room, review.max_patch_bytes)
    yield* change.run("endCommit")
  }
  return []
})
