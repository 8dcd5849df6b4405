/**
 * The list of findings of a change over all of its reviews: what the newest review found, and what earlier ones found. The records of the
 * previous summary (`listed`) hold the numbers, and the state where the host has no comment; comments at the host take precedence. Pure.
 */
import { openFindings } from "../../domain/Analysis.ts"
import { namesAll } from "../../domain/Coverage.ts"
import { isUnresolved } from "../../domain/FindingState.ts"
import type { FindingState } from "../../domain/FindingState.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { ListedFinding, SummaryProblem, SummaryProblems } from "../../domain/Publication.ts"
import type { PublishInput } from "../channels/Channel.ts"
import { reviewLabels } from "../Labels.ts"
import { reconcile } from "../review/Reconcile.ts"
import type { ExistingProblem, Reconciled } from "../review/Reconcile.ts"
import { listPresent, listsAllProblems } from "../review/VisibleFindings.ts"
import type { Shown } from "../review/VisibleFindings.ts"
import { gfm } from "../SafeText.ts"
import { diffUrl, lineUrl } from "./Links.ts"
import { problemView } from "./View.ts"

const maxNameLength = 160
/** Findings that a record keeps: those that no longer exist are dropped first, the oldest of them before the others. */
const maxListed = 1000

/** Returns the problems of a review for its summary. */
export const toSummaryProblems = (input: PublishInput, { detailed, findings, folded }: Shown): SummaryProblems => {
  const { analysis, change, head, workspace } = input
  const { reviewed, skipped } = analysis.coverage
  const style = { language: workspace.review.output_language, suggestions: "plain", safe: gfm } as const
  const toProblem = (finding: Finding): SummaryProblem => {
    const { fingerprint: fp, problem, anchor, round } = finding
    const missed = round?.missed
    const { code_block: code = "", message, place } = problemView(finding, style)
    const hasComment = !detailed.has(finding) && !folded.has(finding)
    const url = (hasComment ? diffUrl(change, finding) : undefined) ?? lineUrl(change, head, finding)
    return {
      fp,
      file: anchor?.path ?? problem.file,
      severity: problem.severity,
      name: gfm.line((problem.title ?? problem.message.split("\n")[0] ?? "").slice(0, maxNameLength)),
      place,
      ...(url === undefined ? {} : { url }),
      ...(detailed.has(finding) ? { detail: `${message}${code}`.trim() } : {}),
      ...(folded.has(finding) ? { folded: true } : {}),
      ...(missed === undefined ? {} : { missed })
    }
  }
  return {
    found: findings.map(toProblem),
    ...(analysis.dismissed === undefined ? {} : { dismissed: analysis.dismissed }),
    ...(analysis.skipped === undefined && openFindings(analysis).every((finding) => findings.includes(finding))
      ? { clean: reviewLabels(input).clean }
      : {}),
    present: listPresent(analysis),
    analysed: reviewed,
    changed: [...reviewed, ...skipped.map(({ path }) => path)],
    complete: listsAllProblems(input) && namesAll(analysis.coverage)
  }
}

/** A comment at the host about a problem. */
export interface HostProblem extends ExistingProblem {
  /** Link to the thread. */
  readonly url?: string | undefined
  /** People without the permission who dismissed it. */
  readonly ignored: ReadonlyArray<string>
  /** An objection withdrew it. */
  readonly isWithdrawn?: boolean | undefined
}

export interface KnownProblem extends HostProblem {
  readonly name: string | undefined
}

const hostState: Readonly<Record<FindingState, ExistingProblem["state"]>> = {
  open: "open",
  partly: "open",
  open_at_merge: "open",
  fixed: "resolved",
  moved_away: "resolved",
  dismissed: "dismissed",
  withdrawn: "dismissed"
}

/** Compares a review with the previous summary and with the comments at the host. */
export const compareReviews = ({
  before,
  isSameReview,
  review,
  threads
}: ListInput): Reconciled<SummaryProblem, KnownProblem> => {
  const dismissed = new Set(review.dismissed)
  const isPresent = new Set(review.present)
  const names = new Map(before.map(({ fp, name }) => [fp, name]))
  const atHost = new Set(threads.map(({ fp }) => fp))
  const others = before
    .filter(({ fp }) => !atHost.has(fp))
    .map(({ fp, file, name, state }): KnownProblem => {
      const isReopened = isSameReview === true && isPresent.has(fp)
      const known = dismissed.has(fp) ? "dismissed" : isReopened ? "open" : hostState[state]
      return { fp, files: [file], state: known, name, ignored: [] }
    })
  const known = [...threads.map((thread): KnownProblem => ({ ...thread, name: names.get(thread.fp) })), ...others]
  const state = {
    ...review,
    present: isPresent,
    analysed: new Set(review.analysed),
    changed: new Set(review.changed)
  }
  return reconcile(state, known)
}

export interface ListInput {
  readonly before: ReadonlyArray<ListedFinding>
  readonly review: SummaryProblems
  readonly threads: ReadonlyArray<HostProblem>
  /** True if `before` lists the same review, before people changed which of its findings count. */
  readonly isSameReview?: boolean
}

/** A finding of the list, as the newest review leaves it. */
export interface FindingRow extends Omit<ListedFinding, "isNew">, Pick<SummaryProblem, "detail" | "folded" | "missed"> {
  /** True if the review before did not have it. */
  readonly isNew: boolean
  /** True for an open finding whose file the review did not read in full. */
  readonly isUnread: boolean
  /** People without the permission who dismissed it. */
  readonly ignored: ReadonlyArray<string>
}

const withThread = <F extends Pick<ListedFinding, "url">>(finding: F, thread: HostProblem | undefined): F =>
  thread?.url === undefined ? finding : { ...finding, url: thread.url }

/** Returns the findings of the newest review, then those of earlier ones, with their numbers. `compared`: the input, if it was compared before. */
export const listFindings = (input: ListInput, compared = compareReviews(input)): ReadonlyArray<FindingRow> => {
  const { before, review, threads } = input
  const { dismissed, fresh, open, outdated, resolved, returned } = compared
  const earlier = new Map(before.map((finding) => [finding.fp, finding]))
  const byThread = new Map(threads.toReversed().map((thread) => [thread.fp, thread]))
  const isDismissed = new Set(dismissed.map(({ fp }) => fp))
  const isNew = new Set([...fresh, ...returned.map(({ found }) => found)].map(({ fp }) => fp))
  const isGone = new Set([...resolved, ...outdated].map(({ fp }) => fp))
  const ignored = new Map(open.map(({ existing, found }) => [found.fp, existing.ignored]))
  const wasDismissed = new Set(review.dismissed)
  const isWithdrawn = (fp: string): boolean =>
    (byThread.get(fp) ?? { isWithdrawn: earlier.get(fp)?.state === "withdrawn" }).isWithdrawn === true
  const closedState = (fp: string) => (isWithdrawn(fp) ? "withdrawn" : "dismissed")
  const isListedNew = (fp: string): boolean =>
    input.isSameReview === true ? earlier.get(fp)?.isNew === true : before.length > 0 && isNew.has(fp)
  let next = before.reduce((highest, { number }) => Math.max(highest, number), 0)
  const found = review.found.map((problem): FindingRow => {
    const { fp } = problem
    // What the records say about this review is newer than its comments, which may not be marked yet.
    const isOnRecord = wasDismissed.has(fp) && (input.isSameReview === true || !byThread.has(fp))
    const closed = isDismissed.has(fp) || isOnRecord
    return {
      ...withThread(problem, byThread.get(fp)),
      number: earlier.get(fp)?.number ?? ++next,
      state: closed ? closedState(fp) : "open",
      isNew: isListedNew(fp) && !closed,
      isUnread: false,
      ignored: ignored.get(fp) ?? []
    }
  })
  const isFound = new Set(review.found.map(({ fp }) => fp))
  const others = before
    .filter(({ fp }) => !isFound.has(fp))
    .map((finding): FindingRow => {
      const isClosed = wasDismissed.has(finding.fp) || byThread.get(finding.fp)?.state === "dismissed"
      const known = isClosed ? closedState(finding.fp) : finding.state
      const state = isUnresolved(finding.state) ? (isGone.has(finding.fp) ? "fixed" : known) : finding.state
      const row = withThread(finding, byThread.get(finding.fp))
      return { ...row, state, isNew: false, isUnread: isUnresolved(state), ignored: [] }
    })
  return [...found, ...others]
}

/** Returns what is recorded of a list. */
export const toListed = (rows: ReadonlyArray<FindingRow>): ReadonlyArray<ListedFinding> =>
  rows
    .toSorted((a, b) => Number(isUnresolved(b.state)) - Number(isUnresolved(a.state)) || b.number - a.number)
    .slice(0, maxListed)
    .map(({ file, fp, isNew, name, number, place, severity, state, url }) => ({
      number,
      fp,
      file,
      name,
      place,
      severity,
      state,
      ...(url === undefined ? {} : { url }),
      ...(isNew ? { isNew: true as const } : {})
    }))
