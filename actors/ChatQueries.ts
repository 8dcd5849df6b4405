/** Executes the commands of chat that only read records. Every result is limited to the repositories that the person may name. */
import { Effect } from "effect"
import { parseRevision } from "../src/chat/Command.ts"
import type { ChatRepository } from "../src/chat/Repositories.ts"
import { foldRepo, hostTrigger } from "../src/domain/Change.ts"
import type { Change } from "../src/domain/Change.ts"
import { openFindings } from "../src/domain/Analysis.ts"
import type { Finding } from "../src/domain/Problem.ts"
import type { SafeText } from "../src/outputs/SafeText.ts"
import { joinParts } from "../src/chat/PageLinks.ts"
import type { PageLinks } from "../src/chat/PageLinks.ts"
import { Operations } from "../src/queue/operator/Operations.ts"
import { ChatRequests } from "../src/store/ChatRequests.ts"
import type { ChatRequest } from "../src/store/ChatRequests.ts"
import { Runs } from "../src/store/Runs.ts"
import type { Run } from "../src/store/Runs.ts"
import type { ChatTexts } from "../src/chat/Texts.ts"
import { inEnglish } from "../src/text/en.ts"

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

export const describeTarget = (change: Pick<Change, "repo" | "target" | "head">, safe: SafeText): string => {
  const { branch, kind, number } = change.target
  const subject = number === undefined ? (branch ?? change.head ?? kind) : `#${number}`
  return safe.codeSpan(`${change.repo.fullName} ${/^[0-9a-f]{40,64}$/.test(subject) ? subject.slice(0, 12) : subject}`)
}

const isOf = (change: Change, { repo, trigger, workspace }: ChatRepository): boolean =>
  change.workspace === workspace.id &&
  hostTrigger(change) === trigger &&
  foldRepo(change.repo.fullName) === foldRepo(repo)

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
    return `- **${problem.severity}** ${place} ${safe.line((problem.title ?? problem.message).slice(0, 200))}`
  })
  const more = findings.length - lines.length
  return [...lines, ...(more > 0 ? [`… +${more}`] : [])].join("\n")
}

export const countProblems = (run: Run): string => {
  const findings = openOf(run)
  const counts = severities.flatMap((severity) => {
    const count = findings.filter(({ problem }) => problem.severity === severity).length
    return count === 0 ? [] : [`${severity} ${count}`]
  })
  return counts.length === 0 ? "0" : counts.join(", ")
}

const runLine = (run: Run, { links, safe }: QueryContext): string =>
  joinParts(
    " ",
    `- ${describeTarget(run.change, safe)} ${run.status} (${countProblems(run)}) ${new Date(run.createdAt).toISOString()}`,
    links.toRun(run.id)
  )

const listed = (lines: ReadonlyArray<string>, { texts }: QueryContext): string =>
  lines.length === 0 ? texts.nothing : lines.slice(0, maxItems).join("\n")

/** Lists the newest runs of these repositories. */
const listRuns = Effect.fnUntraced(function* (
  repositories: ReadonlyArray<ChatRepository>,
  fits: (run: Run) => boolean
) {
  const runs = yield* Runs
  const workspaces = [...new Set(repositories.map(({ workspace }) => workspace.id))]
  const found: Array<Run> = []
  for (const workspace of workspaces.slice(0, 50))
    for (const run of yield* runs.list({ workspace, limit: maxRecords }))
      if (fits(run) && repositories.some((one) => isOf(run.change, one))) found.push(run)
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

/** Returns whether a run reviewed this revision. */
const isRevision = (run: Run, revision: string): boolean => {
  const parsed = parseRevision(revision)
  if (parsed._tag === "Pull") return run.change.target.number === parsed.number
  if (parsed._tag === "Commit") return run.head === parsed.id
  return run.change.target.branch === parsed.name || run.change.headRef === parsed.name
}

export const showDetail = Effect.fnUntraced(function* (
  context: QueryContext,
  repository: ChatRepository,
  revision: string
) {
  const [run] = yield* listRuns([repository], (one) => isRevision(one, revision))
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
            `- ${describeTarget(entry.change, context.safe)}: ${context.safe.plain(inEnglish(position.why))}`,
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
      `${safe.codeSpan(`${found.command ?? ""} ${(found.facts.args ?? []).join(" ")}`.trim())} ${found.status}${reason}`,
      runId === undefined ? links.toDelivery(eventId) : links.toRun(runId)
    )
  }
  const run = yield* (yield* Runs).get(id)
  return run === undefined || !mayRead(context, run.change) ? texts.notFound : runLine(run, context)
})
