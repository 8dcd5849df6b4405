/** Diffs, findings and texts of models without the secrets that are in them. Pure. */
import type { ReportedProblem } from "../domain/Problem.ts"
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { withoutRepetition } from "./Repetition.ts"
import { scrubSecrets } from "./Secrets.ts"

/** Returns the same object where it has no secret. */
export const scrubFile = (file: FileDiff): FileDiff => {
  let found = false
  const hunks: Array<Hunk> = []
  for (const hunk of file.hunks) {
    const lines = scrubbedLines(hunk)
    const section = scrubSecrets(hunk.section)
    found ||= lines !== undefined || section !== hunk.section
    hunks.push(
      lines === undefined && section === hunk.section ? hunk : { ...hunk, section, lines: lines ?? hunk.lines }
    )
  }
  return found ? { ...file, hunks } : file
}

/** Returns undefined where the text has no secret. */
const scrubbedLines = (hunk: Hunk): ReadonlyArray<string> | undefined => {
  const lines = hunk.lines
  const changed = new Map<number, string>()
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ""
    const scrubbed = scrubSecrets(line)
    if (scrubbed !== line) changed.set(at, scrubbed)
  }
  if (changed.size === 0) return undefined
  return lines.map((line, at) => changed.get(at) ?? line)
}

export const scrubFiles = (files: ReadonlyArray<FileDiff>): ReadonlyArray<FileDiff> => {
  const scrubbed: Array<FileDiff> = []
  for (const file of files) {
    scrubbed.push(scrubFile(file))
  }
  return scrubbed
}

/** Removes repeated sentences of its message, too. */
export const scrubProblem = (problem: ReportedProblem): ReportedProblem => ({
  ...problem,
  message: withoutRepetition(scrubSecrets(problem.message)),
  ...(problem.title === undefined ? {} : { title: scrubSecrets(problem.title) }),
  ...(problem.suggestion === undefined ? {} : { suggestion: scrubSecrets(problem.suggestion) }),
  ...(problem.quote === undefined ? {} : { quote: scrubSecrets(problem.quote) })
})
