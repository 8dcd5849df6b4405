/** From reported problems to findings: anchored in the diff, identified with the help of the files they stand in. */
import { Effect } from "effect"
import type { Finding, ReportedProblem, Side } from "../domain/Problem.ts"
import { anchorIn, fileFinder } from "../review/Anchor.ts"
import type { Anchored } from "../review/Anchor.ts"
import type { FileDiff } from "../review/FileDiff.ts"
import { linesOfText } from "../review/HunkText.ts"
import { fingerprint, fingerprintIn } from "../review/Identity.ts"
import { scrubFile, scrubProblem } from "../review/Scrub.ts"
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
  const { byFile, empty } = yield* runInTurns(sorted(files, problems))
  // A few files at a time are held; one is read and searched while another is parsed.
  const found = yield* Effect.forEach([...byFile], ([file, some]) => findingsIn(checkout, file, some), {
    concurrency: 4
  })
  const findings = found.flat()
  return {
    findings,
    notices: empty === 0 ? [] : [`${empty} reported problems named no file or said nothing and are left out.`]
  }
})

/** The problems by the files that they mean, and how many mean nothing. */
function* sorted(files: ReadonlyArray<FileDiff>, problems: ReadonlyArray<ReportedProblem>) {
  const find = fileFinder(files)
  const byFile = new Map<FileDiff | undefined, Array<ReportedProblem>>()
  let empty = 0
  for (const given of problems) {
    yield
    const problem = scrubProblem(given)
    if (problem.message.trim() === "" || problem.file.trim() === "") {
      empty++
      continue
    }
    const file = find(problem.file)
    const others = byFile.get(file)
    if (others === undefined) byFile.set(file, [problem])
    else others.push(problem)
  }
  return { byFile, empty }
}

/** Findings of one file; without it, of none. */
const findingsIn = Effect.fnUntraced(function* (
  checkout: Checkout,
  file: FileDiff | undefined,
  problems: ReadonlyArray<ReportedProblem>
): Effect.fn.Return<ReadonlyArray<Finding>, CheckoutError> {
  // The model saw the files without their secrets: its quotes are looked for in the same.
  const readable = file === undefined ? undefined : yield* runInTurns(scrubFile(file))
  const findings: Array<Finding> = []
  const bySide = new Map<Side, Array<Placed>>()
  for (const problem of problems) {
    const place = readable === undefined ? undefined : yield* runInTurns(anchorIn(readable, problem))
    if (place === undefined) {
      findings.push({ fingerprint: fingerprint(problem, undefined, undefined), problem: fitted(problem, undefined) })
      continue
    }
    const others = bySide.get(place.anchor.side)
    if (others === undefined) bySide.set(place.anchor.side, [{ problem, place }])
    else others.push({ problem, place })
  }
  for (const placed of bySide.values()) findings.push(...(yield* identify(checkout, placed)))
  return findings
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
  const lines = text === undefined ? undefined : yield* runInTurns(linesOfText(text))
  const starts = found.map(({ place }) => place.anchor.start ?? place.anchor.line)
  const path = found[0]?.place.anchor.path ?? ""
  const symbols = text === undefined ? [] : yield* definitionsAt(path, text, starts)
  const findings: Array<Finding> = []
  for (const [index, { problem, place }] of found.entries()) {
    findings.push({
      fingerprint: yield* runInTurns(fingerprintIn(problem, place, lines, symbols[index])),
      problem: fitted(problem, place),
      anchor: place.anchor
    })
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
