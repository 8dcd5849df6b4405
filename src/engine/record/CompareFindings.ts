/** Compares the findings of two analyses of the same change. Pure. */
import type { Finding } from "../../domain/Problem.ts"

interface ChangedFinding {
  readonly before: Finding
  readonly after: Finding
  /** Names of the parts that differ: `severity`, `place`, `category`, `title`, `message`, `suggestion`. */
  readonly what: ReadonlyArray<string>
}

export interface FindingsDifference {
  readonly same: ReadonlyArray<Finding>
  readonly changed: ReadonlyArray<ChangedFinding>
  readonly gone: ReadonlyArray<Finding>
  readonly added: ReadonlyArray<Finding>
}

const placeOf = ({ anchor, problem }: Finding): string =>
  anchor === undefined ? problem.file : `${anchor.path}:${anchor.side}:${anchor.start ?? anchor.line}-${anchor.line}`

const parts: Readonly<Record<string, (finding: Finding) => string | undefined>> = {
  severity: ({ problem }) => problem.severity,
  place: placeOf,
  category: ({ problem }) => problem.category,
  title: ({ problem }) => problem.title,
  message: ({ problem }) => problem.message,
  suggestion: ({ problem }) => problem.suggestion
}

/** Findings match by identity, else by position and category. */
export const compareFindings = (before: ReadonlyArray<Finding>, after: ReadonlyArray<Finding>): FindingsDifference => {
  const left = [...after]
  const take = (wanted: (finding: Finding) => boolean): Finding | undefined => {
    const index = left.findIndex(wanted)
    return index < 0 ? undefined : left.splice(index, 1)[0]
  }
  const pairs = before.map((one) => ({ before: one, after: take((other) => other.fingerprint === one.fingerprint) }))
  const same: Array<Finding> = []
  const changed: Array<ChangedFinding> = []
  const gone: Array<Finding> = []
  for (const { before: one, after: found } of pairs) {
    const other =
      found ??
      take((candidate) => placeOf(candidate) === placeOf(one) && candidate.problem.category === one.problem.category)
    if (other === undefined) {
      gone.push(one)
      continue
    }
    const what = Object.entries(parts).flatMap(([name, part]) => (part(one) === part(other) ? [] : [name]))
    if (what.length === 0) same.push(one)
    else changed.push({ before: one, after: other, what })
  }
  return { same, changed, gone, added: left }
}
