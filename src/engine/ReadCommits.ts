/** The patches of a range's commits for `review.commit_strategy: per_commit`, within the limit for the analysed patch. */
import { Effect } from "effect"
import type { Workspace } from "../config/Snapshot.ts"
import { keepLineage, unshown } from "../review/CommitPatches.ts"
import type { FileDiff } from "../review/FileDiff.ts"
import type { Checkout, CheckoutError } from "../vcs/Checkout.ts"
import type { PatchTooLarge } from "./PatchTooLarge.ts"
import { parseStream } from "./ParseStream.ts"
import { runInTurns } from "./Turns.ts"

export interface CommitPatches {
  /** What the model is shown instead of the whole comparison; undefined: the comparison itself. */
  readonly files: ReadonlyArray<FileDiff> | undefined
  readonly notices: ReadonlyArray<string>
}

/** `files` are those to be read, as the comparison of the end points has them. */
export const readCommits = Effect.fn("readCommits")(function* (
  checkout: Checkout,
  { review }: Workspace,
  files: ReadonlyArray<FileDiff>
): Effect.fn.Return<CommitPatches, CheckoutError | PatchTooLarge> {
  if (review.commit_strategy !== "per_commit") return { files: undefined, notices: [] }
  const commits = yield* checkout.commits ?? Effect.undefined
  if (commits === undefined) {
    return {
      files: undefined,
      notices: ["The end points are compared: history was rewritten, or it has too many commits to show one by one."]
    }
  }
  if (commits.length < 2) return { files: undefined, notices: [] }
  const keep = keepLineage(files)
  const patches: Array<ReadonlyArray<FileDiff>> = []
  let room = review.max_patch_bytes
  for (const [left, { id, title, diff }] of commits.toReversed().entries()) {
    const commit = { index: commits.length - left, of: commits.length, id, title }
    const read = yield* parseStream(diff, keep, room, review.max_patch_bytes)
    room -= read.bytes
    patches.push(read.files.flatMap((file) => (file.hunks.length === 0 ? [] : [{ ...file, commit }])))
  }
  const shown = patches.toReversed().flat()
  return { files: [...shown, ...(yield* runInTurns(unshown(files, shown)))], notices: [] }
})
