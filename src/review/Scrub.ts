/** Diffs, findings and texts of models without the secrets that are in them. Pure. */
import type { ReportedProblem } from "../domain/Problem.ts"
import type { FileDiff } from "./FileDiff.ts"
import { scrubSecrets } from "./Secrets.ts"

/** The same object where there is nothing to remove. */
export const scrubFile = (file: FileDiff): FileDiff => {
  let found = false
  const hunks = file.hunks.map((hunk) => {
    const lines = hunk.lines.map((line) => `${line.slice(0, 1)}${scrubSecrets(line.slice(1))}`)
    const section = scrubSecrets(hunk.section)
    if (section === hunk.section && lines.every((line, index) => line === hunk.lines[index])) return hunk
    found = true
    return { ...hunk, section, lines }
  })
  return found ? { ...file, hunks } : file
}

export const scrubProblem = (problem: ReportedProblem): ReportedProblem => ({
  ...problem,
  message: scrubSecrets(problem.message),
  ...(problem.title === undefined ? {} : { title: scrubSecrets(problem.title) }),
  ...(problem.suggestion === undefined ? {} : { suggestion: scrubSecrets(problem.suggestion) }),
  ...(problem.quote === undefined ? {} : { quote: scrubSecrets(problem.quote) })
})
