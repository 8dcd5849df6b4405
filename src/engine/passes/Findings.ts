/** Turns reported problems into findings: anchored in the diff, identified with the help of their files. */
import { Effect } from "effect"
import type { Finding, ReportedProblem } from "../../domain/Problem.ts"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import { applySuggestion } from "../../review/ApplySuggestion.ts"
import { breaksSyntax, definitionsAt } from "../syntax/Definitions.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import type { PlacedFile, PlacedGroup } from "../work/FindWork.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Larger files are identified by the hunk's section instead of the definition around the line. */
const maxFileBytes = 4_194_304

export interface Findings {
  readonly findings: ReadonlyArray<Finding>
  readonly notices: ReadonlyArray<Reason>
}

/** `isBlind`: the model saw no comments and no texts for people. */
export const buildFindings = Effect.fn("buildFindings")(function* (
  change: ChangeThread,
  checkout: Checkout,
  problems: ReadonlyArray<ReportedProblem>,
  isBlind: boolean
): Effect.fn.Return<Findings, CheckoutError | AnalysisError> {
  const { files, empty } = yield* change.run("placeProblems", problems, isBlind)
  // A few files at a time are held; one is read and searched while another is parsed.
  const found = yield* Effect.forEach(files, (file) => findingsIn(change, checkout, file), { concurrency: 4 })
  return {
    findings: yield* change.run("citeEvidence", found.flat()),
    notices: empty === 0 ? [] : [{ _tag: "ProblemsEmpty", count: empty }]
  }
})

const findingsIn = Effect.fnUntraced(function* (
  change: ChangeThread,
  checkout: Checkout,
  { findings, groups }: PlacedFile
): Effect.fn.Return<ReadonlyArray<Finding>, CheckoutError | AnalysisError> {
  const identified = yield* Effect.forEach(groups, (group) => identify(change, checkout, group))
  return [...findings, ...identified.flat()]
})

const identify = Effect.fnUntraced(function* (
  change: ChangeThread,
  checkout: Checkout,
  { id, path, at, starts }: PlacedGroup
): Effect.fn.Return<ReadonlyArray<Finding>, CheckoutError | AnalysisError> {
  const text = yield* checkout.file(path, at, maxFileBytes)
  const symbols = text === undefined ? [] : yield* definitionsAt(checkout, path, text, starts)
  const found = yield* change.run("identify", id, text, symbols)
  return text === undefined || at !== "head"
    ? found
    : yield* Effect.forEach(found, (one) => checkSuggestion(path, text, one))
})

/** Removes a suggestion that would break the syntax of its file: people apply it with one click. */
const checkSuggestion = Effect.fnUntraced(function* (path: string, text: string, finding: Finding) {
  const { anchor, problem } = finding
  if (problem.suggestion === undefined || anchor === undefined) return finding
  if (!(yield* breaksSyntax(path, text, applySuggestion(text, anchor, problem.suggestion)))) return finding
  const { suggestion: _broken, ...rest } = problem
  return { ...finding, problem: rest }
})
