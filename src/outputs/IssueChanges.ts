/** From what a review found and what stands at the host to the writes that are still to be done. Pure. */
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { OperationId } from "../domain/Keys.ts"
import type { IssueProblem, Operation } from "../domain/Publication.ts"
import type { HostIssue } from "../forge/Forge.ts"
import type { Planned } from "./Channel.ts"
import { isMarkedResolved, joinedBody, managed, problemBody, resolvedBody } from "./IssueText.ts"
import type { Managed, Names, Section } from "./IssueText.ts"
import type { Labels } from "./Labels.ts"
import { followUpId } from "./OperationId.ts"
import { reconcile } from "./Reconcile.ts"

type IssuesOperation = Extract<Operation, { readonly _tag: "Issues" }>
type IssueOperation = Extract<Operation, { readonly _tag: "Issue" }>

export interface IssueWorld {
  readonly operation: IssuesOperation
  /** Operation id of the row that asks. */
  readonly asked: OperationId
  readonly channel: ChannelConfig
  /** Our own issues, newest first. */
  readonly open: ReadonlyArray<HostIssue>
  readonly closed: ReadonlyArray<HostIssue>
  /** Most recent open issues that may be resolved (review.problem_issue.max_recent_issues). */
  readonly mostRecent: number
  readonly limit: number
  readonly labels: Labels
}

interface Writer {
  readonly world: IssueWorld
  readonly operations: Array<Planned>
}

const namesOf = ({ world: { asked, operation } }: Writer, what: string): Names => ({
  op: followUpId(asked, what),
  scope: operation.scope
})

const add = ({ operations }: Writer, { op }: Names, operation: Omit<IssueOperation, "_tag">): void => {
  operations.push({ operationId: op, operation: { _tag: "Issue", ...operation } })
}

const worst = (problems: ReadonlyArray<IssueProblem>): IssueProblem["severity"] | undefined => problems[0]?.severity

/** What becomes of an issue without problems. One with comments of people is closed where it would be deleted. */
const resolve = (writer: Writer, { issue, sections }: Managed): void => {
  const { channel, labels, limit } = writer.world
  const action = channel.resolved_action ?? "close"
  if (action === "none" || isMarkedResolved(issue)) return
  const names = namesOf(writer, `resolve:${issue.number}`)
  const files = sections.flatMap((section) => section.files)
  if (action === "delete" && issue.comments === 0) {
    return add(writer, names, { action: "delete", number: issue.number, files })
  }
  const note = `**${labels.resolvedBy(writer.world.operation.head.slice(0, 12))}**`
  add(writer, names, {
    action: "edit",
    number: issue.number,
    title: action === "mark_resolved" ? `${labels.resolvedTitle} ${issue.title}`.slice(0, 250) : undefined,
    body: resolvedBody(issue.body, note, names, limit, labels.cut),
    state: action === "mark_resolved" ? undefined : "closed",
    files
  })
}

const perProblem = (writer: Writer, all: ReadonlyArray<Managed>): void => {
  const { limit, labels } = writer.world
  const result = reconcile(now(writer.world), recent(all, writer.world.mostRecent))
  const body = (problem: IssueProblem, names: Names) => problemBody(problem, names, limit, labels.cut)
  for (const problem of result.fresh) {
    const names = namesOf(writer, `create:${problem.fp}`)
    const { title, severity, file } = problem
    add(writer, names, { action: "create", title, body: body(problem, names), severity, files: [file] })
  }
  const marked = result.open.filter(({ standing }) => isMarkedResolved(standing.issue))
  for (const { found, standing } of [...result.returned, ...marked]) {
    const names = namesOf(writer, `return:${standing.issue.number}`)
    const { number } = standing.issue
    add(writer, names, {
      action: "edit",
      number,
      title: found.title,
      body: body(found, names),
      state: "open",
      files: [found.file]
    })
  }
  for (const gone of result.resolved) {
    const whole = all.find(({ issue }) => issue.number === gone.issue.number)
    if (whole !== undefined) resolve(writer, whole)
  }
}

const consolidatedKey = "all"

/** One issue for everything: it gains, keeps and loses problems in place. */
const consolidated = (writer: Writer, all: ReadonlyArray<Managed>): void => {
  const { limit, labels, operation } = writer.world
  const own = all.filter(({ key }) => key === consolidatedKey)
  const result = reconcile(
    now(writer.world),
    own.flatMap(({ sections }) => sections)
  )
  const current =
    own.find(({ issue }) => issue.state === "open") ?? own.find(({ sections }) => sections[0]?.state === "resolved")
  const here = (section: Section) => section.issue.number === current?.issue.number
  const found = [
    ...result.fresh,
    ...result.returned.map((pair) => pair.found),
    ...result.open.map((pair) => pair.found)
  ]
  const kept = result.kept.concat(result.outdated).filter(here)
  const shown = [...inOrder(operation.problems, found), ...kept.flatMap(shownAgain)]
  if (shown.length === 0) {
    if (current?.issue.state === "open" && result.resolved.length > 0) resolve(writer, current)
    return
  }
  const unchanged = result.fresh.length + result.returned.length + result.resolved.length === 0
  if (unchanged && current !== undefined && !isMarkedResolved(current.issue)) return
  const names = namesOf(writer, "consolidated")
  const { title } = operation
  const body = joinedBody(consolidatedKey, `## ${labels.found(shown.length)}`, shown, names, limit, labels.cut)
  const files = shown.map(({ file }) => file)
  add(
    writer,
    names,
    current === undefined
      ? { action: "create", title, body, severity: worst(found), files }
      : { action: "edit", number: current.issue.number, title, body, state: "open", files }
  )
}

/** One issue for the new problems of each reviewed commit; it is resolved when the last of its problems is. */
const perCommit = (writer: Writer, all: ReadonlyArray<Managed>): void => {
  const { limit, labels, operation, mostRecent } = writer.world
  const result = reconcile(now(writer.world), recent(all, mostRecent))
  const fresh = inOrder(operation.problems, [...result.fresh, ...result.returned.map((pair) => pair.found)])
  if (fresh.length > 0) {
    const names = namesOf(writer, "commit")
    const heading = `## ${labels.found(fresh.length)} · ${operation.head.slice(0, 12)}`
    const body = joinedBody(`commit:${operation.head}`, heading, fresh, names, limit, labels.cut)
    const files = fresh.map(({ file }) => file)
    add(writer, names, { action: "create", title: operation.title, body, severity: worst(fresh), files })
  }
  const gone = new Set<Section>(result.resolved)
  for (const whole of all) {
    if (whole.sections.length > 0 && whole.sections.every((section) => gone.has(section))) resolve(writer, whole)
  }
}

const inOrder = (
  problems: ReadonlyArray<IssueProblem>,
  some: ReadonlyArray<IssueProblem>
): ReadonlyArray<IssueProblem> => {
  const wanted = new Set(some.map(({ fp }) => fp))
  return problems.filter(({ fp }) => wanted.has(fp))
}

const shownAgain = ({ fp, files: [file], text }: Section) => (file === undefined ? [] : [{ fp, file, text }])

const now = ({ operation }: IssueWorld) => ({
  found: operation.problems,
  present: new Set(operation.present),
  analysed: new Set(operation.analysed),
  changed: undefined,
  complete: operation.analysed.length > 0
})

/** All sections; those of open issues beyond the newest `most` are known but have no files, so they are never resolved. */
const recent = (all: ReadonlyArray<Managed>, most: number): ReadonlyArray<Section> => {
  const newest = new Set(all.filter(({ issue }) => issue.state === "open").slice(0, most))
  return all.flatMap((one) =>
    one.issue.state !== "open" || newest.has(one)
      ? one.sections
      : one.sections.map((section) => ({ ...section, files: [] }))
  )
}

const modes = { per_problem: perProblem, consolidated, per_commit: perCommit } as const

/** The writes, in order. The same world yields the same names. */
export const issueChanges = (world: IssueWorld): ReadonlyArray<Planned> => {
  const all = [...world.open, ...world.closed].flatMap((issue) => managed(issue, world.operation.scope) ?? [])
  const writer: Writer = { world, operations: [] }
  modes[world.operation.mode](writer, all)
  return writer.operations
}
