/** Executes the commands of chat that only read records. Every result is limited to the repositories that the person may name. */
import { Effect } from "effect"
import { isRevision, mayBeRevision } from "../../src/chat/Command.ts"
import type { ChatRepository } from "../../src/chat/Repositories.ts"
import { foldRepo, hostTrigger, toRepositoryName } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import { openFindings } from "../../src/domain/Analysis.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import type { SafeText } from "../../src/outputs/SafeText.ts"
import { joinParts } from "../../src/chat/PageLinks.ts"
import type { PageLinks } from "../../src/chat/PageLinks.ts"
import { Operations } from "../../src/queue/operator/Operations.ts"
import { ChatRequests } from "../../src/store/ChatRequests.ts"
import type { ChatRequest } from "../../src/store/ChatRequests.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import type { ChatTexts } from "../../src/chat/Texts.ts"

export interface QueryContext {
  readonly texts: ChatTexts
  readonly safe: SafeText
  readonly links: PageLinks
  readonly request: ChatRequest
  /** Repositories that the person may name. */
  readonly repositories: ReadonlyArray<ChatRepository>
}

const maxItems = 10
/** Records that are read to find those of one repository. */
const maxRecords = 500

const shortId = (head: string): string => (/^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, 12) : head)

export const describeTarget = (change: Pick<Change, "repo" | "target" | "head">, safe: SafeText): string => {
  const { branch, kind, number } = change.target
  const subject = number === undefined ? (branch ?? change.head ?? kind) : `#${number}`
  return safe.codeSpan(`${change.repo.fullName} ${shortId(subject)}`)
}

const isOf = (change: Change, { repo, trigger, workspace }: ChatRepository): boolean =>
  change.workspace === workspace.id &&
  hostTrigger(change) === trigger &&
  foldRepo(change.repo.fullName) === foldRepo(toRepositoryName(repo))

export const mayRead = ({ repositories }: Pick<QueryContext, "repositories">, change: Change): boolean =>
  repositories.some((one) => isOf(change, one))

const severities = ["critical", "high", "medium", "low", "info"]

const openOf = ({ analysis }: Run): ReadonlyArray<Finding> => (analysis === undefined ? [] : openFindings(analysis))

/** Returns the findings of a run that are not dismissed, the most severe ones first. */
export const sortFindings = (run: Run): ReadonlyArray<Finding> =>
  openOf(run).toSorted(
    (one, other) => severities.indexOf(one.problem.severity) - severities.indexOf(other.problem.severity)
  )

/** One line per finding. */
export const describeFindings = (run: Run, { safe, texts }: Pick<QueryContext, "safe" | "texts">): string => {
  const findings = sortFindings(run)
  if (findings.length === 0) return texts.nothing
  const lines = findings.slice(0, maxItems).map(({ anchor, problem }) => {
    const place = safe.codeSpan(`${anchor?.path ?? problem.file}${anchor === undefined ? "" : `:${anchor.line}`}`)
    return `- **${texts.value("severity", problem.severity)}** ${place} ${safe.line((problem.title ?? problem.message).slice(0, 200))}`
  })
  const more = findings.length - lines.length
  return [...lines, ...(more > 0 ? [`… +${more}`] : [])].join("\n")
}

export const countProblems = (run: Run, texts: ChatTexts): string => {
  const findings = openOf(run)
  const counts = severities.flatMap((severity) => {
    const count = findings.filter(({ problem }) => problem.severity === severity).length
    return count === 0 ? [] : [`${texts.value("severity", severity)} ${count}`]
  })
  return counts.length === 0 ? "0" : counts.join(texts.comma)
}

/** The branch of a push and its commit, by which each of its reviews can be named. */
const describeRun = (run: Run, safe: SafeText): string => {
  const target = describeTarget(run.change, safe)
  const { number } = run.change.target
  const commit = safe.codeSpan(shortId(run.head ?? ""))
  return number !== undefined || commit === "" || target.includes(commit.slice(1, -1)) ? target : `${target} ${commit}`
}

const runLine = (run: Run, { links, safe, texts }: QueryContext): string =>
  joinParts(
    " ",
    `- ${describeRun(run, safe)} ${texts.value("run", run.status)} (${countProblems(run, texts)}) ${new Date(run.createdAt).toISOString()}`,
    links.toRun(run.id)
  )

const listed = (lines: ReadonlyArray<string>, { texts }: QueryContext): string =>
  lines.length === 0 ? texts.nothing : lines.slice(0, maxItems).join("\n")

/** Lists the newest runs of these repositories, without replies. */
const listRuns = Effect.fnUntraced(function* (
  repositories: ReadonlyArray<ChatRepository>,
  fits: (run: Run) => boolean
) {
  const runs = yield* Runs
  const workspaces = [...new Set(repositories.map(({ workspace }) => workspace.id))]
  const found: Array<Run> = []
  for (const workspace of workspaces.slice(0, 50))
    for (const run of yield* runs.list({ workspace, limit: maxRecords }))
      if (run.change.target.kind !== "comment" && fits(run) && repositories.some((one) => isOf(run.change, one)))
        found.push(run)
  return found.toSorted((one, other) => other.createdAt - one.createdAt)
})

export const listReviews = Effect.fnUntraced(function* (
  context: QueryContext,
  repositories: ReadonlyArray<ChatRepository>,
  fits: (change: Change) => boolean
) {
  const found = yield* listRuns(repositories, ({ change }) => fits(change))
  return listed(
    found.slice(0, maxItems).map((run) => runLine(run, context)),
    context
  )
})

/** Returns the newest run of a revision. */
export const findRun = (repository: ChatRepository, revision: string) =>
  Effect.map(
    listRuns([repository], ({ change, head }) => isRevision(change, revision, head)),
    ([run]) => run
  )

/** An entry of the queue, or a batch that waits for the previous one, which `Operations.cancel` takes. */
interface OpenReview {
  readonly id: string
  readonly isEntry: boolean
}

const openPage = 100

/** Lists what waits and runs of a revision, whatever started it: a pull request, a push, a schedule, a call, or a person. */
export const listOpen = Effect.fnUntraced(function* (repository: ChatRepository, revision: string) {
  const operations = yield* Operations
  const { id: workspace } = repository.workspace
  const isWanted = (change: Change) => isOf(change, repository) && isRevision(change, revision)
  const found: Array<OpenReview> = []
  let after: string | undefined
  do {
    const page = yield* operations.list({
      workspace,
      accepts: (change) => mayBeRevision(change, revision),
      statuses: ["waiting", "ready", "running"],
      after,
      limit: openPage
    })
    for (const { entry } of page.items) if (isWanted(entry.change)) found.push({ id: entry.id, isEntry: true })
    after = page.next
  } while (after !== undefined)
  for (const batch of yield* operations.heldBatches(workspace, maxRecords))
    if (isWanted(batch.change)) found.push({ id: batch.id, isEntry: false })
  return found
})

export const showDetail = Effect.fnUntraced(function* (
  context: QueryContext,
  repository: ChatRepository,
  revision: string
) {
  const run = yield* findRun(repository, revision)
  const text =
    run === undefined ? context.texts.noReview : `${runLine(run, context)}\n${describeFindings(run, context)}`
  return { text, run }
})

export const showQueue = Effect.fnUntraced(function* (context: QueryContext, running: boolean) {
  const operations = yield* Operations
  const statuses = running ? (["running"] as const) : (["waiting", "ready"] as const)
  const lines: Array<string> = []
  const workspaces = [...new Set(context.repositories.map(({ workspace }) => workspace.id))]
  for (const workspace of workspaces.slice(0, 50)) {
    if (lines.length >= maxItems) break
    const { items } = yield* operations.list({ workspace, statuses, limit: 50 })
    for (const { entry, position } of items)
      if (mayRead(context, entry.change))
        lines.push(
          joinParts(
            " ",
            `- ${describeTarget(entry.change, context.safe)}: ${context.safe.plain(context.texts.reason(position.why))}`,
            context.links.toChange(entry.change.repo.fullName, entry.change.target.number)
          )
        )
  }
  return listed(lines, context)
})

/** The id is that of a request of this conversation, or of a run of a repository that the person may name. */
export const showStatus = Effect.fnUntraced(function* (context: QueryContext, id: string) {
  const { links, request, safe, texts } = context
  const found = yield* (yield* ChatRequests).get(id)
  if (
    found !== undefined &&
    found.connection === request.connection &&
    found.conversation.id === request.conversation.id
  ) {
    const reason = found.facts.reason === undefined ? "" : `: ${safe.plain(texts.reason(found.facts.reason))}`
    const { eventId, runId } = found.facts
    return joinParts(
      " ",
      `${safe.codeSpan(`${found.command ?? ""} ${(found.facts.args ?? []).join(" ")}`.trim())} ${texts.value("request", found.status)}${reason}`,
      runId === undefined ? links.toDelivery(eventId) : links.toRun(runId)
    )
  }
  const run = yield* (yield* Runs).get(id)
  return run === undefined || !mayRead(context, run.change) ? texts.notFound : runLine(run, context)
})
