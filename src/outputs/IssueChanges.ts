/** Computes the required writes from the problems of a review and the existing issues at the host. Pure. */
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { OperationId } from "../domain/Keys.ts"
import type { IssueProblem, Operation } from "../domain/Publication.ts"
import type { HostIssue } from "../forge/Forge.ts"
import type { Planned } from "./Channel.ts"
import {
  isMarkedResolved,
  renderJoinedBody,
  parseManagedIssue,
  renderProblemBody,
  renderResolvedBody
} from "./IssueText.ts"
import type { ManagedIssue, MarkerNames, Section } from "./IssueText.ts"
import type { Labels } from "./Labels.ts"
import { followUpId } from "./OperationId.ts"
import { reconcile } from "./Reconcile.ts"

type IssuesOperation = Extract<Operation, { readonly _tag: "Issues" }>
type IssueOperation = Extract<Operation, { readonly _tag: "Issue" }>

export interface IssueState {
  readonly operation: IssuesOperation
  /** Operation id of the publication that plans the writes. */
  readonly publicationId: OperationId
  readonly channel: ChannelConfig
  /** Issues by the own account, newest first. */
  readonly open: ReadonlyArray<HostIssue>
  readonly closed: ReadonlyArray<HostIssue>
  /** Number of most recent open issues that may be resolved (review.problem_issue.max_recent_issues). */
  readonly maxRecent: number
  readonly limit: number
  readonly labels: Labels
}

interface Plan {
  readonly state: IssueState
  readonly operations: Array<Planned>
}

const toNames = ({ state: { publicationId, operation } }: Plan, purpose: string): MarkerNames => ({
  op: followUpId(publicationId, purpose),
  scope: operation.scope
})

const add = ({ operations }: Plan, { op }: MarkerNames, operation: Omit<IssueOperation, "_tag">): void => {
  operations.push({ operationId: op, operation: { _tag: "Issue", ...operation } })
}

const worstSeverity = (problems: ReadonlyArray<IssueProblem>): IssueProblem["severity"] | undefined =>
  problems[0]?.severity

/** Handles an issue without remaining problems. An issue with comments of people is closed instead of deleted. */
const resolve = (plan: Plan, { issue, sections }: ManagedIssue): void => {
  const { channel, labels, limit } = plan.state
  const action = channel.resolved_action ?? "close"
  if (action === "none" || isMarkedResolved(issue)) return
  const names = toNames(plan, `resolve:${issue.number}`)
  const files = sections.flatMap((section) => section.files)
  if (action === "delete" && issue.comments === 0) {
    return add(plan, names, { action: "delete", number: issue.number, files })
  }
  const note = `**${labels.resolvedBy(plan.state.operation.head.slice(0, 12))}**`
  add(plan, names, {
    action: "edit",
    number: issue.number,
    title: action === "mark_resolved" ? `${labels.resolvedTitle} ${issue.title}`.slice(0, 250) : undefined,
    body: renderResolvedBody(issue.body, note, names, limit, labels.cut),
    state: action === "mark_resolved" ? undefined : "closed",
    files
  })
}

const planPerProblem = (plan: Plan, all: ReadonlyArray<ManagedIssue>): void => {
  const { limit, labels } = plan.state
  const result = reconcile(toReviewState(plan.state), recent(all, plan.state.maxRecent))
  const body = (problem: IssueProblem, names: MarkerNames) => renderProblemBody(problem, names, limit, labels.cut)
  for (const problem of result.fresh) {
    const names = toNames(plan, `create:${problem.fp}`)
    const { title, severity, file } = problem
    add(plan, names, { action: "create", title, body: body(problem, names), severity, files: [file] })
  }
  const marked = result.open.filter(({ existing }) => isMarkedResolved(existing.issue))
  for (const { found, existing } of [...result.returned, ...marked]) {
    const names = toNames(plan, `return:${existing.issue.number}`)
    const { number } = existing.issue
    add(plan, names, {
      action: "edit",
      number,
      title: found.title,
      body: body(found, names),
      state: "open",
      files: [found.file]
    })
  }
  for (const resolved of result.resolved) {
    const managedIssue = all.find(({ issue }) => issue.number === resolved.issue.number)
    if (managedIssue !== undefined) resolve(plan, managedIssue)
  }
}

const consolidatedKey = "all"

/** Maintains one issue for all problems, which are added and removed in place. */
const planConsolidated = (plan: Plan, all: ReadonlyArray<ManagedIssue>): void => {
  const { limit, labels, operation } = plan.state
  const own = all.filter(({ key }) => key === consolidatedKey)
  const result = reconcile(
    toReviewState(plan.state),
    own.flatMap(({ sections }) => sections)
  )
  const current =
    own.find(({ issue }) => issue.state === "open") ?? own.find(({ sections }) => sections[0]?.state === "resolved")
  const isInCurrent = (section: Section) => section.issue.number === current?.issue.number
  const problems = [
    ...result.fresh,
    ...result.returned.map((pair) => pair.found),
    ...result.open.map((pair) => pair.found)
  ]
  const remaining = result.kept.concat(result.outdated).filter(isInCurrent)
  const listed = [...inOrder(operation.problems, problems), ...remaining.flatMap(toProblems)]
  if (listed.length === 0) {
    if (current?.issue.state === "open" && result.resolved.length > 0) resolve(plan, current)
    return
  }
  const unchanged = result.fresh.length + result.returned.length + result.resolved.length === 0
  if (unchanged && current !== undefined && !isMarkedResolved(current.issue)) return
  const names = toNames(plan, "consolidated")
  const { title } = operation
  const body = renderJoinedBody(consolidatedKey, `## ${labels.found(listed.length)}`, listed, names, limit, labels.cut)
  const files = listed.map(({ file }) => file)
  add(
    plan,
    names,
    current === undefined
      ? { action: "create", title, body, severity: worstSeverity(problems), files }
      : { action: "edit", number: current.issue.number, title, body, state: "open", files }
  )
}

/** Creates one issue for the new problems of each reviewed commit; it is resolved with the last of its problems. */
const planPerCommit = (plan: Plan, all: ReadonlyArray<ManagedIssue>): void => {
  const { limit, labels, operation, maxRecent } = plan.state
  const result = reconcile(toReviewState(plan.state), recent(all, maxRecent))
  const fresh = inOrder(operation.problems, [...result.fresh, ...result.returned.map((pair) => pair.found)])
  if (fresh.length > 0) {
    const names = toNames(plan, "commit")
    const heading = `## ${labels.found(fresh.length)} · ${operation.head.slice(0, 12)}`
    const body = renderJoinedBody(`commit:${operation.head}`, heading, fresh, names, limit, labels.cut)
    const files = fresh.map(({ file }) => file)
    add(plan, names, { action: "create", title: operation.title, body, severity: worstSeverity(fresh), files })
  }
  const resolved = new Set<Section>(result.resolved)
  for (const managedIssue of all) {
    if (managedIssue.sections.length > 0 && managedIssue.sections.every((section) => resolved.has(section)))
      resolve(plan, managedIssue)
  }
}

const inOrder = (
  problems: ReadonlyArray<IssueProblem>,
  selected: ReadonlyArray<IssueProblem>
): ReadonlyArray<IssueProblem> => {
  const fingerprints = new Set(selected.map(({ fp }) => fp))
  return problems.filter(({ fp }) => fingerprints.has(fp))
}

const toProblems = ({ fp, files: [file], text }: Section) => (file === undefined ? [] : [{ fp, file, text }])

const toReviewState = ({ operation }: IssueState) => ({
  found: operation.problems,
  present: new Set(operation.present),
  analysed: new Set(operation.analysed),
  changed: undefined,
  complete: operation.analysed.length > 0
})

/** Returns all sections. Those of open issues beyond the newest `max` have no files, so they are never resolved. */
const recent = (all: ReadonlyArray<ManagedIssue>, max: number): ReadonlyArray<Section> => {
  const newest = new Set(all.filter(({ issue }) => issue.state === "open").slice(0, max))
  return all.flatMap((managedIssue) =>
    managedIssue.issue.state !== "open" || newest.has(managedIssue)
      ? managedIssue.sections
      : managedIssue.sections.map((section) => ({ ...section, files: [] }))
  )
}

const modes = { per_problem: planPerProblem, consolidated: planConsolidated, per_commit: planPerCommit } as const

/** Returns the writes in order. The same input yields the same operation ids. */
export const planIssueChanges = (state: IssueState): ReadonlyArray<Planned> => {
  const all = [...state.open, ...state.closed].flatMap((issue) => parseManagedIssue(issue, state.operation.scope) ?? [])
  const plan: Plan = { state, operations: [] }
  modes[state.operation.mode](plan, all)
  return plan.operations
}
