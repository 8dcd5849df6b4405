/** Diffs, findings and texts of models without the secrets that are in them. Pure. */
import type { ReportedProblem } from "../domain/Problem.ts"
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { linesIn } from "./HunkText.ts"
import { scrubSecrets } from "./Secrets.ts"
import { meter } from "./Steps.ts"
import type { Steps } from "./Steps.ts"

/** The same object where there is nothing to remove. */
export function* scrubFile(file: FileDiff): Steps<FileDiff> {
  const enough = meter()
  let found = false
  const hunks: Array<Hunk> = []
  for (const hunk of file.hunks) {
    const lines = yield* scrubbedLines(hunk, enough)
    const section = scrubSecrets(hunk.section)
    found ||= lines !== undefined || section !== hunk.section
    hunks.push(
      lines === undefined && section === hunk.section ? hunk : { ...hunk, section, lines: lines ?? hunk.lines }
    )
    if (enough(section.length)) yield
  }
  return found ? { ...file, hunks } : file
}

/** Undefined: there is nothing to remove. */
function* scrubbedLines(hunk: Hunk, enough: ReturnType<typeof meter>): Steps<ReadonlyArray<string> | undefined> {
  const lines = yield* linesIn(hunk)
  const changed = new Map<number, string>()
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ""
    const scrubbed = scrubSecrets(line)
    if (scrubbed !== line) changed.set(at, scrubbed)
    if (enough(line.length)) yield
  }
  if (changed.size === 0) return undefined
  const all: Array<string> = []
  for (let at = 0; at < lines.length; at++) {
    all.push(changed.get(at) ?? lines[at] ?? "")
    if (enough(0)) yield
  }
  return all
}

export function* scrubFiles(files: ReadonlyArray<FileDiff>): Steps<ReadonlyArray<FileDiff>> {
  const enough = meter()
  const scrubbed: Array<FileDiff> = []
  for (const file of files) {
    scrubbed.push(yield* scrubFile(file))
    if (enough(file.bytes)) yield
  }
  return scrubbed
}

export const scrubProblem = (problem: ReportedProblem): ReportedProblem => ({
  ...problem,
  message: scrubSecrets(problem.message),
  ...(problem.title === undefined ? {} : { title: scrubSecrets(problem.title) }),
  ...(problem.suggestion === undefined ? {} : { suggestion: scrubSecrets(problem.suggestion) }),
  ...(problem.quote === undefined ? {} : { quote: scrubSecrets(problem.quote) })
})
