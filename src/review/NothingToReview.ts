/** Decides whether a model may skip a part of a change: only where a person would find nothing to review either. Pure. */
import type { FileDiff } from "./FileDiff.ts"

type ShownFile = Pick<FileDiff, "path" | "oldPath" | "status" | "additions" | "deletions">

const isNothing = ({ additions, deletions, status }: ShownFile): boolean =>
  (status === "deleted" && additions === 0) || additions + deletions === 0

const pathsOf = (files: ReadonlyArray<ShownFile>): ReadonlySet<string> =>
  new Set(files.flatMap(({ oldPath = [], path }) => [path].concat(oldPath)))

/**
 * Returns whether all paths are files of the change that it only deletes as a whole, renames, or gives another mode. Ignored and excluded
 * files are not shown at all. A path that the change does not name is to be reviewed.
 */
export const hasNothingToReview = (paths: ReadonlyArray<string>, files: ReadonlyArray<ShownFile>): boolean => {
  const nothing = pathsOf(files.filter(isNothing))
  const something = pathsOf(files.filter((file) => !isNothing(file)))
  return paths.length > 0 && paths.every((path) => nothing.has(path) && !something.has(path))
}
