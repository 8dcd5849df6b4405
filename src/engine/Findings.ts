/** From reported problems to findings: anchored in the diff, identified with the help of the files they stand in. */
import { Effect } from "effect"
import type { Finding, ReportedProblem } from "../domain/Problem.ts"
import { makeAnchorer } from "../review/Anchor.ts"
import type { Anchored } from "../review/Anchor.ts"
import type { FileDiff } from "../review/FileDiff.ts"
import { fingerprint } from "../review/Identity.ts"
import type { Checkout, CheckoutError } from "../vcs/Checkout.ts"

/** Larger files are identified by the hunk's section instead of the definition around the line. */
const maxFileBytes = 4_194_304

export interface Findings {
  readonly findings: ReadonlyArray<Finding>
  readonly notices: ReadonlyArray<string>
}

export const findingsOf = Effect.fn("findingsOf")(function* (
  checkout: Checkout,
  files: ReadonlyArray<FileDiff>,
  problems: ReadonlyArray<ReportedProblem>
): Effect.fn.Return<Findings, CheckoutError> {
  const anchor = makeAnchorer(files)
  let held: { readonly key: string; readonly lines: ReadonlyArray<string> | undefined } | undefined
  const linesOf = Effect.fnUntraced(function* ({ anchor: { path, oldPath, side } }: Anchored) {
    const [name, at] = side === "new" ? ([path, "head"] as const) : ([oldPath ?? path, "from"] as const)
    const key = `${at}:${name}`
    if (held?.key !== key) held = { key, lines: (yield* checkout.file(name, at, maxFileBytes))?.split("\n") }
    return held.lines
  })
  const findings: Array<Finding> = []
  let empty = 0
  // File by file, so that one file is held at a time.
  for (const problem of problems.toSorted((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0))) {
    if (problem.message.trim() === "" || problem.file.trim() === "") {
      empty++
      continue
    }
    const place = anchor(problem)
    const lines = place === undefined ? undefined : yield* linesOf(place)
    findings.push({
      fingerprint: fingerprint(problem, place, lines),
      problem: fitted(problem, place),
      ...(place === undefined ? {} : { anchor: place.anchor })
    })
    yield* Effect.yieldNow
  }
  return {
    findings,
    notices: empty === 0 ? [] : [`${empty} reported problems named no file or said nothing and are left out.`]
  }
})

/** A suggestion is only as good as its place: it stays where it replaces exactly the lines it was written for. */
const fitted = (problem: ReportedProblem, place: Anchored | undefined): ReportedProblem => {
  const { suggestion, ...rest } = { ...problem, file: place?.anchor.path ?? problem.file }
  return suggestion !== undefined && place?.whole === true ? { ...rest, suggestion } : rest
}
