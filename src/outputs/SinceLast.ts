/**
 * What became of problems since the review before: new, still open, resolved, outdated, dismissed, in the summary. Templates put a slot
 * where `summary.since` stands, and sending fills it, because only the host knows what people dismissed. The ledger is what
 * the summary before said and our comments at lines; a first review has none and asks the host nothing.
 */
import { Effect } from "effect"
import type { Finding } from "../domain/Problem.ts"
import type { Operation, Publication, SummaryProblem, SummaryProblems } from "../domain/Publication.ts"
import type { ForgeError } from "../forge/Forge.ts"
import type { PublishInput } from "./Channel.ts"
import { cut } from "./Cut.ts"
import type { Labels } from "./Labels.ts"
import { reconcile } from "./Reconcile.ts"
import type { Reconciled, Standing } from "./Reconcile.ts"
import { gfm } from "./SafeText.ts"
import { namesAll } from "./Shown.ts"
import type { StandingThreads } from "./StandingThreads.ts"
import { tidy } from "./Tidy.ts"
import { sinceSlot } from "./View.ts"

type SummaryOperation = Extract<Operation, { readonly _tag: "Summary" }>

const longestName = 160
/** Longest list of names of one kind; their number is always said. */
const mostNames = 10
const mostPeople = 5

const problemOf = ({ fingerprint, problem, anchor }: Finding): SummaryProblem => ({
  fp: fingerprint,
  file: anchor?.path ?? problem.file,
  name: gfm.line((problem.title ?? problem.message.split("\n")[0] ?? "").slice(0, longestName))
})

/** The ledger entry of a review. */
export const problemsOf = (input: PublishInput, shown: ReadonlyArray<Finding>): SummaryProblems => {
  const { analysis } = input
  const { reviewed, skipped } = analysis.coverage
  return {
    found: shown.map(problemOf),
    present: analysis.findings.map(({ fingerprint }) => fingerprint),
    analysed: reviewed,
    changed: [...reviewed, ...skipped.map(({ path }) => path)],
    complete: namesAll(input)
  }
}

interface Known extends Standing {
  readonly name: string | undefined
  /** Who dismissed it and may not. */
  readonly ignored: ReadonlyArray<string>
}

/** What the host says of a problem counts before what the summary before said. */
const ledgerOf = (
  before: ReadonlyArray<SummaryProblem>,
  threads: ReadonlyArray<Omit<Known, "name">>
): ReadonlyArray<Known> => {
  const names = new Map(before.map(({ fp, name }) => [fp, name]))
  const atHost = new Set(threads.map(({ fp }) => fp))
  const others = before
    .filter(({ fp }) => !atHost.has(fp))
    .map(({ fp, file, name }): Known => ({ fp, files: [file], state: "open", name, ignored: [] }))
  return [...threads.map((one): Known => ({ ...one, name: names.get(one.fp) })), ...others]
}

interface Named {
  readonly by?: ReadonlyArray<string>
  readonly name: string | undefined
  readonly file: string | undefined
}

/** Pure. Each kind with its number, then the names of all but those that only still stand. */
export const sinceText = (
  { fresh, open, returned, resolved, outdated, dismissed }: Reconciled<SummaryProblem, Known>,
  since: Labels["since"]
): string => {
  const once = (gone: ReadonlyArray<Known>): ReadonlyArray<Named> =>
    [...new Map(gone.map((one) => [one.fp, one])).values()].map(({ name, files }) => ({ name, file: files[0] }))
  const kinds: ReadonlyArray<readonly [word: string, problems: ReadonlyArray<Named>]> = [
    [since.fresh, [...fresh, ...returned.map(({ found }) => found)]],
    [since.open, open.map(({ found }) => found)],
    [
      since.ignored,
      open.flatMap(({ found, standing: { ignored } }) => (ignored.length === 0 ? [] : [{ ...found, by: ignored }]))
    ],
    [since.resolved, once(resolved)],
    [since.outdated, once(outdated)],
    [since.dismissed, dismissed]
  ]
  const there = kinds.filter(([, problems]) => problems.length > 0)
  if (there.length === 0) return ""
  const nameOf = ({ name, file = "", by = [] }: Named) => {
    const people = by.slice(0, mostPeople).map(gfm.codeSpan).join(", ")
    const of = name === undefined || name === "" ? "" : `${name} · `
    return `${of}${gfm.codeSpan(file)}${people === "" ? "" : ` · ${people}`}`
  }
  const rows = there.flatMap(([word, problems]) => [
    ...problems.slice(0, mostNames).map((problem) => `- ${word}: ${nameOf(problem)}`),
    ...(problems.length > mostNames ? [`- ${word}: ${since.more(problems.length - mostNames)}`] : [])
  ])
  const numbers = there.map(([word, problems]) => `${problems.length} ${word}`).join(" · ")
  return `**${since.title}** ${numbers}\n\n${rows.join("\n")}`
}

/** The body with its slot filled, cut to the host's limit. */
export const withSince = Effect.fnUntraced(function* (
  standing: StandingThreads,
  { body, problems }: SummaryOperation,
  previous: Publication | undefined,
  { labels, limit }: { readonly labels: Labels; readonly limit: number }
): Effect.fn.Return<string, ForgeError> {
  if (!body.includes(sinceSlot)) return body
  const filled = (text: string) => cut(tidy(body.replaceAll(sinceSlot, () => text)), limit, labels.cut)
  const before = previous?.operation._tag === "Summary" ? previous.operation.problems : undefined
  if (problems === undefined || before === undefined) return filled("")
  const threads = yield* Effect.catchIf(
    standing,
    // What may not be read is no reason to keep the summary back.
    ({ reason }) => reason === "forbidden" || reason === "not_found" || reason === "invalid",
    () => Effect.succeed([])
  )
  const now = {
    ...problems,
    present: new Set(problems.present),
    analysed: new Set(problems.analysed),
    changed: new Set(problems.changed)
  }
  return filled(sinceText(reconcile(now, ledgerOf(before.found, threads)), labels.since))
})
