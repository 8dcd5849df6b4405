/**
 * Renders the status of problems since the previous review for the summary: new, still open, resolved, outdated, dismissed.
 * Templates render `summary.since` as a slot that is filled when the summary is sent, because only the host has the dismissals.
 * The ledger consists of the previous summary and the existing comments at lines; a first review has none and makes no request.
 */
import { Effect } from "effect"
import { namesAll } from "../../domain/Coverage.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { Operation, Publication, SummaryProblem, SummaryProblems } from "../../domain/Publication.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import type { PublishInput } from "../channels/Channel.ts"
import { cut } from "./Cut.ts"
import type { Labels } from "../Labels.ts"
import { reconcile } from "../review/Reconcile.ts"
import type { Reconciled, ExistingProblem } from "../review/Reconcile.ts"
import { gfm } from "../SafeText.ts"
import { listsAllProblems } from "../review/VisibleFindings.ts"
import type { ExistingThreads } from "../ExistingThreads.ts"
import { tidy } from "./Tidy.ts"
import { sinceSlot } from "./View.ts"

type SummaryOperation = Extract<Operation, { readonly _tag: "Summary" }>

const maxNameLength = 160
/** Maximum number of names per status; the count is always complete. */
const maxNames = 10
const maxPeople = 5

const toSummaryProblem = ({ fingerprint, problem, anchor }: Finding): SummaryProblem => ({
  fp: fingerprint,
  file: anchor?.path ?? problem.file,
  name: gfm.line((problem.title ?? problem.message.split("\n")[0] ?? "").slice(0, maxNameLength))
})

/** Returns the ledger entry of a review. */
export const toSummaryProblems = (input: PublishInput, shown: ReadonlyArray<Finding>): SummaryProblems => {
  const { analysis } = input
  const { reviewed, skipped } = analysis.coverage
  return {
    found: shown.map(toSummaryProblem),
    present: analysis.findings.map(({ fingerprint }) => fingerprint),
    analysed: reviewed,
    changed: [...reviewed, ...skipped.map(({ path }) => path)],
    complete: listsAllProblems(input) && namesAll(analysis.coverage)
  }
}

interface KnownProblem extends ExistingProblem {
  readonly name: string | undefined
  /** People without the permission who dismissed it. */
  readonly ignored: ReadonlyArray<string>
}

/** Merges the problems of the previous summary and of the threads at the host; threads take precedence. */
const mergeLedger = (
  before: ReadonlyArray<SummaryProblem>,
  threads: ReadonlyArray<Omit<KnownProblem, "name">>
): ReadonlyArray<KnownProblem> => {
  const names = new Map(before.map(({ fp, name }) => [fp, name]))
  const atHost = new Set(threads.map(({ fp }) => fp))
  const others = before
    .filter(({ fp }) => !atHost.has(fp))
    .map(({ fp, file, name }): KnownProblem => ({ fp, files: [file], state: "open", name, ignored: [] }))
  return [...threads.map((thread): KnownProblem => ({ ...thread, name: names.get(thread.fp) })), ...others]
}

interface ProblemName {
  readonly by?: ReadonlyArray<string>
  readonly name: string | undefined
  readonly file: string | undefined
}

/** Renders each status with its count, then the names. Pure. */
export const sinceText = (
  { fresh, open, returned, resolved, outdated, dismissed }: Reconciled<SummaryProblem, KnownProblem>,
  since: Labels["since"]
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
    ...problems.slice(0, maxNames).map((problem) => `- ${word}: ${renderName(problem)}`),
    ...(problems.length > maxNames ? [`- ${word}: ${since.more(problems.length - maxNames)}`] : [])
  ])
  const numbers = present.map(([word, problems]) => `${problems.length} ${word}`).join(" · ")
  return `**${since.title}** ${numbers}\n\n${rows.join("\n")}`
}

/** Returns the body with its slot filled, truncated to the host's limit. */
export const withSince = Effect.fnUntraced(function* (
  standing: ExistingThreads,
  { body, problems }: SummaryOperation,
  previous: Publication | undefined,
  { labels, limit }: { readonly labels: Labels; readonly limit: number }
): Effect.fn.Return<string, ForgeError> {
  if (!body.includes(sinceSlot)) return body
  const fill = (text: string) => cut(tidy(body.replaceAll(sinceSlot, () => text)), limit, labels.cut)
  const before = previous?.operation._tag === "Summary" ? previous.operation.problems : undefined
  if (problems === undefined || before === undefined) return fill("")
  const threads = yield* Effect.catchIf(
    standing,
    // A summary is published even if the threads cannot be read.
    ({ reason }) => reason === "forbidden" || reason === "not_found" || reason === "invalid",
    () => Effect.succeed([])
  )
  const review = {
    ...problems,
    present: new Set(problems.present),
    analysed: new Set(problems.analysed),
    changed: new Set(problems.changed)
  }
  return fill(sinceText(reconcile(review, mergeLedger(before.found, threads)), labels.since))
})
