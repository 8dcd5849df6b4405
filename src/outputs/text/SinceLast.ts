/**
 * Renders the status of problems since the previous review, for templates of the operator (`{{summary.since}}`): new, still open, resolved,
 * outdated, dismissed. Pure.
 */
import type { SummaryProblem } from "../../domain/Publication.ts"
import type { Labels } from "../Labels.ts"
import type { Reconciled } from "../review/Reconcile.ts"
import { gfm } from "../SafeText.ts"
import type { KnownProblem } from "./FindingList.ts"

/** Maximum number of names per status; the count is always complete. */
const maxNames = 10
const maxPeople = 5

interface ProblemName {
  readonly by?: ReadonlyArray<string>
  readonly name: string | undefined
  readonly file: string | undefined
}

/** Renders each status with its count, then the names. */
export const sinceText = (
  { fresh, open, returned, resolved, outdated, dismissed }: Reconciled<SummaryProblem, KnownProblem>,
  { colon, counted, since }: Labels
): string => {
  const distinct = (problems: ReadonlyArray<KnownProblem>): ReadonlyArray<ProblemName> =>
    [...new Map(problems.map((problem) => [problem.fp, problem])).values()].map(({ name, files }) => ({
      name,
      file: files[0]
    }))
  const kinds: ReadonlyArray<readonly [word: string, problems: ReadonlyArray<ProblemName>]> = [
    [since.fresh, [...fresh, ...returned.map(({ found }) => found)]],
    [since.open, open.map(({ found }) => found)],
    [
      since.ignored,
      open.flatMap(({ found, existing: { ignored } }) => (ignored.length === 0 ? [] : [{ ...found, by: ignored }]))
    ],
    [since.resolved, distinct(resolved)],
    [since.outdated, distinct(outdated)],
    [since.dismissed, dismissed]
  ]
  const present = kinds.filter(([, problems]) => problems.length > 0)
  if (present.length === 0) return ""
  const renderName = ({ name, file = "", by = [] }: ProblemName) => {
    const people = by.slice(0, maxPeople).map(gfm.codeSpan).join(", ")
    const prefix = name === undefined || name === "" ? "" : `${name} · `
    return `${prefix}${gfm.codeSpan(file)}${people === "" ? "" : ` · ${people}`}`
  }
  const rows = present.flatMap(([word, problems]) => [
    ...problems.slice(0, maxNames).map((problem) => `- ${word}${colon}${renderName(problem)}`),
    ...(problems.length > maxNames ? [`- ${word}${colon}${since.more(problems.length - maxNames)}`] : [])
  ])
  const numbers = present.map(([word, problems]) => counted(problems.length, word)).join(" · ")
  return `**${since.title}** ${numbers}\n\n${rows.join("\n")}`
}
