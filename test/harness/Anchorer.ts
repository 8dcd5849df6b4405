import type { ReportedProblem } from "../../src/domain/Problem.ts"
import { anchorIn, fileFinder } from "../../src/review/Anchor.ts"
import type { Anchored } from "../../src/review/Anchor.ts"
import type { FileDiff } from "../../src/review/FileDiff.ts"

export type Anchorer = (problem: ReportedProblem) => Anchored | undefined

/** Finds the places of the problems of one change. */
export const makeAnchorer = (files: ReadonlyArray<FileDiff>): Anchorer => {
  const find = fileFinder(files)
  return (problem) => {
    const file = find(problem.file)
    return file === undefined ? undefined : anchorIn(file, problem)
  }
}
