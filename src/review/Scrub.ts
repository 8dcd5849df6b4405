/** Diffs, findings and texts of models without the secrets that are in them. Pure. */
import type { ReportedProblem } from "../domain/Problem.ts"
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { scrubSecrets } from "./Secrets.ts"

const linesPerTurn = 256

/** The same object where there is nothing to remove. Yields after every few hundred lines. */
export function* scrubFile(file: FileDiff): Generator<void, FileDiff, void> {
  let found = false
  let turn = 0
  const hunks: Array<Hunk> = []
  for (const hunk of file.hunks) {
    let lines: Array<string> | undefined
    for (let index = 0; index < hunk.lines.length; index++) {
      const line = hunk.lines[index] ?? ""
      const scrubbed = scrubSecrets(line)
      if (scrubbed !== line) {
        lines ??= [...hunk.lines]
        lines[index] = scrubbed
      }
      if (++turn % linesPerTurn === 0) yield
    }
    const section = scrubSecrets(hunk.section)
    found ||= lines !== undefined || section !== hunk.section
    hunks.push(
      lines === undefined && section === hunk.section ? hunk : { ...hunk, section, lines: lines ?? hunk.lines }
    )
  }
  return found ? { ...file, hunks } : file
}

export function* scrubFiles(
  files: ReadonlyArray<FileDiff>,
  wanted: (file: FileDiff) => boolean = () => true
): Generator<void, ReadonlyArray<FileDiff>, void> {
  const scrubbed: Array<FileDiff> = []
  for (const file of files) scrubbed.push(wanted(file) ? yield* scrubFile(file) : file)
  return scrubbed
}

export const scrubProblem = (problem: ReportedProblem): ReportedProblem => ({
  ...problem,
  message: scrubSecrets(problem.message),
  ...(problem.title === undefined ? {} : { title: scrubSecrets(problem.title) }),
  ...(problem.suggestion === undefined ? {} : { suggestion: scrubSecrets(problem.suggestion) }),
  ...(problem.quote === undefined ? {} : { quote: scrubSecrets(problem.quote) })
})
