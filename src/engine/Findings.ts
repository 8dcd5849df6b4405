/** From reported problems to findings: anchored in the diff, identified with the help of the files they stand in. */
import { Effect } from "effect"
import type { Finding, ReportedProblem } from "../domain/Problem.ts"
import { fileFinder, makeAnchorer } from "../review/Anchor.ts"
import type { Anchored } from "../review/Anchor.ts"
import type { FileDiff } from "../review/FileDiff.ts"
import { scrubFiles, scrubProblem } from "../review/Scrub.ts"
import { fingerprint } from "../review/Identity.ts"
import { definitionsAt } from "./syntax/Definitions.ts"
import { runInTurns } from "./Turns.ts"
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
  // The model saw the files without their secrets: its quotes are looked for in the same.
  const finder = fileFinder(files)
  const named = new Set(problems.flatMap(({ file }) => finder(file) ?? []))
  const anchor = makeAnchorer(yield* runInTurns(scrubFiles(files, (file) => named.has(file))))
  const findings: Array<Finding> = []
  let empty = 0
  const byFile = new Map<string, Array<Placed>>()
  for (const given of problems) {
    const problem = scrubProblem(given)
    if (problem.message.trim() === "" || problem.file.trim() === "") {
      empty++
      continue
    }
    const place = anchor(problem)
    yield* Effect.yieldNow
    if (place === undefined) {
      findings.push({ fingerprint: fingerprint(problem, undefined, undefined), problem: fitted(problem, undefined) })
      continue
    }
    const { path, oldPath, side } = place.anchor
    const key = JSON.stringify(side === "new" ? [path, "head"] : [oldPath ?? path, "from"])
    byFile.set(key, [...(byFile.get(key) ?? []), { problem, place }])
  }
  // A few files at a time are held; one is read while another is parsed.
  const identified = yield* Effect.forEach([...byFile.values()], (found) => identify(checkout, found), {
    concurrency: 4
  })
  findings.push(...identified.flat())
  return {
    findings,
    notices: empty === 0 ? [] : [`${empty} reported problems named no file or said nothing and are left out.`]
  }
})

interface Placed {
  readonly problem: ReportedProblem
  readonly place: Anchored
}

/** Findings of one file at one side. */
const identify = Effect.fnUntraced(function* (
  checkout: Checkout,
  found: ReadonlyArray<Placed>
): Effect.fn.Return<ReadonlyArray<Finding>, CheckoutError> {
  const text = yield* textOf(checkout, found)
  const lines = text?.split("\n")
  const starts = found.map(({ place }) => place.anchor.start ?? place.anchor.line)
  const path = found[0]?.place.anchor.path ?? ""
  const symbols = text === undefined ? [] : yield* definitionsAt(path, text, starts)
  const findings: Array<Finding> = []
  for (const [index, { problem, place }] of found.entries()) {
    findings.push({
      fingerprint: fingerprint(problem, place, lines, symbols[index]),
      problem: fitted(problem, place),
      anchor: place.anchor
    })
    yield* Effect.yieldNow
  }
  return findings
})

const textOf = (checkout: Checkout, found: ReadonlyArray<{ readonly place: Anchored }>) => {
  const place = found[0]?.place.anchor
  if (place === undefined) return Effect.undefined
  return place.side === "new"
    ? checkout.file(place.path, "head", maxFileBytes)
    : checkout.file(place.oldPath ?? place.path, "from", maxFileBytes)
}

/** A suggestion is only as good as its place: it stays where it replaces exactly the lines it was written for. */
const fitted = (problem: ReportedProblem, place: Anchored | undefined): ReportedProblem => {
  const { suggestion, ...rest } = { ...problem, file: place?.anchor.path ?? problem.file }
  return suggestion !== undefined && place?.whole === true ? { ...rest, suggestion } : rest
}
