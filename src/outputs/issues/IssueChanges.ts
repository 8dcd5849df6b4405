/**
 * Computes the required writes from the problems of a review and the existing issues at the host. A problem is resolved only if its code
 * is gone from its file at the head, which the review checked (engine/CheckIssueCode.ts). Pure.
 */
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import type { OperationId } from "../../domain/Keys.ts"
import type { IssueProblem, Operation } from "../../domain/Publication.ts"
import { issueCodeKey } from "../../domain/IssueCode.ts"
import type { HostIssue } from "../../forge/Forge.ts"
import type { Planned } from "../channels/Channel.ts"
import {
  isMarkedResolved,
  renderJoinedBody,
  parseManagedIssue,
  readNotes,
  renderProblemBody,
  renderResolvedBody
} from "./IssueText.ts"
import type { ManagedIssue, MarkerNames, Section } from "./IssueText.ts"
import { withNotes } from "../review/KeptNotes.ts"
import type { Labels } from "../Labels.ts"
import { followUpId } from "../channels/OperationId.ts"
import { replaceMarkers } from "../Marker.ts"
import { followSeverity, worstSeverity } from "./SeverityLabel.ts"
import { reconcile } from "../review/Reconcile.ts"
import type { CodeState } from "../review/Reconcile.ts"

type IssuesOperation = Extract<Operation, { readonly _tag: "Issues" }>
type IssueOperation = Extract<Operation, { readonly _tag: "Issue" }>

interface IssueState {
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

/** Handles an issue without remaining problems. An issue with comments of people is closed instead of deleted. */
const resolve = (plan: Plan, { issue, sections }: ManagedIssue): void => {
  const { channel, labels, limit } = plan.state
  const action = channel.resolved_action ?? "close"
  if (action === "none" || isMarkedResolved(issue)) return
  const names = toNames(plan, `resolve:${issue.number}`)
  const files = sections.flatMap((section) => section.files)
  const note = `**${labels.goneAt(plan.state.operation.head.slice(0, 12))}**`
  if (action === "delete" && issue.comments === 0) {
    // With this text it is closed where the host does not let the account delete it.
    const body = renderResolvedBody(issue.body, note, names, limit, labels.cut)
    return add(plan, names, { action: "delete", number: issue.number, body, files })
  }
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
  const { channel, limit, labels } = plan.state
  const result = reconcile(toCodeState(plan.state), recent(all, plan.state.maxRecent))
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
      body: withNotes(readNotes(existing.issue.body), body(found, names), plan.state),
      state: "open",
      ...followSeverity(channel, existing.issue, found.severity),
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
  const { channel, limit, labels, operation } = plan.state
  const own = all.filter(({ key }) => key === consolidatedKey)
  const result = reconcile(
    toCodeState(plan.state),
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
  const severity = worstSeverity(channel, listed, current?.issue)
  if (current === undefined) return add(plan, names, { action: "create", title, body, severity, files })
  const label = followSeverity(channel, current.issue, severity)
  const noted = withNotes(readNotes(current.issue.body), body, plan.state)
  add(plan, names, { action: "edit", number: current.issue.number, title, body: noted, state: "open", ...label, files })
}

/** Creates one issue for the new problems of each reviewed commit; it is resolved with the last of its problems. */
const planPerCommit = (plan: Plan, all: ReadonlyArray<ManagedIssue>): void => {
  const { channel, limit, labels, operation, maxRecent } = plan.state
  const result = reconcile(toCodeState(plan.state), recent(all, maxRecent))
  const fresh = inOrder(operation.problems, [...result.fresh, ...result.returned.map((pair) => pair.found)])
  if (fresh.length > 0) {
    const names = toNames(plan, "commit")
    const heading = `## ${labels.found(fresh.length)} · ${operation.head.slice(0, 12)}`
    const body = renderJoinedBody(`commit:${operation.head}`, heading, fresh, names, limit, labels.cut)
    const files = fresh.map(({ file }) => file)
    add(plan, names, { action: "create", title: operation.title, body, severity: worstSeverity(channel, fresh), files })
  }
  const resolved = new Set<Section>(result.resolved)
  for (const managedIssue of all) {
    const gone = managedIssue.sections.filter((section) => resolved.has(section))
    if (gone.length === 0) continue
    if (gone.length === managedIssue.sections.length) resolve(plan, managedIssue)
    else noteGone(plan, managedIssue, gone)
  }
}

/** Records the resolved problems of an issue that has others, because later reviews may no longer see why they are resolved. */
const noteGone = (plan: Plan, { issue, sections }: ManagedIssue, gone: ReadonlyArray<Section>): void => {
  const { channel } = plan.state
  const fingerprints = new Set(gone.map(({ fp }) => fp))
  const remaining = sections.filter((section) => !gone.includes(section))
  const label = followSeverity(channel, issue, worstSeverity(channel, remaining, issue))
  const body = replaceMarkers(issue.body, (marker) =>
    marker.scope === plan.state.operation.scope && marker.file !== undefined && fingerprints.has(marker.fp ?? "")
      ? { ...marker, state: "gone" }
      : undefined
  )
  const files = sections.flatMap((section) => section.files)
  add(plan, toNames(plan, `gone:${issue.number}`), { action: "edit", number: issue.number, body, ...label, files })
}

const inOrder = (
  problems: ReadonlyArray<IssueProblem>,
  selected: ReadonlyArray<IssueProblem>
): ReadonlyArray<IssueProblem> => {
  const fingerprints = new Set(selected.map(({ fp }) => fp))
  return problems.filter(({ fp }) => fingerprints.has(fp))
}

const toProblems = ({ fp, files: [file], code, severity, text }: Section) =>
  file === undefined ? [] : [{ fp, file, code, severity, text }]

const toCodeState = ({ operation }: IssueState): CodeState<IssueProblem, Section> => {
  const gone = new Set((operation.checked ?? []).filter(({ state }) => state === "gone").map(issueCodeKey))
  return {
    found: operation.problems,
    present: new Set(operation.present),
    isGone: ({ files, code }) => files.length > 0 && files.every((file) => gone.has(issueCodeKey({ file, code })))
  }
}

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

/** Names the new paths of moved files in the markers of an issue, so that the next review looks there. */
const followMoves = (managedIssue: ManagedIssue, { operation }: IssueState): ManagedIssue => {
  const moves = new Map(
    (operation.checked ?? []).flatMap((checked) =>
      checked.state === "moved" ? [[issueCodeKey(checked), checked.to] as const] : []
    )
  )
  const { issue } = managedIssue
  if (moves.size === 0 || issue.state !== "open") return managedIssue
  const body = replaceMarkers(issue.body, (marker) => {
    const to = marker.file === undefined ? undefined : moves.get(issueCodeKey({ file: marker.file, code: marker.code }))
    return to === undefined || marker.scope !== operation.scope ? undefined : { ...marker, file: to }
  })
  return parseManagedIssue({ ...issue, body }, operation.scope) ?? managedIssue
}

/**
 * Gives a problem the identity under which an issue has its code already: after a rename the fingerprint is another one, because it
 * contains the path.
 */
const withIdentities = (state: IssueState, sections: ReadonlyArray<Section>): IssueState => {
  const { operation } = state
  const known = new Set(sections.map(({ fp }) => fp))
  const present = new Set(operation.present)
  const byCode = new Map(
    sections.flatMap(({ fp, files: [file = ""], code }) =>
      code === undefined || present.has(fp) ? [] : [[issueCodeKey({ file, code }), fp] as const]
    )
  )
  const renamed = new Map(
    operation.problems.flatMap(({ fp, file, code }) => {
      const before = known.has(fp) || code === undefined ? undefined : byCode.get(issueCodeKey({ file, code }))
      return before === undefined ? [] : [[fp, before] as const]
    })
  )
  if (renamed.size === 0) return state
  const problems = operation.problems.map((problem) => ({ ...problem, fp: renamed.get(problem.fp) ?? problem.fp }))
  return { ...state, operation: { ...operation, problems, present: [...present, ...renamed.values()] } }
}

/** Returns the writes in order. The same input yields the same operation ids. */
export const planIssueChanges = (state: IssueState): ReadonlyArray<Planned> => {
  const read = [...state.open, ...state.closed].flatMap(
    (issue) => parseManagedIssue(issue, state.operation.scope) ?? []
  )
  const all = read.map((managedIssue) => followMoves(managedIssue, state))
  const sections = all.flatMap((managedIssue) => managedIssue.sections)
  const plan: Plan = { state: withIdentities(state, sections), operations: [] }
  modes[state.operation.mode](plan, all)
  const written = new Set(
    plan.operations.flatMap(({ operation }) => (operation._tag === "Issue" ? [operation.number] : []))
  )
  for (const [at, { issue, sections: own }] of all.entries()) {
    if (issue.body === read[at]?.issue.body || written.has(issue.number)) continue
    const files = own.flatMap((section) => section.files)
    add(plan, toNames(plan, `move:${issue.number}`), { action: "edit", number: issue.number, body: issue.body, files })
  }
  return plan.operations
}
