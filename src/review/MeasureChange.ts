/** Measures a change for its readers: its size, its riskiest files, and whether tests change. Pure. */
import type { ChangeFacts } from "../domain/Analysis.ts"
import type { FileDiff } from "./FileDiff.ts"
import { isTest, riskTier } from "./Risk.ts"

const maxRiskiest = 3

type MeasuredFile = Pick<FileDiff, "path" | "additions" | "deletions">

/** `names`: public names that change; undefined if they were not searched. */
export const measureChange = (files: ReadonlyArray<MeasuredFile>, names: ChangeFacts["names"]): ChangeFacts => {
  const sum = (size: (file: MeasuredFile) => number) => files.reduce((all, file) => all + size(file), 0)
  const byRisk = files
    .filter((file) => riskTier(file) <= 1)
    .toSorted((a, b) => riskTier(a) - riskTier(b) || b.additions + b.deletions - a.additions - a.deletions)
  return {
    files: files.length,
    additions: sum(({ additions }) => additions),
    deletions: sum(({ deletions }) => deletions),
    riskiest: byRisk.slice(0, maxRiskiest).map(({ path }) => path),
    tests: files.filter(({ path }) => isTest(path)).length,
    ...(names === undefined ? {} : { names })
  }
}
